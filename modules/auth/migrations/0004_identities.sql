-- Who outside identity providers say people are. The pair of issuer and subject is who it is;
-- the address is what the provider said last, for people to read.
CREATE TABLE identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id uuid NOT NULL,
    email text,
    created_time timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_by_user ON identities (user_id);
ALTER TABLE identities
    ADD CONSTRAINT identities_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE;

ALTER TABLE identities ENABLE ROW LEVEL SECURITY;
ALTER TABLE identities FORCE ROW LEVEL SECURITY;
-- One's own, and the one that a provider has vouched for.
CREATE POLICY by_person ON identities
    USING (
        user_id = svc_user()
        OR issuer || ' ' || subject = svc_credential()
        OR svc_all_orgs()
    )
    WITH CHECK (user_id = svc_user() OR svc_all_orgs());
