-- A reset that was asked for and not done yet. Made for addresses without an account too, whose
-- token is mailed to nobody: so asking costs the same whether or not there is an account.
CREATE TABLE password_resets (
    token_digest bytea PRIMARY KEY,  -- SHA-256 of the mailed token
    email_key text NOT NULL,
    created_time timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX password_resets_by_email ON password_resets (email_key);
CREATE INDEX password_resets_by_expiry ON password_resets (expires_at);

ALTER TABLE password_resets ENABLE ROW LEVEL SECURITY;
ALTER TABLE password_resets FORCE ROW LEVEL SECURITY;
CREATE POLICY by_credential ON password_resets
    USING (
        email_key = svc_credential()
        OR encode(token_digest, 'hex') = svc_credential()
        OR svc_all_orgs()
    )
    WITH CHECK (email_key = svc_credential() OR svc_all_orgs());

-- Rises when another password takes its place, and not when the same one is hashed anew: what was
-- found out about a password holds as long as this stands.
ALTER TABLE passwords ADD COLUMN version bigint NOT NULL DEFAULT 1;

-- The profile.
ALTER TABLE users ADD COLUMN avatar_file_id uuid;
ALTER TABLE users ADD COLUMN job_title text;
ALTER TABLE users ADD COLUMN bio text;
ALTER TABLE users ADD COLUMN pronouns text;
ALTER TABLE users ADD COLUMN location text;
ALTER TABLE users ADD COLUMN links jsonb NOT NULL DEFAULT '[]';
