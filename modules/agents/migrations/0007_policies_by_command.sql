-- Whoever presents a token sees its row, and changes none by it.
DROP POLICY by_org ON tokens;
CREATE POLICY seen ON tokens FOR SELECT
    USING (org_id = svc_org() OR encode(digest, 'hex') = svc_credential() OR svc_all_orgs());
CREATE POLICY added ON tokens FOR INSERT
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());
CREATE POLICY changed ON tokens FOR UPDATE
    USING (org_id = svc_org() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());
CREATE POLICY deleted ON tokens FOR DELETE
    USING (org_id = svc_org() OR svc_all_orgs());
