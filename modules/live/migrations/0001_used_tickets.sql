-- Tickets that have opened a stream, for as long as they would be taken once more.
CREATE TABLE used_tickets (
    org_id     uuid NOT NULL,
    id         uuid NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX used_tickets_by_expiry ON used_tickets (org_id, expires_at);
ALTER TABLE used_tickets ENABLE ROW LEVEL SECURITY;
ALTER TABLE used_tickets FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON used_tickets
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
