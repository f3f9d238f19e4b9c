-- How many cards may be leased to an agent at a time; null: any number.
ALTER TABLE agents ADD COLUMN max_leases integer;

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
        'requests_per_day', a.requests_per_day, 'daily_writes', a.daily_writes,
        'max_leases', a.max_leases) AS budgets,
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
