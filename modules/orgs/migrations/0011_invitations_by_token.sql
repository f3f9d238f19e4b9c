-- Whoever shows the token of the newest mail sees that invitation before signing in.
CREATE INDEX invitations_by_token ON invitations (token_digest);
CREATE POLICY by_token ON invitations FOR SELECT
    USING (encode(token_digest, 'hex') = svc_credential());
