-- Software that works in a workspace under a name of its own, and the tokens that it and
-- people's integrations sign in with.

-- Its name and avatar are in `principals` (modules/orgs), under the same id.
CREATE TABLE agents (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    description text,
    role text NOT NULL CHECK (role IN ('viewer', 'member', 'admin')),
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
    disabled_at timestamptz,
    disabled_by uuid,
    disabled_reason text,
    owner_user_id uuid NOT NULL,
    requests_per_minute integer,
    requests_per_day integer,
    daily_writes integer,
    last_active_at timestamptz,
    created_time timestamptz NOT NULL DEFAULT now(),
    created_by uuid NOT NULL,
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    last_edited_by uuid NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id)
) WITH (fillfactor = 80);

CREATE TABLE tokens (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    digest bytea NOT NULL,  -- SHA-256 of the token; the token itself is nowhere
    kind text NOT NULL CHECK (kind IN ('agent', 'integration')),
    name text NOT NULL,
    role text NOT NULL CHECK (role IN ('viewer', 'member', 'admin')),
    agent_id uuid,
    owner_user_id uuid NOT NULL,
    hint text NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    created_time timestamptz NOT NULL DEFAULT now(),
    created_by uuid NOT NULL,
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    last_edited_by uuid NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id),
    CONSTRAINT tokens_digest UNIQUE (digest),
    CHECK ((kind = 'agent') = (agent_id IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX tokens_by_agent ON tokens (org_id, agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX tokens_by_owner ON tokens (org_id, owner_user_id);

ALTER TABLE agents ENABLE ROW LEVEL SECURITY;
ALTER TABLE agents FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON agents
    USING (org_id = svc_org() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON tokens
    USING (org_id = svc_org() OR encode(digest, 'hex') = svc_credential() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());

-- TokenResponse, whose secret is not here.
CREATE VIEW token_view WITH (security_invoker = true) AS
SELECT
    t.org_id, t.id, t.kind, t.name, t.role,
    lower_role(lower_role(t.role, a.role), coalesce(m.role, 'viewer')) AS effective_role,
    t.agent_id, t.owner_user_id, t.hint,
    CASE WHEN t.revoked_at IS NOT NULL THEN 'revoked'
         WHEN t.expires_at <= now() THEN 'expired'
         ELSE 'active'
    END AS status,
    t.expires_at, t.last_used_at, t.revoked_at,
    t.created_time,
    json_build_object('id', t.created_by,
        'principal_type', coalesce(c.type, 'user'), 'name', c.name) AS created_by,
    t.last_edited_time,
    json_build_object('id', t.last_edited_by,
        'principal_type', coalesce(e.type, 'user'), 'name', e.name) AS last_edited_by,
    t.version,
    NULL::text AS token
FROM tokens t
LEFT JOIN agents a ON a.org_id = t.org_id AND a.id = t.agent_id
LEFT JOIN memberships m ON m.org_id = t.org_id AND m.user_id = t.owner_user_id
LEFT JOIN principals c ON c.org_id = t.org_id AND c.id = t.created_by
LEFT JOIN principals e ON e.org_id = t.org_id AND e.id = t.last_edited_by;
