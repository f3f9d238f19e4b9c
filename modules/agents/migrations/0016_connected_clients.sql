-- Tokens of clients that a person connected. Their secret is renewed every so often: until when the
-- present one signs in, which doors it is good for (null: all), and who the client says it is.
ALTER TABLE tokens
    ADD COLUMN access_until timestamptz,
    ADD COLUMN audience text,
    ADD COLUMN client_name text,
    ADD COLUMN client_host text;

-- TokenResponse, whose secret is not here.
CREATE OR REPLACE VIEW token_view WITH (security_invoker = true) AS
SELECT
    t.org_id, t.id, t.kind, t.name, t.role,
    lower_role(
        lower_role(t.role, a.role), lower_role(o.role, coalesce(m.role, 'viewer'))
    ) AS effective_role,
    t.agent_id, t.owner_user_id, t.hint,
    CASE WHEN t.revoked_at IS NOT NULL THEN 'revoked'
         WHEN t.expires_at <= now() THEN 'expired'
         ELSE 'active'
    END AS status,
    t.expires_at, t.last_used_at, t.revoked_at,
    t.created_time,
    json_build_object('id', t.created_by,
        'principal_type', coalesce(c.type, 'system'), 'name', c.name) AS created_by,
    t.last_edited_time,
    json_build_object('id', t.last_edited_by,
        'principal_type', coalesce(e.type, 'system'), 'name', e.name) AS last_edited_by,
    t.version,
    NULL::text AS token,
    t.scope,
    CASE WHEN t.client_name IS NOT NULL THEN
        json_build_object('name', t.client_name, 'host', t.client_host)
    END AS client
FROM tokens t
LEFT JOIN agents a ON a.org_id = t.org_id AND a.id = t.agent_id
LEFT JOIN memberships o ON o.org_id = t.org_id AND o.user_id = a.owner_user_id
LEFT JOIN memberships m ON m.org_id = t.org_id AND m.user_id = t.owner_user_id
LEFT JOIN principals c ON c.org_id = t.org_id AND c.id = t.created_by
LEFT JOIN principals e ON e.org_id = t.org_id AND e.id = t.last_edited_by;

-- What is presented is a digest in hex, and behind an @ the doors that the request came in by.
CREATE OR REPLACE FUNCTION token_caller(presented text)
RETURNS TABLE (
    org_id uuid, token_id uuid, agent_id uuid, owner_id uuid, token_role text, agent_role text,
    requests_per_minute integer, requests_per_day integer, daily_writes integer,
    owner_role text, agent_owner_role text, expires_at timestamptz, past_due boolean,
    security_epoch bigint, name text, confined boolean, scope jsonb)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    wanted constant text := split_part(presented, '@', 1);
    token record;
BEGIN
    PERFORM set_config('app.credential', wanted, true);
    SELECT t.org_id, t.id, t.owner_user_id
    INTO token
    FROM tokens t
    WHERE t.digest = decode(wanted, 'hex');
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('app.org_id', token.org_id::text, true),
        set_config('app.user_id', token.owner_user_id::text, true);
    RETURN QUERY
    SELECT o.id, t.id, t.agent_id, t.owner_user_id, t.role, a.role,
        a.requests_per_minute, a.requests_per_day, a.daily_writes,
        m.role, b.role, least(t.expires_at, t.access_until), o.billing_state = 'past_due',
        o.security_epoch, p.name,
        EXISTS (
            SELECT FROM confined_agents c
            WHERE c.org_id = token.org_id AND c.agent_id = t.agent_id),
        t.scope
    FROM orgs o
    JOIN tokens t ON t.org_id = token.org_id AND t.id = token.id
    JOIN users u ON u.id = token.owner_user_id AND u.disabled_at IS NULL
    JOIN memberships m ON m.org_id = o.id AND m.user_id = token.owner_user_id
    LEFT JOIN agents a ON a.org_id = o.id AND a.id = t.agent_id
    LEFT JOIN memberships b ON b.org_id = o.id AND b.user_id = a.owner_user_id
    LEFT JOIN principals p ON p.org_id = o.id AND p.id = coalesce(t.agent_id, t.owner_user_id)
    WHERE o.id = token.org_id AND t.owner_user_id = token.owner_user_id
        AND t.digest = decode(wanted, 'hex')
        AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
        AND (t.access_until IS NULL OR t.access_until > now())
        AND (t.audience IS NULL OR t.audience = split_part(presented, '@', 2))
        AND (t.agent_id IS NULL OR a.status = 'active');
END $$;
