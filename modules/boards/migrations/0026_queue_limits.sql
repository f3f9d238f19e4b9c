-- What a column's queue is held to besides: no claims for now, and so many leases at a time.
ALTER TABLE columns
    ADD COLUMN queue_paused boolean NOT NULL DEFAULT false,
    ADD COLUMN max_in_flight integer;  -- null: any number

-- Whether a board has a column that may be full, for claims to ask about with one look.
CREATE INDEX columns_limited ON columns (org_id, board_id)
    WHERE wip_policy = 'hard' AND wip_limit IS NOT NULL AND NOT in_trash;

CREATE OR REPLACE VIEW column_view WITH (security_invoker = true) AS
SELECT
    c.org_id, c.id, c.board_id, c.name, c.color, c.kind,
    (SELECT count(*) FROM columns o
     WHERE o.org_id = c.org_id AND o.board_id = c.board_id AND NOT o.in_trash
         AND (o.position, o.id) < (c.position, c.id)) AS position,
    c.position AS order_key,
    c.wip_limit, c.wip_policy,
    (SELECT count(*) FROM cards k
     WHERE k.org_id = c.org_id AND k.column_id = c.id
         AND NOT k.is_archived AND NOT k.in_trash) AS card_count,
    c.in_trash,
    jsonb_build_object(
        'enabled', c.queue_enabled, 'lease_ttl_seconds', c.lease_ttl_seconds,
        'max_attempts', c.max_attempts, 'paused', c.queue_paused,
        'max_in_flight', c.max_in_flight, 'backoff_seconds', c.backoff_seconds,
        'backoff_max_seconds', c.backoff_max_seconds, 'order', c.queue_order,
        'on_complete_column_id', c.on_complete_column_id,
        'on_exhausted_column_id', c.on_exhausted_column_id) AS queue,
    c.created_time,
    jsonb_build_object('object', 'user', 'id', c.created_by,
        'principal_type', coalesce(p.type, 'system'), 'name', p.name) AS created_by,
    c.last_edited_time,
    jsonb_build_object('object', 'user', 'id', c.last_edited_by,
        'principal_type', coalesce(e.type, 'system'), 'name', e.name) AS last_edited_by,
    c.version
FROM columns c
LEFT JOIN principals p ON p.org_id = c.org_id AND p.id = c.created_by
LEFT JOIN principals e ON e.org_id = c.org_id AND e.id = c.last_edited_by;

-- Cards that were archived out of a column: whoever looks for work there asks how many.
CREATE INDEX cards_archived ON cards (org_id, column_id) WHERE is_archived AND NOT in_trash;
