-- Deliveries that were dropped, for more waited than may be held.
ALTER TABLE webhook_endpoints ADD COLUMN dropped bigint NOT NULL DEFAULT 0;

CREATE OR REPLACE VIEW webhook_view WITH (security_invoker = true) AS
SELECT
    w.org_id, w.id, w.board_id, w.name, w.url, w.events, w.status, w.disabled_reason,
    w.secret_hint, NULL::text AS secret, w.old_secret_until, e.consecutive_failures,
    e.last_success_at, e.last_failure_at, w.created_time,
    json_build_object('id', w.created_by,
        'principal_type', coalesce(c.type, 'system'), 'name', c.name) AS created_by,
    w.last_edited_time,
    json_build_object('id', w.last_edited_by,
        'principal_type', coalesce(l.type, 'system'), 'name', l.name) AS last_edited_by,
    w.version, e.dropped AS dropped_count
FROM webhooks w
JOIN webhook_endpoints e ON e.org_id = w.org_id AND e.webhook_id = w.id
LEFT JOIN principals c ON c.org_id = w.org_id AND c.id = w.created_by
LEFT JOIN principals l ON l.org_id = w.org_id AND l.id = w.last_edited_by
WHERE w.deleted_at IS NULL;
