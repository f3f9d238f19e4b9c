CREATE TABLE notes (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    text text NOT NULL,
    created_by uuid NOT NULL,
    created_time timestamptz NOT NULL DEFAULT now(),
    version bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id)
);

ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
ALTER TABLE notes FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON notes
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
