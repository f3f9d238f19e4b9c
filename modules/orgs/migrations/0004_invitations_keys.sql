ALTER TABLE invitations
    ADD CONSTRAINT invitations_org FOREIGN KEY (org_id) REFERENCES orgs (id) ON DELETE CASCADE;
