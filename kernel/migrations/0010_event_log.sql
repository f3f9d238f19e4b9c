-- What happened, written once: the row that a request leaves is the event and the audit entry
-- (docs/decisions/0043-an-events-body-is-written-once.md). It is never moved, changed or dropped.
CREATE TABLE event_log (
    -- Columns get their values in this order, so whoever has an id has a transaction id that is as
    -- old: the sequencer relies on it where it decides that an id it misses never comes.
    xid            xid8 NOT NULL DEFAULT pg_current_xact_id(),
    id             bigint GENERATED ALWAYS AS IDENTITY,
    org_id         uuid NOT NULL,
    entry_id       uuid NOT NULL,          -- of the event and of the audit entry
    kind           text,                   -- null: for the audit record alone
    outcome        text NOT NULL,          -- 'success' or 'denied'
    action         text NOT NULL,
    object         text,
    object_id      uuid,
    object_name    text,
    version        bigint NOT NULL,
    board_id       uuid,
    column_id      uuid,
    card_id        uuid,                   -- the card it belongs to, or is about
    parent_id      uuid,
    changes        text NOT NULL,          -- JSON as text: readers get these very bytes
    previous       text NOT NULL,
    truncated      text,                   -- a JSON list of names
    actor          text NOT NULL,          -- JSON as text: the chain is made of these very bytes
    mutation_id    uuid,
    cause          text,
    depth          integer NOT NULL,
    client_address text,
    user_agent     text,
    request_id     text,
    occurred_at    timestamptz NOT NULL DEFAULT statement_timestamp(),
    moved_from     text,                   -- JSON as text
    moved_to       text,
    subject        text,
    PRIMARY KEY (id, org_id)
);
-- From a card to what happened to it, in the order of ids, which are drawn while it is locked.
CREATE INDEX event_log_by_card ON event_log (org_id, card_id, id) WHERE card_id IS NOT NULL;

-- The numbers of each row of the log, and its link in the workspace's chain of hashes.
CREATE TABLE event_chain (
    org_id         uuid NOT NULL,
    audit_sequence bigint NOT NULL,        -- rises by one in the workspace
    log_id         bigint NOT NULL,
    sequence       bigint,                 -- of the events alone; null: no event, or one whose
    position       bigint,                 -- numbers were dropped before this table was made
    board_id       uuid,
    board_sequence bigint,
    hash           bytea NOT NULL,
    PRIMARY KEY (org_id, audit_sequence)
);
CREATE UNIQUE INDEX event_chain_by_log_id ON event_chain (log_id, org_id);
-- The way of the consumers, who read all workspaces.
CREATE UNIQUE INDEX event_chain_by_position ON event_chain (position, org_id)
    WHERE position IS NOT NULL;
CREATE UNIQUE INDEX event_chain_by_board ON event_chain (org_id, board_id, board_sequence)
    WHERE board_id IS NOT NULL;

-- Events up to here are no longer kept as events; the audit record has them still.
ALTER TABLE event_heads ADD COLUMN dropped bigint NOT NULL DEFAULT 0;

ALTER TABLE event_position
    ADD COLUMN batch bigint NOT NULL DEFAULT 0,      -- how many were sequenced
    ADD COLUMN low_water bigint NOT NULL DEFAULT 0,  -- ids up to here are sequenced, or never come
    ADD COLUMN dropped bigint NOT NULL DEFAULT 0;    -- positions that retention has been over

ALTER TABLE event_deliveries ADD COLUMN position bigint;
UPDATE event_deliveries d
SET position = e.position
FROM events e
WHERE e.org_id = d.org_id AND e.sequence = d.sequence;
DELETE FROM event_deliveries WHERE org_id IS NOT NULL AND position IS NULL;
ALTER TABLE event_deliveries ALTER COLUMN position SET NOT NULL;

-- What was sequenced so far: the audit record, in its order, and of its events the rest out of the
-- envelope. Of those that are no longer kept only the entry is left.
INSERT INTO event_log (
    id, org_id, entry_id, kind, outcome, action, object, object_id, object_name, version,
    board_id, column_id, card_id, parent_id, changes, previous, truncated, actor, mutation_id, cause,
    depth, client_address, user_agent, request_id, occurred_at, moved_from, moved_to, subject)
OVERRIDING SYSTEM VALUE
SELECT row_number() OVER (ORDER BY a.org_id, a.sequence),
    a.org_id, a.id, coalesce(e.kind, a.kind), a.outcome, a.action, a.target_type, a.target_id,
    a.target_name, coalesce((e.said #>> '{data,version}')::bigint, 0),
    e.board_id, e.column_id,
    coalesce(e.card_id, a.card_id, CASE WHEN a.target_type = 'card' THEN a.target_id END),
    (e.said #>> '{data,parent_id}')::uuid, coalesce(a.after, '{}'), coalesce(a.before, '{}'),
    (e.said #> '{data,truncated_fields}')::text, a.actor, (e.said ->> 'mutation_id')::uuid,
    CASE WHEN e.said ->> 'cause' IS NOT NULL THEN (e.said -> 'cause')::text END,
    coalesce(e.depth, 0), a.ip_address, a.user_agent, a.request_id, a.occurred_at,
    (e.said #> '{data,from}')::text, (e.said #> '{data,to}')::text, e.subject
FROM audit_events a
LEFT JOIN (
    SELECT v.org_id, v.event_id, v.kind, v.board_id, v.column_id, v.card_id, v.depth, v.subject,
        v.envelope::json AS said
    FROM events v
) e ON e.org_id = a.org_id AND e.event_id = a.id;

INSERT INTO event_chain (
    org_id, audit_sequence, log_id, sequence, position, board_id, board_sequence, hash)
SELECT a.org_id, a.sequence, row_number() OVER (ORDER BY a.org_id, a.sequence),
    e.sequence, e.position, e.board_id, e.board_sequence, a.hash
FROM audit_events a
LEFT JOIN events e ON e.org_id = a.org_id AND e.event_id = a.id;

SELECT setval(pg_get_serial_sequence('event_log', 'id'), max(log_id)) FROM event_chain
HAVING max(log_id) IS NOT NULL;
UPDATE event_position
SET low_water = coalesce((SELECT max(c.log_id) FROM event_chain c WHERE c.org_id IS NOT NULL), 0);

-- Numbers that were dropped already stay so.
UPDATE event_heads h
SET dropped = coalesce(
    (SELECT min(c.sequence) - 1 FROM event_chain c
     WHERE c.org_id = h.org_id AND c.sequence IS NOT NULL),
    h.sequence);
UPDATE event_position p
SET dropped = coalesce((SELECT min(c.position) - 1 FROM event_chain c WHERE c.org_id IS NOT NULL),
    p.position);

-- What was not sequenced yet.
INSERT INTO event_log (
    org_id, entry_id, kind, outcome, action, object, object_id, object_name, version, board_id,
    column_id, card_id, parent_id, changes, previous, truncated, actor, mutation_id, cause, depth,
    client_address, user_agent, request_id, occurred_at, moved_from, moved_to, subject)
SELECT o.org_id, o.entry_id, o.kind, o.outcome, o.action, o.object, o.object_id, o.object_name,
    o.version, o.board_id, o.column_id,
    coalesce(o.card_id, CASE WHEN o.object = 'card' THEN o.object_id END), o.parent_id, o.changes,
    o.previous, o.truncated, o.actor, o.mutation_id, o.cause, o.depth, o.client_address,
    o.user_agent, o.request_id, o.occurred_at, o.moved_from, o.moved_to, o.subject
FROM outbox o
ORDER BY o.id;

DROP TABLE outbox;
DROP TABLE events;
DROP TABLE audit_events;

-- The names of before are views now. Rows of the log are looked up by their ids, whatever is believed
-- of the tables.
CREATE VIEW events WITH (security_invoker = true) AS
SELECT c.org_id, c.sequence, c.position, c.log_id, l.entry_id AS event_id, c.board_id,
    c.board_sequence, l.kind, l.depth, l.action, l.object, l.object_id, l.version, l.column_id,
    l.card_id, l.parent_id, l.changes, l.previous, l.truncated, l.actor, l.mutation_id, l.cause,
    l.moved_from, l.moved_to, l.subject, l.occurred_at
FROM event_chain c
JOIN event_heads h ON h.org_id = c.org_id AND h.dropped < c.sequence
CROSS JOIN LATERAL (
    SELECT r.* FROM event_log r WHERE r.id = c.log_id AND r.org_id = c.org_id OFFSET 0
) l;

CREATE VIEW audit_events WITH (security_invoker = true) AS
SELECT c.org_id, c.audit_sequence AS sequence, l.entry_id AS id, l.occurred_at, l.action, l.outcome,
    l.actor, nullif(l.object, '') AS target_type, l.object_id AS target_id,
    nullif(l.object_name, '') AS target_name, nullif(l.previous, '{}') AS before,
    nullif(l.changes, '{}') AS after, nullif(l.client_address, '') AS ip_address,
    nullif(l.user_agent, '') AS user_agent, nullif(l.request_id, '') AS request_id,
    coalesce(p.hash, decode(repeat('00', 32), 'hex')) AS prev_hash, c.hash, l.kind, l.card_id
FROM event_chain c
CROSS JOIN LATERAL (
    SELECT r.* FROM event_log r WHERE r.id = c.log_id AND r.org_id = c.org_id OFFSET 0
) l
LEFT JOIN LATERAL (
    SELECT q.hash FROM event_chain q
    WHERE q.org_id = c.org_id AND q.audit_sequence = c.audit_sequence - 1
    OFFSET 0
) p ON true;

-- Both can be added to and read. An owner may take rights from himself, and no policy lets a row be
-- changed; whoever gives himself the rights back leaves the chain to tell. (Triggers would do the
-- same, but cannot stand on a distributed table.)
ALTER TABLE event_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE event_log FORCE ROW LEVEL SECURITY;
CREATE POLICY read_by_org ON event_log FOR SELECT
    USING (svc_all_orgs() OR org_id = svc_org());
CREATE POLICY add_by_org ON event_log FOR INSERT
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());
REVOKE UPDATE, DELETE, TRUNCATE ON event_log FROM CURRENT_USER;

ALTER TABLE event_chain ENABLE ROW LEVEL SECURITY;
ALTER TABLE event_chain FORCE ROW LEVEL SECURITY;
CREATE POLICY read_by_org ON event_chain FOR SELECT
    USING (svc_all_orgs() OR org_id = svc_org());
CREATE POLICY add_by_org ON event_chain FOR INSERT
    WITH CHECK (svc_all_orgs() OR org_id = svc_org());
REVOKE UPDATE, DELETE, TRUNCATE ON event_chain FROM CURRENT_USER;

-- Nothing is looked up by what is in the bodies, so nobody need count it.
ALTER TABLE event_log
    ALTER COLUMN changes SET STATISTICS 0,
    ALTER COLUMN previous SET STATISTICS 0,
    ALTER COLUMN subject SET STATISTICS 0,
    ALTER COLUMN truncated SET STATISTICS 0,
    ALTER COLUMN actor SET STATISTICS 0,
    ALTER COLUMN cause SET STATISTICS 0,
    ALTER COLUMN moved_from SET STATISTICS 0,
    ALTER COLUMN moved_to SET STATISTICS 0;
