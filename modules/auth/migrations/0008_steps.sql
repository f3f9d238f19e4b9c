-- What policies go by is set before the tables are read that they protect, and never within the
-- statement that reads: in which order one statement does its parts is the planner's choice. Where
-- the values come out of tables themselves, these functions take the steps, one statement each.

-- Who comes with this session, and as what in the workspace that is asked for, or else in the one
-- where it works. The transaction acts for the person from then on, and for the workspace where the
-- person has a seat.
CREATE FUNCTION session_caller(session_id uuid, wanted_org uuid)
RETURNS TABLE (user_id uuid, name text, org_id uuid, role text, past_due boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    owner uuid;
    wanted uuid;
    seat record;
BEGIN
    PERFORM set_config('app.credential', session_id::text, true);
    SELECT s.user_id, coalesce(wanted_org, s.active_org_id) INTO owner, wanted
    FROM sessions s
    WHERE s.id = session_id AND s.revoked_at IS NULL AND s.expires_at > now();
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('app.user_id', owner::text, true);
    SELECT m.org_id, m.role INTO seat
    FROM memberships m
    WHERE m.org_id = wanted AND m.user_id = owner;
    PERFORM set_config('app.org_id', coalesce(seat.org_id::text, ''), true);
    RETURN QUERY
    SELECT u.id, u.name, seat.org_id, seat.role,
        coalesce(
            (SELECT o.billing_state = 'past_due' FROM orgs o WHERE o.id = seat.org_id), false)
    FROM users u
    WHERE u.id = owner;
END $$;

-- From here on the transaction acts for the person whose address is the presented credential, or
-- for nobody.
CREATE FUNCTION act_for_address() RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    owner uuid;
BEGIN
    SELECT u.id INTO owner FROM users u WHERE u.email_key = svc_credential();
    PERFORM set_config('app.user_id', coalesce(owner::text, ''), true);
    RETURN owner;
END $$;

-- The same for a verified address, with the password that was given where that is the proof. Whoever
-- sets another password, or disables the account, waits for this, or this for him: no session
-- outlives the password it was begun with, and none begins for an account that is disabled.
CREATE FUNCTION act_for_proven_address(password_version bigint) RETURNS uuid
LANGUAGE plpgsql AS $$
DECLARE
    owner uuid;
BEGIN
    SELECT u.id INTO owner
    FROM users u
    WHERE u.email_key = svc_credential() AND u.email_verified;
    IF password_version IS NOT NULL THEN
        SELECT p.user_id INTO owner
        FROM passwords p
        WHERE p.user_id = owner AND p.version = password_version
        FOR SHARE;
    END IF;
    SELECT u.id INTO owner FROM users u WHERE u.id = owner AND u.disabled_at IS NULL FOR SHARE;
    PERFORM set_config('app.user_id', coalesce(owner::text, ''), true);
    RETURN owner;
END $$;

-- The same for the person whom a provider knows by the pair that is the presented credential.
CREATE FUNCTION act_for_identity(by_issuer text, as_subject text) RETURNS uuid
LANGUAGE plpgsql AS $$
DECLARE
    owner uuid;
BEGIN
    SELECT i.user_id INTO owner
    FROM identities i
    WHERE i.issuer = by_issuer AND i.subject = as_subject;
    PERFORM set_config('app.user_id', coalesce(owner::text, ''), true);
    RETURN owner;
END $$;

-- The address by the token, then its owner by the address. Whoever comes with another token for
-- the same account waits here, and finds his token gone.
CREATE FUNCTION admit_reset(digest bytea) RETURNS TABLE (id uuid, email text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    address text;
    owner record;
BEGIN
    SELECT r.email_key INTO address
    FROM password_resets r
    WHERE r.token_digest = digest AND r.expires_at > now();
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('app.credential', address, true);
    SELECT u.id, u.email INTO owner
    FROM users u
    WHERE u.email_key = address AND u.email_verified
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('app.user_id', owner.id::text, true);
    RETURN QUERY SELECT owner.id, owner.email;
END $$;

-- The sign-up by its token, the person by the address, the password by the person. An address that
-- an admin added to a workspace is a person already, who is verified by this. The password comes
-- along for a program, whose owner took the token out of the mail himself, and for the browser that
-- sent this sign-up. No row when the address has an account.
CREATE FUNCTION verify_sign_up(digest bytea, by_program boolean, of_browser uuid)
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
    INSERT INTO users (id, email, email_key, email_verified, name, preferences)
    VALUES (taken.id, taken.email, taken.email_key, true, taken.name, taken.preferences)
    ON CONFLICT (email_key) DO UPDATE
    SET email = excluded.email,
        email_verified = true,
        name = coalesce(excluded.name, users.name),
        preferences = users.preferences || excluded.preferences,
        last_edited_time = now(),
        version = users.version + 1
    WHERE NOT users.email_verified
    RETURNING users.id INTO person;
    IF NOT FOUND THEN
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

-- A person's seats, by the id of the workspace. Each workspace is entered before it is read:
-- row-level security admits one at a time. At the end the one before is entered again.
CREATE FUNCTION seats_of(person uuid, only_org uuid, after_org uuid, most bigint)
RETURNS SETOF membership_view
LANGUAGE plpgsql AS $$
DECLARE
    before text := coalesce(current_setting('app.org_id', true), '');
    orgs uuid[];
    entered uuid;
BEGIN
    SELECT coalesce(array_agg(mine.org_id ORDER BY mine.org_id), '{}') INTO orgs
    FROM (
        SELECT m.org_id
        FROM memberships m
        WHERE m.user_id = person
          AND (only_org IS NULL OR m.org_id = only_org)
          AND (after_org IS NULL OR m.org_id > after_org)
        ORDER BY m.org_id
        LIMIT most
    ) mine;
    FOREACH entered IN ARRAY orgs LOOP
        PERFORM set_config('app.org_id', entered::text, true);
        RETURN QUERY
        SELECT v.* FROM membership_view v WHERE v.org_id = entered AND v.user_id = person;
    END LOOP;
    PERFORM set_config('app.org_id', before, true);
END $$;
