-- How many bytes a workspace stores: what was counted, and what has been added since. Everybody who
-- writes adds a row to the second, so that nobody waits for anybody; a job takes them together.
CREATE TABLE stored_bytes (
    org_id uuid NOT NULL PRIMARY KEY,
    bytes bigint NOT NULL,
    has_grown boolean NOT NULL DEFAULT true,  -- since it was counted
    counted_at timestamptz NOT NULL DEFAULT '-infinity'
);

CREATE TABLE stored_more (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    bytes bigint NOT NULL,
    fits boolean NOT NULL CONSTRAINT storage_within_plan CHECK (fits),
    PRIMARY KEY (org_id, id)
);

ALTER TABLE stored_bytes ENABLE ROW LEVEL SECURITY;
ALTER TABLE stored_bytes FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON stored_bytes
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
ALTER TABLE stored_more ENABLE ROW LEVEL SECURITY;
ALTER TABLE stored_more FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON stored_more
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

-- What is there already is counted by the job.
INSERT INTO stored_bytes (org_id, bytes) SELECT id, 0 FROM orgs WHERE id IS NOT NULL;
