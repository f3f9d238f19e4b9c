-- What happened: the rows that transactions leave behind, the log of events made of them, the
-- audit record, and how far their readers are. docs/events.md explains the order and the chain.

-- Read across workspaces in the order of id, by the sequencer alone; hence its key. It stays
-- nearly empty, so it is vacuumed by count.
CREATE TABLE outbox (
    id             bigint GENERATED ALWAYS AS IDENTITY,
    org_id         uuid NOT NULL,
    entry_id       uuid NOT NULL,          -- of the event and of the audit entry
    kind           text,                   -- null: for the audit record alone
    outcome        text NOT NULL CHECK (outcome IN ('success', 'denied')),
    action         text NOT NULL,
    object         text,
    object_id      uuid,
    object_name    text,
    version        bigint NOT NULL,
    board_id       uuid,
    column_id      uuid,
    card_id        uuid,
    parent_id      uuid,
    changes        text NOT NULL,          -- JSON as text: readers get these very bytes
    previous       text NOT NULL,
    truncated      text,                   -- a JSON list of names
    actor          text NOT NULL,
    mutation_id    uuid,
    cause          text,
    depth          integer NOT NULL,
    client_address text,
    user_agent     text,
    request_id     text,
    occurred_at    timestamptz NOT NULL DEFAULT statement_timestamp(),
    PRIMARY KEY (id, org_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE events (
    org_id         uuid NOT NULL,
    sequence       bigint NOT NULL,        -- rises by one in the workspace
    position       bigint NOT NULL,        -- rises by one over all workspaces
    event_id       uuid NOT NULL,
    board_id       uuid,
    board_sequence bigint,                 -- rises by one on the board
    kind           text NOT NULL,
    depth          integer NOT NULL,
    envelope       text NOT NULL,
    stored_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, sequence),
    CHECK ((board_id IS NULL) = (board_sequence IS NULL))
);
CREATE UNIQUE INDEX events_by_id ON events (org_id, event_id);
CREATE UNIQUE INDEX events_by_board ON events (org_id, board_id, board_sequence)
    WHERE board_id IS NOT NULL;
-- The way of the consumers, who read all workspaces.
CREATE INDEX events_by_position ON events (position);

CREATE TABLE audit_events (
    org_id      uuid NOT NULL,
    sequence    bigint NOT NULL,           -- rises by one in the workspace
    id          uuid NOT NULL,
    occurred_at timestamptz NOT NULL,
    action      text NOT NULL,
    outcome     text NOT NULL,
    actor       text NOT NULL,             -- JSON as text: the chain is made of these very bytes
    target_type text,
    target_id   uuid,
    target_name text,
    before      text,
    after       text,
    ip_address  text,
    user_agent  text,
    request_id  text,
    prev_hash   bytea NOT NULL,
    hash        bytea NOT NULL,
    PRIMARY KEY (org_id, sequence)
);

-- The last numbers given, and the end of the audit chain.
CREATE TABLE event_heads (
    org_id         uuid PRIMARY KEY,
    sequence       bigint NOT NULL,
    audit_sequence bigint NOT NULL,
    audit_hash     bytea NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE event_board_heads (
    org_id         uuid NOT NULL,
    board_id       uuid NOT NULL,
    board_sequence bigint NOT NULL,
    PRIMARY KEY (org_id, board_id)
) WITH (fillfactor = 50);

-- One row. A sequencer that finds another number in it than it left there gives NULL, is
-- refused, and knows that it has been replaced.
CREATE TABLE event_position (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    position bigint NOT NULL
) WITH (fillfactor = 50);
INSERT INTO event_position (position) VALUES (0);

CREATE TABLE event_consumers (
    name     text PRIMARY KEY,
    position bigint NOT NULL,
    kept_at  timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

ALTER TABLE outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE outbox FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON outbox
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE events ENABLE ROW LEVEL SECURITY;
ALTER TABLE events FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON events
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE event_heads ENABLE ROW LEVEL SECURITY;
ALTER TABLE event_heads FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON event_heads
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE event_board_heads ENABLE ROW LEVEL SECURITY;
ALTER TABLE event_board_heads FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON event_board_heads
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

-- The audit record can be added to and read. An owner may take rights from himself, and no
-- policy lets a row be changed; whoever gives himself the rights back leaves the chain to
-- tell. (Triggers would do the same, but cannot stand on a distributed table.)
ALTER TABLE audit_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_events FORCE ROW LEVEL SECURITY;
CREATE POLICY read_by_org ON audit_events FOR SELECT
    USING (org_id = svc_org() OR svc_all_orgs());
CREATE POLICY add_by_org ON audit_events FOR INSERT
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());
REVOKE UPDATE, DELETE, TRUNCATE ON audit_events FROM CURRENT_USER;

-- Events are dropped when they are old, never changed.
REVOKE UPDATE, TRUNCATE ON events FROM CURRENT_USER;
