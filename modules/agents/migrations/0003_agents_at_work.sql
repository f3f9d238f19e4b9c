-- What agents do: how much of it they have used up, and their shape as it is shown.

-- One narrow row an agent, rewritten while it works (docs/agents.md says when). `requests` and
-- `writes` are what was done; the `_taken` ones what servers have taken out of the budgets to
-- spend, which is never less when there is a budget.
CREATE TABLE agent_usage (
    org_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    day date NOT NULL,  -- UTC; what follows counts from its beginning
    requests bigint NOT NULL DEFAULT 0,
    writes bigint NOT NULL DEFAULT 0,
    requests_taken bigint NOT NULL DEFAULT 0,
    writes_taken bigint NOT NULL DEFAULT 0,
    minute timestamptz NOT NULL,
    minute_taken bigint NOT NULL DEFAULT 0,  -- since then
    PRIMARY KEY (org_id, agent_id)
) WITH (fillfactor = 50);

ALTER TABLE agent_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_usage FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON agent_usage
    USING (org_id = svc_org() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());

INSERT INTO agent_usage (org_id, agent_id, day, minute)
SELECT a.org_id, a.id, (now() AT TIME ZONE 'UTC')::date, date_trunc('minute', now())
FROM agents a;

-- The boards that agents are confined to. Here nobody knows any; the module that has boards puts
-- its own in place of this one, columns as they are.
CREATE VIEW agent_grants WITH (security_invoker = true) AS
SELECT NULL::uuid AS org_id, NULL::uuid AS agent_id, NULL::uuid AS board_id, NULL::text AS role
WHERE false;

-- AgentResponse.
CREATE VIEW agent_view WITH (security_invoker = true) AS
SELECT
    a.org_id, a.id, coalesce(p.name, '') AS name, p.avatar_url, a.description, a.role, a.status,
    a.disabled_at,
    CASE WHEN a.disabled_by IS NOT NULL THEN
        json_build_object('id', a.disabled_by,
            'principal_type', coalesce(d.type, 'user'), 'name', d.name)
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
        'principal_type', coalesce(c.type, 'user'), 'name', c.name) AS created_by,
    a.last_edited_time,
    json_build_object('id', a.last_edited_by,
        'principal_type', coalesce(e.type, 'user'), 'name', e.name) AS last_edited_by,
    a.version
FROM agents a
LEFT JOIN principals p ON p.org_id = a.org_id AND p.id = a.id
LEFT JOIN agent_usage u ON u.org_id = a.org_id AND u.agent_id = a.id
    AND u.day = (now() AT TIME ZONE 'UTC')::date
LEFT JOIN principals d ON d.org_id = a.org_id AND d.id = a.disabled_by
LEFT JOIN principals c ON c.org_id = a.org_id AND c.id = a.created_by
LEFT JOIN principals e ON e.org_id = a.org_id AND e.id = a.last_edited_by;
