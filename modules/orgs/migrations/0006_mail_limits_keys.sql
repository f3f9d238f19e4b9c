ALTER TABLE member_mails
    ADD CONSTRAINT member_mails_org FOREIGN KEY (org_id) REFERENCES orgs (id) ON DELETE CASCADE;
