-- Scripts that fail in a workspace: how often in a row, and whether they are disabled there. There
-- is no row while a script does well.
CREATE TABLE automation_states (
    org_id          uuid NOT NULL,
    automation_id   uuid NOT NULL,
    script          text NOT NULL,
    digest          text NOT NULL,   -- of the source that fails: another one starts at 1
    failures        bigint NOT NULL,
    disabled_at     timestamptz,
    disabled_reason text,
    PRIMARY KEY (org_id, automation_id)
) WITH (fillfactor = 80);

ALTER TABLE automation_states ENABLE ROW LEVEL SECURITY;
ALTER TABLE automation_states FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON automation_states
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
