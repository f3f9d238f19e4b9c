-- People are written by the module whose table they are in.
CREATE OR REPLACE FUNCTION verify_sign_up(digest bytea, by_program boolean, of_browser uuid)
RETURNS TABLE (id uuid)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    taken record;
    person uuid;
BEGIN
    DELETE FROM sign_ups s
    WHERE s.token_digest = digest AND s.expires_at > now()
    RETURNING s.id, s.email, s.email_key, s.password_hash, s.name, s.preferences INTO taken;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('app.credential', taken.email_key, true);
    person := add_or_confirm_person(
        taken.id, taken.email, taken.email_key, taken.name, taken.preferences);
    IF person IS NULL THEN
        RETURN;
    END IF;
    PERFORM set_config('app.user_id', person::text, true);
    IF taken.password_hash IS NOT NULL AND (by_program OR taken.id = of_browser) THEN
        INSERT INTO passwords (user_id, hash)
        VALUES (person, taken.password_hash)
        ON CONFLICT (user_id) DO UPDATE
        SET hash = excluded.hash, changed_at = now(), version = passwords.version + 1;
    END IF;
    RETURN QUERY SELECT person;
END $$;
