-- Whoever is no principal of the workspace is the system: the operator, by `workboard agent disable` or
-- `workboard token revoke`. Principals stay when what they name has gone.

-- AgentResponse.
CREATE OR REPLACE VIEW agent_view WITH (security_invoker = true) AS
SELECT
    a.org_id, a.id, coalesce(p.name, '') AS name, p.avatar_url, a.description, a.role, a.status,
    a.disabled_at,
    CASE WHEN a.disabled_by IS NOT NULL THEN
        json_build_object('id', a.disabled_by,
            'principal_type', coalesce(d.type, 'system'), 'name', d.name)
    END AS disabled_by,
    a.disabled_reason, a.owner_user_id,
    json_build_object('requests_per_minute', a.requests_per_minute,
        'requests_per_day', a.requests_per_day, 'daily_writes', a.daily_writes) AS budgets,
    json_build_object(
        'requests_today', coalesce(u.requests, 0), 'writes_today', coalesce(u.writes, 0),
        'resets_at', date_trunc('day', now(), 'UTC') + interval '1 day') AS usage,
    coalesce(
        (SELECT json_agg(json_build_object('board_id', g.board_id, 'role', g.role)
             ORDER BY g.board_id)
         FROM agent_grants g WHERE g.org_id = a.org_id AND g.agent_id = a.id),
        '[]') AS board_grants,
    NOT EXISTS (SELECT FROM agents o WHERE o.org_id = a.org_id AND o.id < a.id) AS is_free,
    a.last_active_at,
    a.created_time,
    json_build_object('id', a.created_by,
        'principal_type', coalesce(c.type, 'system'), 'name', c.name) AS created_by,
    a.last_edited_time,
    json_build_object('id', a.last_edited_by,
        'principal_type', coalesce(e.type, 'system'), 'name', e.name) AS last_edited_by,
    a.version
FROM agents a
LEFT JOIN principals p ON p.org_id = a.org_id AND p.id = a.id
LEFT JOIN agent_usage u ON u.org_id = a.org_id AND u.agent_id = a.id
    AND u.day = (now() AT TIME ZONE 'UTC')::date
LEFT JOIN principals d ON d.org_id = a.org_id AND d.id = a.disabled_by
LEFT JOIN principals c ON c.org_id = a.org_id AND c.id = a.created_by
LEFT JOIN principals e ON e.org_id = a.org_id AND e.id = a.last_edited_by;

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
    NULL::text AS token
FROM tokens t
LEFT JOIN agents a ON a.org_id = t.org_id AND a.id = t.agent_id
LEFT JOIN memberships o ON o.org_id = t.org_id AND o.user_id = a.owner_user_id
LEFT JOIN memberships m ON m.org_id = t.org_id AND m.user_id = t.owner_user_id
LEFT JOIN principals c ON c.org_id = t.org_id AND c.id = t.created_by
LEFT JOIN principals e ON e.org_id = t.org_id AND e.id = t.last_edited_by;
