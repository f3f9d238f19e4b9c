-- Agents are confined to the boards they were granted.

-- What agents lies below boards and shows of it.
CREATE OR REPLACE VIEW agent_grants WITH (security_invoker = true) AS
SELECT g.org_id, g.principal_id AS agent_id, g.board_id, g.role
FROM board_grants g
JOIN boards b ON b.org_id = g.org_id AND b.id = g.board_id AND NOT b.in_trash;

-- BoardGrant, as it is shown.
CREATE VIEW board_grant_view WITH (security_invoker = true) AS
SELECT
    g.org_id, g.id, g.board_id, g.principal_id, g.role,
    json_build_object('object', 'user', 'id', g.principal_id,
        'principal_type', coalesce(p.type, 'user'), 'name', p.name) AS principal,
    g.created_time,
    json_build_object('object', 'user', 'id', g.created_by,
        'principal_type', coalesce(c.type, 'system'), 'name', c.name) AS created_by,
    g.last_edited_time,
    json_build_object('object', 'user', 'id', g.last_edited_by,
        'principal_type', coalesce(e.type, 'system'), 'name', e.name) AS last_edited_by
FROM board_grants g
LEFT JOIN principals p ON p.org_id = g.org_id AND p.id = g.principal_id
LEFT JOIN principals c ON c.org_id = g.org_id AND c.id = g.created_by
LEFT JOIN principals e ON e.org_id = g.org_id AND e.id = g.last_edited_by;

-- An agent that has any grant has nothing on other boards, not even on those it made.
CREATE OR REPLACE FUNCTION board_role(
    caller uuid, kind text, role text, visibility text, maker uuid, granted text, limited boolean
) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN limited AND granted IS NULL THEN NULL
    WHEN maker = caller AND role <> 'viewer' AND limited IS NOT TRUE THEN 'admin'
    WHEN granted IS NOT NULL THEN CASE
        WHEN role IN ('owner', 'admin') AND kind <> 'agent' THEN 'admin'
        WHEN role = 'viewer' AND kind <> 'person' THEN 'viewer'
        ELSE granted
    END
    WHEN role IN ('owner', 'admin') THEN 'admin'
    WHEN visibility = 'org' THEN CASE role WHEN 'member' THEN 'editor' ELSE 'viewer' END
END;
