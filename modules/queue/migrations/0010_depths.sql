-- How many cards each queue held, every ten minutes of the last day: what shows whether workers keep up.
-- A queue that is empty and stays so has no rows.
CREATE TABLE queue_depths (
    org_id uuid NOT NULL,
    column_id uuid NOT NULL,
    at timestamptz NOT NULL,
    ready integer NOT NULL,
    blocked integer NOT NULL,
    leased integer NOT NULL,
    backoff integer NOT NULL,
    exhausted integer NOT NULL,
    held integer NOT NULL,
    PRIMARY KEY (org_id, column_id, at)
);

ALTER TABLE queue_depths ENABLE ROW LEVEL SECURITY;
ALTER TABLE queue_depths FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON queue_depths
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
