-- What goes with its workspace.
DELETE FROM automation_runs r
WHERE r.org_id IS NOT NULL AND NOT EXISTS (SELECT FROM orgs o WHERE o.id = r.org_id);
ALTER TABLE automation_runs
    ADD CONSTRAINT automation_runs_org FOREIGN KEY (org_id) REFERENCES orgs (id) ON DELETE CASCADE;

-- A run that came to its end, though something that it called was refused.
ALTER TABLE automation_runs DROP CONSTRAINT automation_runs_status_check;
ALTER TABLE automation_runs
    ADD CONSTRAINT automation_runs_status_check
        CHECK (status IN ('queued', 'running', 'succeeded', 'refused', 'failed', 'skipped'));
