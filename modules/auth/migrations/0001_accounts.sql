-- How people prove who they are. The people themselves are rows of `users` (modules/orgs).

CREATE TABLE passwords (
    user_id uuid PRIMARY KEY,
    hash text NOT NULL,  -- argon2id, with its parameters and salt
    changed_at timestamptz NOT NULL DEFAULT now()
);

-- An address that somebody signed up with and nobody has verified yet. The person is made when
-- the mailed link is followed, with the password and the name that were given in that very
-- sign-up: a stranger who signs up with another's address gains nothing by it.
CREATE TABLE sign_ups (
    id uuid PRIMARY KEY,  -- of the person to be
    email text NOT NULL,
    email_key text NOT NULL,
    token_digest bytea NOT NULL UNIQUE,  -- SHA-256 of the mailed token
    password_hash text NOT NULL,
    name text,
    preferences jsonb NOT NULL DEFAULT '{}',
    created_time timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX sign_ups_by_email ON sign_ups (email_key, created_time);
CREATE INDEX sign_ups_by_expiry ON sign_ups (expires_at);

CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL,
    auth_method text NOT NULL
        CHECK (auth_method IN ('password', 'google', 'email_verification', 'password_reset')),
    active_org_id uuid,
    ip_address text,
    user_agent text,
    created_time timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz
) WITH (fillfactor = 80);
CREATE INDEX sessions_by_user ON sessions (user_id, id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- How often something was tried since a window opened. The key is an HMAC of what is counted
-- (an address and the network address it was tried from, say).
CREATE TABLE attempts (
    key bytea PRIMARY KEY,
    opened_at timestamptz NOT NULL DEFAULT now(),
    count integer NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX attempts_by_opening ON attempts (opened_at);

ALTER TABLE passwords ENABLE ROW LEVEL SECURITY;
ALTER TABLE passwords FORCE ROW LEVEL SECURITY;
CREATE POLICY by_person ON passwords
    USING (
        user_id = svc_user()
        OR user_id IN (SELECT u.id FROM users u WHERE u.email_key = svc_credential())
        OR svc_all_orgs()
    )
    WITH CHECK (user_id = svc_user() OR svc_all_orgs());

ALTER TABLE sign_ups ENABLE ROW LEVEL SECURITY;
ALTER TABLE sign_ups FORCE ROW LEVEL SECURITY;
CREATE POLICY by_credential ON sign_ups
    USING (
        email_key = svc_credential()
        OR encode(token_digest, 'hex') = svc_credential()
        OR svc_all_orgs()
    )
    WITH CHECK (email_key = svc_credential() OR svc_all_orgs());

ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY by_person ON sessions
    USING (user_id = svc_user() OR id::text = svc_credential() OR svc_all_orgs())
    WITH CHECK (user_id = svc_user() OR svc_all_orgs());
-- Whoever shows a session may end it.
CREATE POLICY by_credential ON sessions FOR UPDATE
    USING (id::text = svc_credential())
    WITH CHECK (id::text = svc_credential());
