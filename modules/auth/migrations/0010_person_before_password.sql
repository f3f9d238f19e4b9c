-- The account is locked first, its password second, as by a reset. The other way round they locked
-- each other out, and of ten log-ins that were tried again some held the password at any time: the
-- reset waited until it was given up.
CREATE OR REPLACE FUNCTION act_for_proven_address(password_version bigint) RETURNS uuid
LANGUAGE plpgsql AS $$
DECLARE
    owner uuid;
BEGIN
    SELECT u.id INTO owner
    FROM users u
    WHERE u.email_key = svc_credential() AND u.email_verified AND u.disabled_at IS NULL
    FOR SHARE;
    IF password_version IS NOT NULL THEN
        SELECT p.user_id INTO owner
        FROM passwords p
        WHERE p.user_id = owner AND p.version = password_version
        FOR SHARE;
    END IF;
    PERFORM set_config('app.user_id', coalesce(owner::text, ''), true);
    RETURN owner;
END $$;
