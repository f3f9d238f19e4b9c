-- Whom a transaction acts for: settings that Tx::act_for makes for this transaction alone, read
-- by the policies of every table (docs/tenancy.md). Each is one plain expression, so that the
-- planner puts it in place of the call. Nothing, '' and what was never set all mean "nobody".

CREATE FUNCTION svc_org() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('app.org_id', true), '')::uuid;

CREATE FUNCTION svc_user() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('app.user_id', true), '')::uuid;

-- What a request presents before anybody knows whose it is: the digest of a token in hex, the id
-- of a session, an address.
CREATE FUNCTION svc_credential() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('app.credential', true), '');

-- The kernel's own jobs.
CREATE FUNCTION svc_all_orgs() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
    RETURN coalesce(current_setting('app.all_orgs', true), '') = 'on';

-- Answers to requests that carried an Idempotency-Key, kept for a day and given again to the
-- same request. Written in the transaction of the request itself.
CREATE TABLE idempotency_keys (
    org_id       uuid NOT NULL,   -- the workspace of the request; the nil UUID when it had none
    principal_id uuid NOT NULL,   -- the user, agent or automation that sent it
    request      bytea NOT NULL CHECK (length(request) = 32),  -- SHA-256 of sender, path and key
    body         bytea NOT NULL CHECK (length(body) = 32),     -- SHA-256 of the body
    status       integer NOT NULL,
    answer       bytea NOT NULL,  -- encrypted by the kernel: some answers hold a secret, once
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, principal_id, request)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (org_id, created_at);

ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON idempotency_keys
    USING (org_id = svc_org() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());
CREATE POLICY by_person ON idempotency_keys
    USING (org_id = '00000000-0000-0000-0000-000000000000' AND principal_id = svc_user())
    WITH CHECK (org_id = '00000000-0000-0000-0000-000000000000' AND principal_id = svc_user());
