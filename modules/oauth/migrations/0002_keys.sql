-- A grant goes with its token.
ALTER TABLE oauth_grants
    ADD CONSTRAINT oauth_grants_token FOREIGN KEY (org_id, token_id)
        REFERENCES tokens (org_id, id) ON DELETE CASCADE;
