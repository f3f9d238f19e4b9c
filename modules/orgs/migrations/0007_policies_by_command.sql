-- Being seen is not being changed. People are seen by those they work with, and seats by those who
-- sit on them; a policy for every command would let them be deleted as well.

DROP POLICY by_person ON users;
CREATE POLICY seen ON users FOR SELECT
    USING (
        id = svc_user()
        OR email_key = svc_credential()
        OR id IN (SELECT m.user_id FROM memberships m WHERE m.org_id = svc_org())
        OR svc_all_orgs()
    );
CREATE POLICY added ON users FOR INSERT
    WITH CHECK (id = svc_user() OR email_key = svc_credential() OR svc_all_orgs());
CREATE POLICY changed ON users FOR UPDATE
    USING (id = svc_user() OR email_key = svc_credential() OR svc_all_orgs())
    WITH CHECK (id = svc_user() OR email_key = svc_credential() OR svc_all_orgs());
CREATE POLICY deleted ON users FOR DELETE
    USING (svc_all_orgs());

DROP POLICY by_org ON memberships;
CREATE POLICY seen ON memberships FOR SELECT
    USING (org_id = svc_org() OR user_id = svc_user() OR svc_all_orgs());
CREATE POLICY added ON memberships FOR INSERT
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());
CREATE POLICY changed ON memberships FOR UPDATE
    USING (org_id = svc_org() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());
CREATE POLICY deleted ON memberships FOR DELETE
    USING (org_id = svc_org() OR svc_all_orgs());
