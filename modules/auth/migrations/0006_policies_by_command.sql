-- What a presented address, session, identity or mailed token shows is not thereby theirs to change
-- who presents it. The exceptions are those that presenting is for.

-- A log-in locks the password that it was right about, by the address: for PostgreSQL a lock is the
-- right to change. The change itself is the owner's.
DROP POLICY by_person ON passwords;
CREATE POLICY seen ON passwords FOR SELECT
    USING (
        user_id = svc_user()
        OR user_id IN (SELECT u.id FROM users u WHERE u.email_key = svc_credential())
        OR svc_all_orgs()
    );
CREATE POLICY added ON passwords FOR INSERT
    WITH CHECK (user_id = svc_user() OR svc_all_orgs());
CREATE POLICY changed ON passwords FOR UPDATE
    USING (
        user_id = svc_user()
        OR user_id IN (SELECT u.id FROM users u WHERE u.email_key = svc_credential())
        OR svc_all_orgs()
    )
    WITH CHECK (user_id = svc_user() OR svc_all_orgs());
CREATE POLICY deleted ON passwords FOR DELETE
    USING (user_id = svc_user() OR svc_all_orgs());

-- Whoever shows a session may end it, which leaves its row.
DROP POLICY by_person ON sessions;
DROP POLICY by_credential ON sessions;
CREATE POLICY seen ON sessions FOR SELECT
    USING (user_id = svc_user() OR id::text = svc_credential() OR svc_all_orgs());
CREATE POLICY added ON sessions FOR INSERT
    WITH CHECK (user_id = svc_user() OR svc_all_orgs());
CREATE POLICY changed ON sessions FOR UPDATE
    USING (user_id = svc_user() OR id::text = svc_credential() OR svc_all_orgs())
    WITH CHECK (user_id = svc_user() OR id::text = svc_credential() OR svc_all_orgs());
CREATE POLICY deleted ON sessions FOR DELETE
    USING (svc_all_orgs());

DROP POLICY by_person ON identities;
CREATE POLICY seen ON identities FOR SELECT
    USING (
        user_id = svc_user()
        OR issuer || ' ' || subject = svc_credential()
        OR svc_all_orgs()
    );
CREATE POLICY added ON identities FOR INSERT
    WITH CHECK (user_id = svc_user() OR svc_all_orgs());
CREATE POLICY changed ON identities FOR UPDATE
    USING (user_id = svc_user() OR svc_all_orgs())
    WITH CHECK (user_id = svc_user() OR svc_all_orgs());
CREATE POLICY deleted ON identities FOR DELETE
    USING (user_id = svc_user() OR svc_all_orgs());

-- A mailed token is used up by whoever shows it.
DROP POLICY by_credential ON sign_ups;
CREATE POLICY seen ON sign_ups FOR SELECT
    USING (
        email_key = svc_credential()
        OR encode(token_digest, 'hex') = svc_credential()
        OR svc_all_orgs()
    );
CREATE POLICY added ON sign_ups FOR INSERT
    WITH CHECK (email_key = svc_credential() OR svc_all_orgs());
CREATE POLICY changed ON sign_ups FOR UPDATE
    USING (email_key = svc_credential() OR svc_all_orgs())
    WITH CHECK (email_key = svc_credential() OR svc_all_orgs());
CREATE POLICY deleted ON sign_ups FOR DELETE
    USING (
        email_key = svc_credential()
        OR encode(token_digest, 'hex') = svc_credential()
        OR svc_all_orgs()
    );

DROP POLICY by_credential ON password_resets;
CREATE POLICY seen ON password_resets FOR SELECT
    USING (
        email_key = svc_credential()
        OR encode(token_digest, 'hex') = svc_credential()
        OR svc_all_orgs()
    );
CREATE POLICY added ON password_resets FOR INSERT
    WITH CHECK (email_key = svc_credential() OR svc_all_orgs());
CREATE POLICY changed ON password_resets FOR UPDATE
    USING (svc_all_orgs())
    WITH CHECK (svc_all_orgs());
CREATE POLICY deleted ON password_resets FOR DELETE
    USING (email_key = svc_credential() OR svc_all_orgs());
