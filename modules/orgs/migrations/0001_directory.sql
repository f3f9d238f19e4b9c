-- The directory: people, workspaces, who belongs where, and under which name somebody is known
-- in a workspace. Small beside what workspaces hold, and read by every request.
--
-- Row-level security admits the workspace and the person of the transaction (Tx::act_for), and
-- of people also the one whose address was presented. The policies of what every request reads
-- are kept short: setting up a policy's expressions costs more than looking up the row.

-- A person. Made when an address is verified, or when an admin adds an address to a workspace
-- directly (then email_verified is false until its owner has followed the mailed link).
CREATE TABLE users (
    id uuid PRIMARY KEY,
    email text NOT NULL,             -- as typed
    email_key text NOT NULL UNIQUE,  -- what addresses are compared by
    email_verified boolean NOT NULL,
    name text,
    avatar_url text,
    preferences jsonb NOT NULL DEFAULT '{}',  -- what differs from the defaults
    created_time timestamptz NOT NULL DEFAULT now(),
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    version bigint NOT NULL DEFAULT 1
);

CREATE TABLE orgs (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    slug text NOT NULL,
    icon jsonb,
    plan text NOT NULL DEFAULT 'free' CHECK (plan IN ('free', 'team', 'business')),
    billing_state text NOT NULL DEFAULT 'active'
        CHECK (billing_state IN ('active', 'trialing', 'past_due', 'canceled')),
    created_time timestamptz NOT NULL DEFAULT now(),
    created_by uuid NOT NULL,
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    last_edited_by uuid NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    -- Rises with everything that may change whom a token of the workspace stands for or what its
    -- bearer may do: roles, seats, names, agents, tokens. What was worked out at one value holds
    -- as long as the value stands, which is a quicker question than working it out again.
    standing bigint NOT NULL DEFAULT 1,
    CONSTRAINT orgs_slug_taken UNIQUE (slug)
) WITH (fillfactor = 80);

-- A seat. Its owner's role is the ceiling of every token of theirs.
CREATE TABLE memberships (
    org_id uuid NOT NULL,
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    role text NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
    invited_by uuid,
    joined_at timestamptz NOT NULL DEFAULT now(),
    last_active_at timestamptz,
    created_time timestamptz NOT NULL DEFAULT now(),
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    version bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, user_id)
);
CREATE INDEX memberships_by_user ON memberships (user_id, org_id);

-- Whoever has ever acted in a workspace, under the name people see there. Rows outlive the
-- membership, the agent or the automation, so that what it did keeps its name. Join it for every
-- PrincipalRef:
--     LEFT JOIN principals p ON p.org_id = x.org_id AND p.id = x.created_by
-- Written in the same statement as what it names: people by orgs, agents by agents, automations
-- by automations.
CREATE TABLE principals (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL CHECK (type IN ('user', 'agent', 'automation')),
    name text,
    avatar_url text,
    created_time timestamptz NOT NULL DEFAULT now(),
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    version bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id)
);

ALTER TABLE memberships ENABLE ROW LEVEL SECURITY;
ALTER TABLE memberships FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON memberships
    USING (org_id = svc_org() OR user_id = svc_user() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE orgs ENABLE ROW LEVEL SECURITY;
ALTER TABLE orgs FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON orgs
    USING (id = svc_org() OR svc_all_orgs())
    WITH CHECK (id = svc_org() OR svc_all_orgs());

ALTER TABLE principals ENABLE ROW LEVEL SECURITY;
ALTER TABLE principals FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON principals
    USING (org_id = svc_org() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE users FORCE ROW LEVEL SECURITY;
CREATE POLICY by_person ON users
    USING (
        id = svc_user()
        OR email_key = svc_credential()
        OR id IN (SELECT m.user_id FROM memberships m WHERE m.org_id = svc_org())
        OR svc_all_orgs()
    )
    WITH CHECK (id = svc_user() OR email_key = svc_credential() OR svc_all_orgs());

-- The one that allows less; a null does not count.
CREATE FUNCTION lower_role(a text, b text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN 'viewer' IN (a, b) THEN 'viewer'
        WHEN 'member' IN (a, b) THEN 'member'
        WHEN 'admin' IN (a, b) THEN 'admin'
        WHEN 'owner' IN (a, b) THEN 'owner'
    END;

-- OrganizationResponse, save what depends on who asks and on the settings.
CREATE VIEW org_view WITH (security_invoker = true) AS
SELECT
    o.id, o.name, o.slug, o.icon, o.plan, o.billing_state,
    (SELECT count(*) FROM memberships m WHERE m.org_id = o.id) AS seat_count,
    o.created_time,
    json_build_object('id', o.created_by,
        'principal_type', coalesce(c.type, 'user'), 'name', c.name) AS created_by,
    o.last_edited_time,
    json_build_object('id', o.last_edited_by,
        'principal_type', coalesce(e.type, 'user'), 'name', e.name) AS last_edited_by,
    o.version
FROM orgs o
LEFT JOIN principals c ON c.org_id = o.id AND c.id = o.created_by
LEFT JOIN principals e ON e.org_id = o.id AND e.id = o.last_edited_by;

-- MembershipResponse.
CREATE VIEW membership_view WITH (security_invoker = true) AS
SELECT
    m.id, m.org_id, o.name AS org_name, m.user_id,
    json_build_object('id', u.id, 'name', u.name, 'avatar_url', u.avatar_url,
        'email', u.email, 'email_verified', u.email_verified) AS "user",
    m.role,
    CASE WHEN u.email_verified THEN 'active' ELSE 'invited' END AS status,
    CASE WHEN m.invited_by IS NOT NULL THEN
        json_build_object('id', m.invited_by,
            'principal_type', coalesce(i.type, 'user'), 'name', i.name)
    END AS invited_by,
    m.joined_at, m.last_active_at, m.created_time, m.last_edited_time, m.version
FROM memberships m
JOIN orgs o ON o.id = m.org_id
JOIN users u ON u.id = m.user_id
LEFT JOIN principals i ON i.org_id = m.org_id AND i.id = m.invited_by;
