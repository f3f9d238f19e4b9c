-- Columns as durable work queues: who has which card, until when, and how earlier tries ended.

-- One row for every card that stands, or ever stood, in a queue column. Narrow and apart from
-- `cards`, so that claiming, renewing and failing take no lock on a card, touch none of its
-- indexes and do not raise its version. It stays when the card leaves (then idle), because
-- `epoch` never falls.
--
-- A lease is what this row says, not what the clock says: it is held until somebody (its holder,
-- the sweeper, a person who moves the card) takes it from the row.
CREATE TABLE queue (
    org_id uuid NOT NULL,
    card_id uuid NOT NULL,
    board_id uuid NOT NULL,
    column_id uuid NOT NULL,
    state text NOT NULL
        CHECK (state IN ('idle', 'ready', 'leased', 'backoff', 'exhausted', 'held')),
    -- Agents get what people see on top: all ascending, so that a row comparison can seek.
    urgency smallint NOT NULL,
    place text COLLATE "C" NOT NULL,
    attempt integer NOT NULL DEFAULT 0,
    epoch bigint NOT NULL DEFAULT 0,   -- the fence: rises with every claim of the card
    available_at timestamptz,          -- in backoff: when it is ready again
    last_error text,
    lease_id uuid,
    lease_digest bytea,                -- SHA-256 of the lease token; the token itself is nowhere
    holder jsonb,                      -- a PrincipalRef
    lease_ttl_seconds integer,
    claimed_at timestamptz,
    renewed_at timestamptz,
    expires_at timestamptz,            -- not indexed: renewing stays a heap-only update
    PRIMARY KEY (org_id, card_id),
    CHECK ((state = 'leased') = (lease_id IS NOT NULL)),
    CHECK ((state = 'backoff') = (available_at IS NOT NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX queue_ready ON queue (org_id, column_id, urgency, place, card_id)
    WHERE state = 'ready';
CREATE INDEX queue_leased ON queue (org_id, lease_id) WHERE lease_id IS NOT NULL;
CREATE INDEX queue_backoff ON queue (org_id, available_at) WHERE state = 'backoff';

-- How every lease ended. Only added to. `answer` is what the call that ended it got, for the
-- caller who never saw it arrive and asks again.
CREATE TABLE lease_outcomes (
    org_id uuid NOT NULL,
    lease_id uuid NOT NULL,
    card_id uuid NOT NULL,
    digest bytea NOT NULL,
    state text NOT NULL CHECK (state IN ('completed', 'failed', 'expired', 'released', 'revoked')),
    lease json NOT NULL,  -- a Lease, as shown
    card json,            -- a Card, as shown to the holder; null when nobody asked
    ended_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, lease_id)
);
CREATE INDEX lease_outcomes_by_card ON lease_outcomes (org_id, card_id, ended_at);

-- What boards shows of a card's work.
CREATE OR REPLACE VIEW card_work WITH (security_invoker = true) AS
SELECT
    q.org_id, q.card_id,
    jsonb_build_object('state', q.state, 'attempts', q.attempt,
        'available_at', q.available_at, 'last_error', q.last_error) AS queue,
    CASE WHEN q.lease_id IS NOT NULL THEN
        jsonb_build_object('id', q.lease_id, 'holder', q.holder, 'attempt', q.attempt,
            'expires_at', q.expires_at)
    END AS lease
FROM queue q;

ALTER TABLE queue ENABLE ROW LEVEL SECURITY;
ALTER TABLE queue FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON queue
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE lease_outcomes ENABLE ROW LEVEL SECURITY;
ALTER TABLE lease_outcomes FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON lease_outcomes
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
