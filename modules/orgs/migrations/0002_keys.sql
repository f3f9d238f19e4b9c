ALTER TABLE memberships
    ADD CONSTRAINT memberships_org FOREIGN KEY (org_id) REFERENCES orgs (id) ON DELETE CASCADE,
    ADD CONSTRAINT memberships_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE principals
    ADD CONSTRAINT principals_org FOREIGN KEY (org_id) REFERENCES orgs (id) ON DELETE CASCADE;
