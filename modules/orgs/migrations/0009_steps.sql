-- What policies go by is set before the tables are read that they protect, and never within the
-- statement that reads: in which order one statement does its parts is the planner's choice. Where
-- the values come out of tables themselves, these functions take the steps, one statement each.

-- The workspaces that a person is in, by their ids, and as what. Each is entered before it is read:
-- row-level security admits one at a time. At the end the one before is entered again.
CREATE FUNCTION orgs_of(person uuid, only_org uuid, after_org uuid, most bigint)
RETURNS TABLE (org org_view, role text)
LANGUAGE plpgsql AS $$
DECLARE
    before text := coalesce(current_setting('app.org_id', true), '');
    orgs uuid[];
    roles text[];
    mine integer;
BEGIN
    SELECT coalesce(array_agg(s.org_id ORDER BY s.org_id), '{}'),
        coalesce(array_agg(s.role ORDER BY s.org_id), '{}')
    INTO orgs, roles
    FROM (
        SELECT m.org_id, m.role
        FROM memberships m
        WHERE m.user_id = person
          AND (only_org IS NULL OR m.org_id = only_org)
          AND (after_org IS NULL OR m.org_id > after_org)
        ORDER BY m.org_id
        LIMIT most
    ) s;
    FOR mine IN 1 .. cardinality(orgs) LOOP
        PERFORM set_config('app.org_id', orgs[mine]::text, true);
        RETURN QUERY SELECT v, roles[mine] FROM org_view v WHERE v.id = orgs[mine];
    END LOOP;
    PERFORM set_config('app.org_id', before, true);
END $$;

-- The invitations that wait for a person, newest first, of all workspaces.
CREATE FUNCTION invitations_of(person uuid, before_id uuid, most bigint)
RETURNS SETOF invitation_view
LANGUAGE plpgsql AS $$
DECLARE
    before text := coalesce(current_setting('app.org_id', true), '');
    orgs uuid[];
    ids uuid[];
    mine integer;
BEGIN
    SELECT coalesce(array_agg(w.org_id ORDER BY w.id DESC), '{}'),
        coalesce(array_agg(w.id ORDER BY w.id DESC), '{}')
    INTO orgs, ids
    FROM (
        SELECT i.org_id, i.id
        FROM users u
        JOIN invitations i ON i.email_key = u.email_key
        WHERE u.id = person AND u.email_verified
          AND i.status = 'pending' AND i.expires_at > now()
          AND (before_id IS NULL OR i.id < before_id)
        ORDER BY i.id DESC
        LIMIT most
    ) w;
    FOR mine IN 1 .. cardinality(ids) LOOP
        PERFORM set_config('app.org_id', orgs[mine]::text, true);
        RETURN QUERY
        SELECT v.* FROM invitation_view v WHERE v.org_id = orgs[mine] AND v.id = ids[mine];
    END LOOP;
    PERFORM set_config('app.org_id', before, true);
END $$;

-- From here on the transaction acts in the workspace of an invitation to this person. No row, and
-- nothing is changed, when there is none.
CREATE FUNCTION enter_by_invitation(person uuid, invitation uuid) RETURNS TABLE (org_id uuid)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    entered uuid;
BEGIN
    SELECT i.org_id INTO entered
    FROM users u
    JOIN invitations i ON i.email_key = u.email_key
    WHERE u.id = person AND u.email_verified AND i.id = invitation;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('app.org_id', entered::text, true);
    RETURN QUERY SELECT entered;
END $$;

-- Notes for the rest of the transaction where a person meets others: in `app.own_orgs`, with commas
-- between the ids.
CREATE FUNCTION note_own_orgs(person uuid, only_org uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    orgs text;
BEGIN
    SELECT coalesce(string_agg(m.org_id::text, ','), '') INTO orgs
    FROM memberships m
    WHERE m.user_id = person AND (only_org IS NULL OR m.org_id = only_org);
    PERFORM set_config('app.own_orgs', orgs, true);
END $$;

-- Makes a person's address the presented credential, if the person is seen.
CREATE FUNCTION present_address_of(person uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    address text;
BEGIN
    SELECT u.email_key INTO address FROM users u WHERE u.id = person;
    IF FOUND THEN
        PERFORM set_config('app.credential', address, true);
    END IF;
END $$;
