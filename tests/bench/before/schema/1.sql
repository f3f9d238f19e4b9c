-- The schema at d8532bc, all modules, as pg_dump --schema-only has it; comments, owners and
-- privileges left out. Part 1 of 6.
SET check_function_bodies = false;
SET client_min_messages = warning;
SET search_path = '';

CREATE EXTENSION IF NOT EXISTS btree_gin WITH SCHEMA public;

CREATE FUNCTION public.act_for_address() RETURNS uuid
    LANGUAGE plpgsql
    AS $$
DECLARE
    owner uuid;
BEGIN
    SELECT u.id INTO owner FROM users u WHERE u.email_key = svc_credential();
    PERFORM set_config('app.user_id', coalesce(owner::text, ''), true);
    RETURN owner;
END $$;

CREATE FUNCTION public.act_for_identity(by_issuer text, as_subject text) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
DECLARE
    owner uuid;
BEGIN
    SELECT i.user_id INTO owner
    FROM identities i
    WHERE i.issuer = by_issuer AND i.subject = as_subject;
    PERFORM set_config('app.user_id', coalesce(owner::text, ''), true);
    RETURN owner;
END $$;

CREATE FUNCTION public.act_for_proven_address(password_version bigint) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.add_or_confirm_person(new_id uuid, address text, address_key text, full_name text, chosen jsonb) RETURNS uuid
    LANGUAGE sql
    AS $$
    INSERT INTO users (id, email, email_key, email_verified, name, preferences)
    VALUES (new_id, address, address_key, true, full_name, chosen)
    ON CONFLICT (email_key) DO UPDATE
    SET email = excluded.email,
        email_verified = true,
        name = coalesce(excluded.name, users.name),
        preferences = users.preferences || excluded.preferences,
        last_edited_time = now(),
        version = users.version + 1
    WHERE NOT users.email_verified
    RETURNING users.id
$$;

CREATE FUNCTION public.admit_reset(digest bytea) RETURNS TABLE(id uuid, email text)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.board_role(caller uuid, kind text, role text, visibility text, maker uuid, granted text, limited boolean) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (limited AND (granted IS NULL)) THEN NULL::text WHEN ((maker = caller) AND (role <> 'viewer'::text) AND (limited IS NOT TRUE)) THEN 'admin'::text WHEN (granted IS NOT NULL) THEN CASE WHEN ((role = ANY (ARRAY['owner'::text, 'admin'::text])) AND (kind <> 'agent'::text)) THEN 'admin'::text WHEN ((role = 'viewer'::text) AND (kind <> 'person'::text)) THEN 'viewer'::text ELSE granted END WHEN (role = ANY (ARRAY['owner'::text, 'admin'::text])) THEN 'admin'::text WHEN (visibility = 'org'::text) THEN CASE role WHEN 'member'::text THEN 'editor'::text ELSE 'viewer'::text END ELSE NULL::text END;

CREATE FUNCTION public.card_is_open(completed_at timestamp with time zone, is_archived boolean, in_trash boolean) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((completed_at IS NULL) AND (NOT is_archived) AND (NOT in_trash));

CREATE FUNCTION public.card_sort_key(sort text, due text, priority text, place text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE sort WHEN 'due'::text THEN COALESCE(due, '~'::text) WHEN 'priority'::text THEN CASE priority WHEN 'urgent'::text THEN '0'::text WHEN 'high'::text THEN '1'::text WHEN 'medium'::text THEN '2'::text WHEN 'low'::text THEN '3'::text ELSE '4'::text END ELSE place END;

CREATE FUNCTION public.enter_by_invitation(person uuid, invitation uuid) RETURNS TABLE(org_id uuid)
    LANGUAGE plpgsql
    AS $$
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

CREATE TABLE public.invitations (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    role text NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    message text,
    token_digest bytea NOT NULL,
    invited_by uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    send_count integer DEFAULT 1 NOT NULL,
    last_sent_at timestamp with time zone DEFAULT now() NOT NULL,
    responded_at timestamp with time zone,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    last_edited_time timestamp with time zone DEFAULT now() NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'member'::text, 'admin'::text]))),
    CONSTRAINT invitations_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'accepted'::text, 'declined'::text, 'expired'::text, 'revoked'::text])))
);

ALTER TABLE ONLY public.invitations FORCE ROW LEVEL SECURITY;

CREATE TABLE public.orgs (
    id uuid NOT NULL,
    name text NOT NULL,
    slug text NOT NULL,
    icon jsonb,
    plan text DEFAULT 'free'::text NOT NULL,
    billing_state text DEFAULT 'active'::text NOT NULL,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    created_by uuid NOT NULL,
    last_edited_time timestamp with time zone DEFAULT now() NOT NULL,
    last_edited_by uuid NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    security_epoch bigint DEFAULT 1 NOT NULL,
    past_due_since timestamp with time zone,
    cancel_at timestamp with time zone,
    deleted_at timestamp with time zone,
    CONSTRAINT orgs_billing_state_check CHECK ((billing_state = ANY (ARRAY['active'::text, 'trialing'::text, 'past_due'::text, 'canceled'::text]))),
    CONSTRAINT orgs_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'team'::text, 'business'::text])))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.orgs FORCE ROW LEVEL SECURITY;

CREATE TABLE public.principals (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    name text,
    avatar_url text,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    last_edited_time timestamp with time zone DEFAULT now() NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    gone_at timestamp with time zone,
    CONSTRAINT principals_type_check CHECK ((type = ANY (ARRAY['user'::text, 'agent'::text, 'automation'::text])))
);

ALTER TABLE ONLY public.principals FORCE ROW LEVEL SECURITY;

CREATE VIEW public.invitation_view WITH (security_invoker='true') AS
 SELECT i.org_id,
    i.id,
    o.name AS org_name,
    i.email,
    i.role,
        CASE
            WHEN ((i.status = 'pending'::text) AND (i.expires_at <= now())) THEN 'expired'::text
            ELSE i.status
        END AS status,
    i.message,
    json_build_object('id', i.invited_by, 'principal_type', COALESCE(p.type, 'user'::text), 'name', p.name) AS invited_by,
    i.expires_at,
    i.send_count,
    i.last_sent_at,
    i.responded_at,
    i.created_time,
    i.last_edited_time,
    i.version
   FROM ((public.invitations i
     JOIN public.orgs o ON ((o.id = i.org_id)))
     LEFT JOIN public.principals p ON (((p.org_id = i.org_id) AND (p.id = i.invited_by))));

CREATE FUNCTION public.invitations_of(person uuid, before_id uuid, most bigint) RETURNS SETOF public.invitation_view
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.lower_role(a text, b text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN ('viewer'::text = ANY (ARRAY[a, b])) THEN 'viewer'::text WHEN ('member'::text = ANY (ARRAY[a, b])) THEN 'member'::text WHEN ('admin'::text = ANY (ARRAY[a, b])) THEN 'admin'::text WHEN ('owner'::text = ANY (ARRAY[a, b])) THEN 'owner'::text ELSE NULL::text END;

CREATE FUNCTION public.note_own_orgs(person uuid, only_org uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    orgs text;
BEGIN
    SELECT coalesce(string_agg(m.org_id::text, ','), '') INTO orgs
    FROM memberships m
    WHERE m.user_id = person AND (only_org IS NULL OR m.org_id = only_org);
    PERFORM set_config('app.own_orgs', orgs, true);
END $$;

CREATE TABLE public.memberships (
    org_id uuid NOT NULL,
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    role text NOT NULL,
    invited_by uuid,
    joined_at timestamp with time zone DEFAULT now() NOT NULL,
    last_active_at timestamp with time zone,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    last_edited_time timestamp with time zone DEFAULT now() NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT memberships_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'member'::text, 'admin'::text, 'owner'::text])))
);

ALTER TABLE ONLY public.memberships FORCE ROW LEVEL SECURITY;

CREATE VIEW public.org_view WITH (security_invoker='true') AS
 SELECT o.id,
    o.name,
    o.slug,
    o.icon,
    o.plan,
    o.billing_state,
    ( SELECT count(*) AS count
           FROM public.memberships m
          WHERE (m.org_id = o.id)) AS seat_count,
    o.created_time,
    json_build_object('id', o.created_by, 'principal_type', COALESCE(c.type, 'user'::text), 'name', c.name) AS created_by,
    o.last_edited_time,
    json_build_object('id', o.last_edited_by, 'principal_type', COALESCE(e.type, 'user'::text), 'name', e.name) AS last_edited_by,
    o.version
   FROM ((public.orgs o
     LEFT JOIN public.principals c ON (((c.org_id = o.id) AND (c.id = o.created_by))))
     LEFT JOIN public.principals e ON (((e.org_id = o.id) AND (e.id = o.last_edited_by))));

CREATE FUNCTION public.orgs_of(person uuid, only_org uuid, after_org uuid, most bigint) RETURNS TABLE(org public.org_view, role text)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.present_address_of(person uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    address text;
BEGIN
    SELECT u.email_key INTO address FROM users u WHERE u.id = person;
    IF FOUND THEN
        PERFORM set_config('app.credential', address, true);
    END IF;
END $$;

CREATE FUNCTION public.search_escaped(said text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN regexp_replace(translate(said, ((('<~'::text || chr(3)) || chr(4)) || chr(5)), (chr(3) || chr(4))), '([^[:space:]]{100})'::text, ('\1'::text || chr(5)), 'g'::text);

CREATE FUNCTION public.search_unescaped(said text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN translate(said, ((chr(3) || chr(4)) || chr(5)), '<~'::text);

CREATE TABLE public.users (
    id uuid NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    email_verified boolean NOT NULL,
    name text,
    avatar_url text,
    preferences jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    last_edited_time timestamp with time zone DEFAULT now() NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    disabled_at timestamp with time zone,
    avatar_file_id uuid,
    job_title text,
    bio text,
    pronouns text,
    location text,
    links jsonb DEFAULT '[]'::jsonb NOT NULL
);

ALTER TABLE ONLY public.users FORCE ROW LEVEL SECURITY;

CREATE VIEW public.membership_view WITH (security_invoker='true') AS
 SELECT m.id,
    m.org_id,
    o.name AS org_name,
    m.user_id,
    json_build_object('id', u.id, 'name', u.name, 'avatar_url', u.avatar_url, 'email', u.email, 'email_verified', u.email_verified) AS "user",
    m.role,
        CASE
            WHEN u.email_verified THEN 'active'::text
            ELSE 'invited'::text
        END AS status,
        CASE
            WHEN (m.invited_by IS NOT NULL) THEN json_build_object('id', m.invited_by, 'principal_type', COALESCE(i.type, 'user'::text), 'name', i.name)
            ELSE NULL::json
        END AS invited_by,
    m.joined_at,
    m.last_active_at,
    m.created_time,
    m.last_edited_time,
    m.version
   FROM (((public.memberships m
     JOIN public.orgs o ON ((o.id = m.org_id)))
     JOIN public.users u ON ((u.id = m.user_id)))
     LEFT JOIN public.principals i ON (((i.org_id = m.org_id) AND (i.id = m.invited_by))));

CREATE FUNCTION public.seats_of(person uuid, only_org uuid, after_org uuid, most bigint) RETURNS SETOF public.membership_view
    LANGUAGE plpgsql
    AS $$
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
