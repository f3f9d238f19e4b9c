-- What a workspace stores goes with it. Rows of what was added are taken together soon, and have no
-- key of their own that everybody who writes would have to look up.
ALTER TABLE stored_bytes
    ADD CONSTRAINT stored_bytes_org FOREIGN KEY (org_id) REFERENCES orgs (id) ON DELETE CASCADE;
