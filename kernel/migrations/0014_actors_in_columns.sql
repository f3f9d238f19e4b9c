-- The actor stood in each row of the log as JSON, which was up to a third of the row, and a query for
-- what somebody did parsed it in each.
DROP VIEW events;
DROP VIEW audit_events;

-- The hash of an entry from before is made of these very bytes; newer ones have none.
ALTER TABLE event_log RENAME COLUMN actor TO actor_json;
ALTER TABLE event_log ALTER COLUMN actor_json DROP NOT NULL;

-- A row that names nobody is the system's.
ALTER TABLE event_log
    ADD COLUMN actor_type text NOT NULL DEFAULT 'system',
    ADD COLUMN actor_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    ADD COLUMN actor_name text,
    ADD COLUMN actor_token_id uuid,
    ADD COLUMN on_behalf_of_user_id uuid,
    ADD COLUMN via text NOT NULL DEFAULT 'system';

-- Fills them of rows from before. The table is written anew, once: no policy lets a row be changed.
-- A request's id was always a UUID.
ALTER TABLE event_log
    ALTER COLUMN actor_type TYPE text
        USING coalesce(actor_json::json ->> 'principal_type', 'system'),
    ALTER COLUMN actor_id TYPE uuid USING coalesce((actor_json::json ->> 'id')::uuid, actor_id),
    ALTER COLUMN actor_name TYPE text USING actor_json::json ->> 'name',
    ALTER COLUMN actor_token_id TYPE uuid USING (actor_json::json ->> 'token_id')::uuid,
    ALTER COLUMN on_behalf_of_user_id TYPE uuid
        USING (actor_json::json ->> 'on_behalf_of_user_id')::uuid,
    ALTER COLUMN via TYPE text USING coalesce(actor_json::json ->> 'via', 'system'),
    ALTER COLUMN request_id TYPE uuid USING nullif(request_id, '')::uuid;

CREATE VIEW events WITH (security_invoker = true) AS
SELECT c.org_id, c.sequence, c.position, c.log_id, l.entry_id AS event_id, c.board_id,
    c.board_sequence, l.kind, l.depth, l.action, l.object, l.object_id, l.version, l.column_id,
    l.card_id, l.parent_id, l.changes, l.previous, l.truncated, l.actor_type, l.actor_id,
    l.actor_name, l.actor_token_id, l.on_behalf_of_user_id, l.via, l.mutation_id, l.cause,
    l.moved_from, l.moved_to, l.subject, l.occurred_at
FROM event_chain c
JOIN event_heads h ON h.org_id = c.org_id AND h.dropped < c.sequence
CROSS JOIN LATERAL (
    SELECT r.* FROM event_log r WHERE r.id = c.log_id AND r.org_id = c.org_id OFFSET 0
) l;

CREATE VIEW audit_events WITH (security_invoker = true) AS
SELECT c.org_id, c.audit_sequence AS sequence, l.entry_id AS id, l.occurred_at, l.action, l.outcome,
    l.actor_json, l.actor_type, l.actor_id, l.actor_name, l.actor_token_id, l.on_behalf_of_user_id,
    l.via, nullif(l.object, '') AS target_type, l.object_id AS target_id,
    nullif(l.object_name, '') AS target_name, nullif(l.previous, '{}') AS before,
    nullif(l.changes, '{}') AS after, nullif(l.client_address, '') AS ip_address,
    nullif(l.user_agent, '') AS user_agent, l.request_id::text AS request_id,
    coalesce(p.hash, decode(repeat('00', 32), 'hex')) AS prev_hash, c.hash, l.kind, l.card_id,
    c.log_id
FROM event_chain c
CROSS JOIN LATERAL (
    SELECT r.* FROM event_log r WHERE r.id = c.log_id AND r.org_id = c.org_id OFFSET 0
) l
LEFT JOIN LATERAL (
    SELECT q.hash FROM event_chain q
    WHERE q.org_id = c.org_id AND q.audit_sequence = c.audit_sequence - 1
    OFFSET 0
) p ON true;

ALTER TABLE event_log
    ALTER COLUMN actor_type SET STATISTICS 10,
    ALTER COLUMN actor_id SET STATISTICS 10,
    ALTER COLUMN actor_name SET STATISTICS 0,
    ALTER COLUMN actor_token_id SET STATISTICS 0,
    ALTER COLUMN on_behalf_of_user_id SET STATISTICS 0,
    ALTER COLUMN via SET STATISTICS 10;
