-- What scripts did: one row per run of a script for an event.
CREATE TABLE automation_runs (
    org_id             uuid NOT NULL,
    id                 uuid NOT NULL,
    automation_id      uuid NOT NULL,
    automation_version integer NOT NULL DEFAULT 1,
    script             text,              -- the operator's script; null: an automation of the workspace
    event_id           uuid,
    kind               text NOT NULL,     -- of that event
    attempt            integer NOT NULL DEFAULT 1,
    status             text NOT NULL
        CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'skipped')),
    mode               text NOT NULL CHECK (mode IN ('canary', 'on', 'dry_run')),
    started_at         timestamptz,
    finished_at        timestamptz,
    duration_ms        bigint,
    instructions       bigint NOT NULL DEFAULT 0,
    memory_peak_bytes  bigint NOT NULL DEFAULT 0,
    calls              json NOT NULL DEFAULT '[]',
    error              text,
    log                json NOT NULL DEFAULT '[]',
    depth              integer NOT NULL,
    created_time       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, id)
);

-- An event that is handed over twice is answered once.
CREATE UNIQUE INDEX automation_runs_once
    ON automation_runs (org_id, automation_id, event_id, attempt) WHERE mode <> 'dry_run';
CREATE INDEX automation_runs_newest
    ON automation_runs (org_id, automation_id, created_time DESC, id DESC);
CREATE INDEX automation_runs_by_age ON automation_runs (org_id, created_time);

ALTER TABLE automation_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE automation_runs FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON automation_runs
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
