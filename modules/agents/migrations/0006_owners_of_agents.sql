-- The role of whoever an agent belongs to is a ceiling of its tokens, as long as they have a seat:
-- of one who has left, only the tokens that others were given go on.
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
        'principal_type', coalesce(c.type, 'user'), 'name', c.name) AS created_by,
    t.last_edited_time,
    json_build_object('id', t.last_edited_by,
        'principal_type', coalesce(e.type, 'user'), 'name', e.name) AS last_edited_by,
    t.version,
    NULL::text AS token
FROM tokens t
LEFT JOIN agents a ON a.org_id = t.org_id AND a.id = t.agent_id
LEFT JOIN memberships o ON o.org_id = t.org_id AND o.user_id = a.owner_user_id
LEFT JOIN memberships m ON m.org_id = t.org_id AND m.user_id = t.owner_user_id
LEFT JOIN principals c ON c.org_id = t.org_id AND c.id = t.created_by
LEFT JOIN principals e ON e.org_id = t.org_id AND e.id = t.last_edited_by;
