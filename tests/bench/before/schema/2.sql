-- The schema at d8532bc, all modules, as pg_dump --schema-only has it; comments, owners and
-- privileges left out. Part 2 of 6.
SET check_function_bodies = false;
SET client_min_messages = warning;
SET search_path = '';

CREATE FUNCTION public.session_caller(session_id uuid, wanted_org uuid) RETURNS TABLE(user_id uuid, name text, org_id uuid, role text, past_due boolean)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.svc_all_orgs() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (COALESCE(current_setting('app.all_orgs'::text, true), ''::text) = 'on'::text);

CREATE FUNCTION public.svc_analyze(filled text, more bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    rows_known bigint;
BEGIN
    SELECT c.reltuples::bigint INTO rows_known
    FROM pg_class c
    WHERE c.oid = to_regclass(filled) AND c.relkind = 'r';
    IF rows_known < 0 OR more * 5 >= rows_known THEN
        EXECUTE format('ANALYZE (SKIP_LOCKED) %I', filled);
        SELECT c.reltuples::bigint INTO rows_known FROM pg_class c WHERE c.oid = to_regclass(filled);
    END IF;
    RETURN greatest(rows_known, 0);
END $$;

CREATE FUNCTION public.svc_credential() RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN NULLIF(current_setting('app.credential'::text, true), ''::text);

CREATE FUNCTION public.svc_empty_org(org uuid, most integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $_$
DECLARE
    one regclass;
    taken bigint;
BEGIN
    FOR one IN
        WITH RECURSIVE hanging (id, distance) AS (
            SELECT 'orgs'::regclass::oid, 0
            UNION
            SELECT k.conrelid, h.distance + 1
            FROM hanging h
            JOIN pg_constraint k
                ON k.confrelid = h.id AND k.contype = 'f' AND k.conrelid <> k.confrelid
            JOIN pg_attribute c ON c.attrelid = k.conrelid AND c.attname = 'org_id'
            WHERE h.distance < 20
        )
        SELECT id::regclass FROM hanging WHERE distance > 0
        GROUP BY id ORDER BY max(distance) DESC, id
    LOOP
        EXECUTE format(
            'DELETE FROM %s WHERE org_id = $1'
            ' AND ctid = ANY (ARRAY(SELECT ctid FROM %s WHERE org_id = $1 LIMIT $2))',
            one, one
        ) USING org, most;
        GET DIAGNOSTICS taken = ROW_COUNT;
        IF taken > 0 THEN
            RETURN taken;
        END IF;
    END LOOP;
    RETURN 0;
END $_$;

CREATE FUNCTION public.svc_org() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid;

CREATE FUNCTION public.svc_user() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid;

CREATE FUNCTION public.token_caller(presented text) RETURNS TABLE(org_id uuid, token_id uuid, agent_id uuid, owner_id uuid, token_role text, agent_role text, requests_per_minute integer, requests_per_day integer, daily_writes integer, owner_role text, agent_owner_role text, expires_at timestamp with time zone, past_due boolean, security_epoch bigint, name text, confined boolean)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    token record;
BEGIN
    PERFORM set_config('app.credential', presented, true);
    SELECT t.org_id, t.id, t.owner_user_id
    INTO token
    FROM tokens t
    WHERE t.digest = decode(presented, 'hex');
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('app.org_id', token.org_id::text, true),
        set_config('app.user_id', token.owner_user_id::text, true);
    RETURN QUERY
    SELECT o.id, t.id, t.agent_id, t.owner_user_id, t.role, a.role,
        a.requests_per_minute, a.requests_per_day, a.daily_writes,
        m.role, b.role, t.expires_at, o.billing_state = 'past_due', o.security_epoch, p.name,
        EXISTS (
            SELECT FROM confined_agents c
            WHERE c.org_id = token.org_id AND c.agent_id = t.agent_id)
    FROM orgs o
    JOIN tokens t ON t.org_id = token.org_id AND t.id = token.id
    JOIN users u ON u.id = token.owner_user_id AND u.disabled_at IS NULL
    JOIN memberships m ON m.org_id = o.id AND m.user_id = token.owner_user_id
    LEFT JOIN agents a ON a.org_id = o.id AND a.id = t.agent_id
    LEFT JOIN memberships b ON b.org_id = o.id AND b.user_id = a.owner_user_id
    LEFT JOIN principals p ON p.org_id = o.id AND p.id = coalesce(t.agent_id, t.owner_user_id)
    WHERE o.id = token.org_id AND t.owner_user_id = token.owner_user_id
        AND t.digest = decode(presented, 'hex')
        AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
        AND (t.agent_id IS NULL OR a.status = 'active');
END $$;

CREATE FUNCTION public.verify_sign_up(digest bytea, by_program boolean, of_browser uuid) RETURNS TABLE(id uuid)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.words_of(said text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN to_tsvector('simple'::regconfig, public.search_escaped("left"(said, 50000)));

CREATE TABLE public.address_keys (
    renewed_at timestamp with time zone
);

CREATE TABLE public.board_grants (
    org_id uuid NOT NULL,
    principal_id uuid NOT NULL,
    board_id uuid NOT NULL,
    id uuid NOT NULL,
    role text NOT NULL,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    created_by uuid NOT NULL,
    last_edited_time timestamp with time zone DEFAULT now() NOT NULL,
    last_edited_by uuid NOT NULL,
    CONSTRAINT board_grants_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'editor'::text])))
);

ALTER TABLE ONLY public.board_grants FORCE ROW LEVEL SECURITY;

CREATE TABLE public.boards (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    key text NOT NULL,
    name text NOT NULL,
    description text,
    icon jsonb,
    visibility text NOT NULL,
    default_view text,
    is_archived boolean DEFAULT false NOT NULL,
    in_trash boolean DEFAULT false NOT NULL,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    created_by uuid NOT NULL,
    last_edited_time timestamp with time zone DEFAULT now() NOT NULL,
    last_edited_by uuid NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    purged_at timestamp with time zone,
    words tsvector GENERATED ALWAYS AS (public.words_of(((name || ' '::text) || "left"(COALESCE(description, ''::text), 5000)))) STORED,
    CONSTRAINT boards_key_check CHECK ((key ~ '^[A-Z][A-Z0-9]{1,9}$'::text)),
    CONSTRAINT boards_visibility_check CHECK ((visibility = ANY (ARRAY['org'::text, 'private'::text])))
);

ALTER TABLE ONLY public.boards FORCE ROW LEVEL SECURITY;

CREATE VIEW public.agent_grants WITH (security_invoker='true') AS
 SELECT g.org_id,
    g.principal_id AS agent_id,
    g.board_id,
    g.role
   FROM (public.board_grants g
     JOIN public.boards b ON (((b.org_id = g.org_id) AND (b.id = g.board_id) AND (NOT b.in_trash))));

CREATE TABLE public.agent_usage (
    org_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    day date NOT NULL,
    requests bigint DEFAULT 0 NOT NULL,
    writes bigint DEFAULT 0 NOT NULL,
    requests_taken bigint DEFAULT 0 NOT NULL,
    writes_taken bigint DEFAULT 0 NOT NULL,
    minute timestamp with time zone NOT NULL,
    minute_taken bigint DEFAULT 0 NOT NULL,
    minute_exceeded timestamp with time zone,
    requests_exceeded timestamp with time zone,
    writes_exceeded timestamp with time zone
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.agent_usage FORCE ROW LEVEL SECURITY;

CREATE TABLE public.agents (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    description text,
    role text NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    disabled_at timestamp with time zone,
    disabled_by uuid,
    disabled_reason text,
    owner_user_id uuid NOT NULL,
    requests_per_minute integer,
    requests_per_day integer,
    daily_writes integer,
    last_active_at timestamp with time zone,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    created_by uuid NOT NULL,
    last_edited_time timestamp with time zone DEFAULT now() NOT NULL,
    last_edited_by uuid NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT agents_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'member'::text, 'admin'::text]))),
    CONSTRAINT agents_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text])))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.agents FORCE ROW LEVEL SECURITY;

CREATE VIEW public.agent_view WITH (security_invoker='true') AS
 SELECT a.org_id,
    a.id,
    COALESCE(p.name, ''::text) AS name,
    p.avatar_url,
    a.description,
    a.role,
    a.status,
    a.disabled_at,
        CASE
            WHEN (a.disabled_by IS NOT NULL) THEN json_build_object('id', a.disabled_by, 'principal_type', COALESCE(d.type, 'system'::text), 'name', d.name)
            ELSE NULL::json
        END AS disabled_by,
    a.disabled_reason,
    a.owner_user_id,
    json_build_object('requests_per_minute', a.requests_per_minute, 'requests_per_day', a.requests_per_day, 'daily_writes', a.daily_writes) AS budgets,
    json_build_object('requests_today', COALESCE(u.requests, (0)::bigint), 'writes_today', COALESCE(u.writes, (0)::bigint), 'resets_at', (date_trunc('day'::text, now(), 'UTC'::text) + '1 day'::interval)) AS usage,
    COALESCE(( SELECT json_agg(json_build_object('board_id', g.board_id, 'role', g.role) ORDER BY g.board_id) AS json_agg
           FROM public.agent_grants g
          WHERE ((g.org_id = a.org_id) AND (g.agent_id = a.id))), '[]'::json) AS board_grants,
    (NOT (EXISTS ( SELECT
           FROM public.agents o
          WHERE ((o.org_id = a.org_id) AND (o.id < a.id))))) AS is_free,
    a.last_active_at,
    a.created_time,
    json_build_object('id', a.created_by, 'principal_type', COALESCE(c.type, 'system'::text), 'name', c.name) AS created_by,
    a.last_edited_time,
    json_build_object('id', a.last_edited_by, 'principal_type', COALESCE(e.type, 'system'::text), 'name', e.name) AS last_edited_by,
    a.version
   FROM (((((public.agents a
     LEFT JOIN public.principals p ON (((p.org_id = a.org_id) AND (p.id = a.id))))
     LEFT JOIN public.agent_usage u ON (((u.org_id = a.org_id) AND (u.agent_id = a.id) AND (u.day = ((now() AT TIME ZONE 'UTC'::text))::date))))
     LEFT JOIN public.principals d ON (((d.org_id = a.org_id) AND (d.id = a.disabled_by))))
     LEFT JOIN public.principals c ON (((c.org_id = a.org_id) AND (c.id = a.created_by))))
     LEFT JOIN public.principals e ON (((e.org_id = a.org_id) AND (e.id = a.last_edited_by))));

CREATE TABLE public.audit_events (
    org_id uuid NOT NULL,
    sequence bigint NOT NULL,
    id uuid NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    action text NOT NULL,
    outcome text NOT NULL,
    actor text NOT NULL,
    target_type text,
    target_id uuid,
    target_name text,
    before text,
    after text,
    ip_address text,
    user_agent text,
    request_id text,
    prev_hash bytea NOT NULL,
    hash bytea NOT NULL,
    kind text,
    card_id uuid
);

ALTER TABLE ONLY public.audit_events FORCE ROW LEVEL SECURITY;

CREATE TABLE public.automation_runs (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    automation_id uuid NOT NULL,
    automation_version integer DEFAULT 1 NOT NULL,
    script text,
    event_id uuid,
    kind text NOT NULL,
    attempt integer DEFAULT 1 NOT NULL,
    status text NOT NULL,
    mode text NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    duration_ms bigint,
    instructions bigint DEFAULT 0 NOT NULL,
    memory_peak_bytes bigint DEFAULT 0 NOT NULL,
    calls json DEFAULT '[]'::json NOT NULL,
    error text,
    log json DEFAULT '[]'::json NOT NULL,
    depth integer NOT NULL,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT automation_runs_mode_check CHECK ((mode = ANY (ARRAY['canary'::text, 'on'::text, 'dry_run'::text]))),
    CONSTRAINT automation_runs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'succeeded'::text, 'refused'::text, 'failed'::text, 'skipped'::text])))
);

ALTER TABLE ONLY public.automation_runs FORCE ROW LEVEL SECURITY;

CREATE TABLE public.blocks (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    card_id uuid NOT NULL,
    parent_id uuid NOT NULL,
    type text NOT NULL,
    payload json NOT NULL,
    plain text NOT NULL,
    "position" text NOT NULL COLLATE pg_catalog."C",
    trashed_by uuid,
    trashed_at timestamp with time zone,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    created_by jsonb NOT NULL,
    last_edited_time timestamp with time zone DEFAULT now() NOT NULL,
    last_edited_by jsonb NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    words tsvector GENERATED ALWAYS AS (public.words_of(plain)) STORED
);

ALTER TABLE ONLY public.blocks FORCE ROW LEVEL SECURITY;

CREATE VIEW public.block_view WITH (security_invoker='true') AS
 SELECT b.org_id,
    b.id,
    b.card_id,
    b.parent_id,
    b.type,
    b.payload,
    b."position",
    b.trashed_by,
    (EXISTS ( SELECT
           FROM public.blocks k
          WHERE ((k.org_id = b.org_id) AND (k.parent_id = b.id) AND (k.trashed_by IS NULL)))) AS has_children,
    b.created_time,
    b.created_by,
    b.last_edited_time,
    b.last_edited_by,
    b.version
   FROM public.blocks b;

CREATE TABLE public.board_copies (
    org_id uuid NOT NULL,
    board_id uuid NOT NULL,
    made_by jsonb NOT NULL,
    ids jsonb NOT NULL,
    copied bigint DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY public.board_copies FORCE ROW LEVEL SECURITY;

CREATE TABLE public.board_copy_cards (
    org_id uuid NOT NULL,
    board_id uuid NOT NULL,
    number bigint NOT NULL,
    source_id uuid NOT NULL,
    card_id uuid NOT NULL
);

ALTER TABLE ONLY public.board_copy_cards FORCE ROW LEVEL SECURITY;

CREATE TABLE public.board_counters (
    org_id uuid NOT NULL,
    board_id uuid NOT NULL,
    last_number bigint DEFAULT 0 NOT NULL,
    card_count bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.board_counters FORCE ROW LEVEL SECURITY;
