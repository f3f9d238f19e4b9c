-- Clients that connect by OAuth, and what people granted them.

-- Registered by anybody (RFC 7591), before there is a workspace or a person. Whoever knows the id sees
-- the row; it holds no secret.
CREATE TABLE oauth_clients (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    redirect_uris text[] NOT NULL,
    created_time timestamptz NOT NULL DEFAULT now(),
    used_at timestamptz                -- when a person last granted it something
);
CREATE INDEX oauth_clients_unused ON oauth_clients (created_time) WHERE used_at IS NULL;
CREATE INDEX oauth_clients_by_use ON oauth_clients (used_at) WHERE used_at IS NOT NULL;

ALTER TABLE oauth_clients ENABLE ROW LEVEL SECURITY;
ALTER TABLE oauth_clients FORCE ROW LEVEL SECURITY;
CREATE POLICY seen ON oauth_clients FOR SELECT
    USING (id::text = svc_credential() OR svc_all_orgs());
CREATE POLICY added ON oauth_clients FOR INSERT
    WITH CHECK (id::text = svc_credential() OR svc_all_orgs());
CREATE POLICY changed ON oauth_clients FOR UPDATE
    USING (id::text = svc_credential() OR svc_all_orgs())
    WITH CHECK (id::text = svc_credential() OR svc_all_orgs());
CREATE POLICY deleted ON oauth_clients FOR DELETE
    USING (svc_all_orgs());

-- What stands behind a token of a connected client. Of codes and refresh tokens there are digests.
CREATE TABLE oauth_grants (
    org_id uuid NOT NULL,
    token_id uuid NOT NULL,
    user_id uuid NOT NULL,             -- who granted it
    made_agent_id uuid,                -- made for it
    client_id text NOT NULL,
    redirect_uri text NOT NULL,
    code_challenge text NOT NULL,
    resource text NOT NULL,
    scope text NOT NULL,
    code_digest bytea NOT NULL,
    code_expires_at timestamptz NOT NULL,
    exchanged_at timestamptz,          -- when the code was
    refresh_digest bytea,
    refresh_before bytea,              -- the one that the present one was given for
    refreshed_at timestamptz,
    PRIMARY KEY (org_id, token_id)
) WITH (fillfactor = 80);
CREATE INDEX oauth_grants_open ON oauth_grants (org_id, code_expires_at) WHERE exchanged_at IS NULL;

ALTER TABLE oauth_grants ENABLE ROW LEVEL SECURITY;
ALTER TABLE oauth_grants FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON oauth_grants
    USING (org_id = svc_org() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());
