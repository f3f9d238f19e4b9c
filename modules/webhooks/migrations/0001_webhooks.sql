-- Subscriptions of other programs to what happens in a workspace, and the deliveries to them.

CREATE TABLE webhooks (
    org_id           uuid NOT NULL,
    id               uuid NOT NULL,
    board_id         uuid,                 -- only what happens on this board; null: everything
    name             text,
    url              text NOT NULL,
    events           json NOT NULL,        -- a list of filters: 'card.moved', 'card.*', '*'
    status           text NOT NULL DEFAULT 'active'
        CHECK (status IN ('active', 'paused', 'disabled')),
    disabled_reason  text,
    -- Encrypted under a key of the server's, the webhook's id beside it.
    secret           bytea NOT NULL,
    secret_hint      text NOT NULL,
    old_secret       bytea,                -- signs beside the new one
    old_secret_until timestamptz,          -- until then
    created_time     timestamptz NOT NULL DEFAULT now(),
    created_by       uuid NOT NULL,
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    last_edited_by   uuid NOT NULL,
    version          bigint NOT NULL DEFAULT 1,
    since            bigint,               -- the position of the event that tells of its creation
    deleted_at       timestamptz,          -- its deliveries are removed bit by bit, then the row
    PRIMARY KEY (org_id, id)
);

-- How it stands with sending to a webhook's endpoint. Apart from `webhooks`, for it changes with
-- what is sent. One server at a time sends to an endpoint: the one whose lease it is.
CREATE TABLE webhook_endpoints (
    org_id               uuid NOT NULL,
    webhook_id           uuid NOT NULL,
    due_at               timestamptz,      -- there is something to send; leased: the lease's end
    lease                uuid,
    consecutive_failures integer NOT NULL DEFAULT 0,
    failing_since        timestamptz,
    last_success_at      timestamptz,
    last_failure_at      timestamptz,
    probe_at             timestamptz,      -- nothing is sent before, for it failed so often
    alerts               integer NOT NULL DEFAULT 0,  -- mails that told of this failing
    PRIMARY KEY (org_id, webhook_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);
-- Read in one order over all workspaces by whoever sends.
CREATE INDEX webhook_endpoints_due ON webhook_endpoints (due_at, org_id) WHERE due_at IS NOT NULL;

-- One event for one webhook. What is sent is made of the event, which is kept elsewhere.
CREATE TABLE webhook_deliveries (
    org_id           uuid NOT NULL,
    webhook_id       uuid NOT NULL,
    id               uuid NOT NULL,        -- a UUIDv7: by time
    event_id         uuid NOT NULL,
    position         bigint NOT NULL,      -- of the event
    kind             text NOT NULL,        -- of the event
    status           text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'succeeded', 'failed', 'abandoned')),
    attempt_count    integer NOT NULL DEFAULT 0,
    retries          integer NOT NULL DEFAULT 0,  -- since it was last asked for
    next_attempt_at  timestamptz DEFAULT now(),   -- null: nothing is sent any more
    attempts         json NOT NULL DEFAULT '[]',  -- the latest
    response_excerpt text,
    created_time     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, webhook_id, id),
    CHECK ((status IN ('pending', 'failed')) = (next_attempt_at IS NOT NULL))
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05,
        autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (org_id, webhook_id, next_attempt_at, id)
    WHERE next_attempt_at IS NOT NULL;
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (org_id, webhook_id, id)
    WHERE status IN ('failed', 'abandoned');

ALTER TABLE webhooks ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhooks FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON webhooks
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
ALTER TABLE webhook_endpoints ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_endpoints FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON webhook_endpoints
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_deliveries FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON webhook_deliveries
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

-- WebhookResponse. What is deleted is not shown.
CREATE VIEW webhook_view WITH (security_invoker = true) AS
SELECT
    w.org_id, w.id, w.board_id, w.name, w.url, w.events, w.status, w.disabled_reason,
    w.secret_hint, NULL::text AS secret, w.old_secret_until, e.consecutive_failures,
    e.last_success_at, e.last_failure_at, w.created_time,
    json_build_object('id', w.created_by,
        'principal_type', coalesce(c.type, 'system'), 'name', c.name) AS created_by,
    w.last_edited_time,
    json_build_object('id', w.last_edited_by,
        'principal_type', coalesce(l.type, 'system'), 'name', l.name) AS last_edited_by,
    w.version
FROM webhooks w
JOIN webhook_endpoints e ON e.org_id = w.org_id AND e.webhook_id = w.id
LEFT JOIN principals c ON c.org_id = w.org_id AND c.id = w.created_by
LEFT JOIN principals l ON l.org_id = w.org_id AND l.id = w.last_edited_by
WHERE w.deleted_at IS NULL;
