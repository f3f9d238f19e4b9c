-- Durable jobs (docs/jobs.md). One row for each thing to do; a row that is done is deleted.
CREATE TABLE jobs (
    org_id       uuid NOT NULL,            -- the nil UUID: of the server as a whole
    kind         text NOT NULL,
    key          text NOT NULL,            -- which of its kind
    state        text NOT NULL CHECK (state IN ('waiting', 'ready', 'running', 'failed')),
    -- When to begin; of a running job, when its lease ends: then it is ready again.
    due_at       timestamptz NOT NULL DEFAULT now(),
    attempts     integer NOT NULL DEFAULT 0,
    lease        uuid,                     -- of the run that is under way
    again_at     timestamptz,              -- asked for once more while it ran
    payload      text NOT NULL DEFAULT '',
    last_error   text,
    created_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, kind, key)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);
-- Whoever looks for work goes from workspace to workspace, so that one with many jobs does not hide
-- the others.
CREATE INDEX jobs_ready ON jobs (kind, org_id, due_at) WHERE state = 'ready';
CREATE INDEX jobs_due ON jobs (due_at) WHERE state IN ('waiting', 'running');
CREATE INDEX jobs_failed ON jobs (kind, due_at) WHERE state = 'failed';

ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE jobs FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON jobs
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
-- Jobs of the server itself, such as mails about an account, are asked for by anybody's request.
CREATE POLICY of_the_server ON jobs
    USING (org_id = '00000000-0000-0000-0000-000000000000')
    WITH CHECK (org_id = '00000000-0000-0000-0000-000000000000');
