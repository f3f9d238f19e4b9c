-- The schema at d8532bc, all modules, as pg_dump --schema-only has it; comments, owners and
-- privileges left out. Part 3 of 6.
SET check_function_bodies = false;
SET client_min_messages = warning;
SET search_path = '';

CREATE VIEW public.board_grant_view WITH (security_invoker='true') AS
 SELECT g.org_id,
    g.id,
    g.board_id,
    g.principal_id,
    g.role,
    json_build_object('object', 'user', 'id', g.principal_id, 'principal_type', COALESCE(p.type, 'user'::text), 'name', p.name) AS principal,
    g.created_time,
    json_build_object('object', 'user', 'id', g.created_by, 'principal_type', COALESCE(c.type, 'system'::text), 'name', c.name) AS created_by,
    g.last_edited_time,
    json_build_object('object', 'user', 'id', g.last_edited_by, 'principal_type', COALESCE(e.type, 'system'::text), 'name', e.name) AS last_edited_by
   FROM (((public.board_grants g
     LEFT JOIN public.principals p ON (((p.org_id = g.org_id) AND (p.id = g.principal_id))))
     LEFT JOIN public.principals c ON (((c.org_id = g.org_id) AND (c.id = g.created_by))))
     LEFT JOIN public.principals e ON (((e.org_id = g.org_id) AND (e.id = g.last_edited_by))));

CREATE TABLE public.columns (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    board_id uuid NOT NULL,
    name text NOT NULL,
    color text DEFAULT 'default'::text NOT NULL,
    kind text NOT NULL,
    "position" text NOT NULL COLLATE pg_catalog."C",
    wip_limit integer,
    wip_policy text DEFAULT 'soft'::text NOT NULL,
    in_trash boolean DEFAULT false NOT NULL,
    queue_enabled boolean DEFAULT false NOT NULL,
    lease_ttl_seconds integer DEFAULT 900 NOT NULL,
    max_attempts integer DEFAULT 5 NOT NULL,
    backoff_seconds integer DEFAULT 30 NOT NULL,
    backoff_max_seconds integer DEFAULT 3600 NOT NULL,
    queue_order text DEFAULT 'priority'::text NOT NULL,
    on_complete_column_id uuid,
    on_exhausted_column_id uuid,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    created_by uuid NOT NULL,
    last_edited_time timestamp with time zone DEFAULT now() NOT NULL,
    last_edited_by uuid NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT columns_kind_check CHECK ((kind = ANY (ARRAY['backlog'::text, 'queue'::text, 'active'::text, 'done'::text]))),
    CONSTRAINT columns_queue_order_check CHECK ((queue_order = ANY (ARRAY['priority'::text, 'fifo'::text, 'due'::text]))),
    CONSTRAINT columns_wip_policy_check CHECK ((wip_policy = ANY (ARRAY['soft'::text, 'hard'::text])))
);

ALTER TABLE ONLY public.columns FORCE ROW LEVEL SECURITY;

CREATE TABLE public.labels (
    org_id uuid NOT NULL,
    board_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,
    color text DEFAULT 'default'::text NOT NULL,
    version bigint DEFAULT 1 NOT NULL
);

ALTER TABLE ONLY public.labels FORCE ROW LEVEL SECURITY;

CREATE TABLE public.properties (
    org_id uuid NOT NULL,
    board_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,
    type text NOT NULL,
    options jsonb DEFAULT '[]'::jsonb NOT NULL,
    number_format text,
    required boolean DEFAULT false NOT NULL,
    "position" integer NOT NULL,
    version bigint DEFAULT 1 NOT NULL
);

ALTER TABLE ONLY public.properties FORCE ROW LEVEL SECURITY;

CREATE VIEW public.board_view WITH (security_invoker='true') AS
 SELECT b.org_id,
    b.id,
    b.key,
    b.name,
    b.description,
    b.icon,
    b.visibility,
    COALESCE(( SELECT jsonb_agg(jsonb_build_object('object', 'property', 'id', p_1.id, 'board_id', p_1.board_id, 'name', p_1.name, 'type', p_1.type, 'options', p_1.options, 'number_format', p_1.number_format, 'required', p_1.required, 'position', p_1."position", 'version', p_1.version) ORDER BY p_1."position", p_1.id) AS jsonb_agg
           FROM public.properties p_1
          WHERE ((p_1.org_id = b.org_id) AND (p_1.board_id = b.id))), '[]'::jsonb) AS properties,
    COALESCE(( SELECT jsonb_agg(jsonb_build_object('object', 'label', 'id', l.id, 'board_id', l.board_id, 'name', l.name, 'color', l.color, 'version', l.version) ORDER BY l.name_key) AS jsonb_agg
           FROM public.labels l
          WHERE ((l.org_id = b.org_id) AND (l.board_id = b.id))), '[]'::jsonb) AS labels,
    COALESCE(( SELECT jsonb_agg(c.id ORDER BY c."position", c.id) AS jsonb_agg
           FROM public.columns c
          WHERE ((c.org_id = b.org_id) AND (c.board_id = b.id) AND (NOT c.in_trash))), '[]'::jsonb) AS column_ids,
    n.card_count,
    b.default_view,
    b.is_archived,
    b.in_trash,
    b.created_by AS maker,
    ''::text AS url,
    b.created_time,
    jsonb_build_object('object', 'user', 'id', b.created_by, 'principal_type', COALESCE(p.type, 'system'::text), 'name', p.name) AS created_by,
    b.last_edited_time,
    jsonb_build_object('object', 'user', 'id', b.last_edited_by, 'principal_type', COALESCE(e.type, 'system'::text), 'name', e.name) AS last_edited_by,
    b.version
   FROM (((public.boards b
     JOIN public.board_counters n ON (((n.org_id = b.org_id) AND (n.board_id = b.id))))
     LEFT JOIN public.principals p ON (((p.org_id = b.org_id) AND (p.id = b.created_by))))
     LEFT JOIN public.principals e ON (((e.org_id = b.org_id) AND (e.id = b.last_edited_by))));

CREATE TABLE public.card_assignees (
    org_id uuid NOT NULL,
    principal_id uuid NOT NULL,
    card_id uuid NOT NULL
);

ALTER TABLE ONLY public.card_assignees FORCE ROW LEVEL SECURITY;

CREATE TABLE public.card_links (
    org_id uuid NOT NULL,
    card_id uuid NOT NULL,
    kind text NOT NULL,
    target_id uuid NOT NULL,
    id uuid NOT NULL,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    created_by jsonb NOT NULL,
    CONSTRAINT card_links_check CHECK ((card_id <> target_id)),
    CONSTRAINT card_links_kind_check CHECK ((kind = ANY (ARRAY['blocks'::text, 'relates'::text, 'duplicates'::text])))
);

ALTER TABLE ONLY public.card_links FORCE ROW LEVEL SECURITY;

CREATE TABLE public.card_rewrites (
    org_id uuid NOT NULL,
    board_id uuid NOT NULL,
    below bigint NOT NULL
);

ALTER TABLE ONLY public.card_rewrites FORCE ROW LEVEL SECURITY;

CREATE TABLE public.card_versions (
    org_id uuid NOT NULL,
    card_id uuid NOT NULL,
    last_version bigint NOT NULL,
    fields jsonb NOT NULL,
    whole boolean DEFAULT true NOT NULL
);

ALTER TABLE ONLY public.card_versions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.queue (
    org_id uuid NOT NULL,
    card_id uuid NOT NULL,
    board_id uuid NOT NULL,
    column_id uuid NOT NULL,
    state text NOT NULL,
    urgency smallint NOT NULL,
    place text NOT NULL COLLATE pg_catalog."C",
    attempt integer DEFAULT 0 NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    available_at timestamp with time zone,
    last_error text,
    lease_id uuid,
    lease_digest bytea,
    holder jsonb,
    lease_ttl_seconds integer,
    claimed_at timestamp with time zone,
    renewed_at timestamp with time zone,
    expires_at timestamp with time zone,
    token_id uuid,
    CONSTRAINT queue_check CHECK (((state = 'leased'::text) = (lease_id IS NOT NULL))),
    CONSTRAINT queue_check1 CHECK (((state = 'backoff'::text) = (available_at IS NOT NULL))),
    CONSTRAINT queue_state_check CHECK ((state = ANY (ARRAY['idle'::text, 'ready'::text, 'leased'::text, 'backoff'::text, 'exhausted'::text, 'held'::text])))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_cost_delay='0');

ALTER TABLE ONLY public.queue FORCE ROW LEVEL SECURITY;

CREATE VIEW public.card_work WITH (security_invoker='true') AS
 SELECT q.org_id,
    q.card_id,
    jsonb_build_object('state', q.state, 'attempts', q.attempt, 'available_at', q.available_at, 'last_error', q.last_error) AS queue,
        CASE
            WHEN (q.lease_id IS NOT NULL) THEN jsonb_build_object('id', q.lease_id, 'holder', q.holder, 'attempt', q.attempt, 'expires_at', q.expires_at)
            ELSE NULL::jsonb
        END AS lease
   FROM public.queue q;

CREATE TABLE public.cards (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    board_id uuid NOT NULL,
    column_id uuid NOT NULL,
    number bigint NOT NULL,
    "position" text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    labels jsonb DEFAULT '[]'::jsonb NOT NULL,
    assignees jsonb DEFAULT '[]'::jsonb NOT NULL,
    due text COLLATE pg_catalog."C",
    start text COLLATE pg_catalog."C",
    priority text DEFAULT 'none'::text NOT NULL,
    estimate double precision,
    properties jsonb DEFAULT '{}'::jsonb NOT NULL,
    parent_card_id uuid,
    external_key text,
    is_archived boolean DEFAULT false NOT NULL,
    in_trash boolean DEFAULT false NOT NULL,
    completed_at timestamp with time zone,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    created_by jsonb NOT NULL,
    last_edited_time timestamp with time zone DEFAULT now() NOT NULL,
    last_edited_by jsonb NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    blocked_by jsonb DEFAULT '[]'::jsonb NOT NULL,
    block_count integer DEFAULT 0 NOT NULL,
    comment_count integer DEFAULT 0 NOT NULL,
    values_bytes integer GENERATED ALWAYS AS (octet_length((properties)::text)) STORED NOT NULL,
    shown_bytes integer GENERATED ALWAYS AS (((((octet_length(title) + octet_length((labels)::text)) + octet_length((assignees)::text)) + octet_length((blocked_by)::text)) + octet_length((properties)::text))) STORED NOT NULL,
    due_key text GENERATED ALWAYS AS ((public.card_sort_key('due'::text, due, priority, ''::text) COLLATE "C")) STORED NOT NULL COLLATE pg_catalog."C",
    priority_key text GENERATED ALWAYS AS ((public.card_sort_key('priority'::text, due, priority, ''::text) COLLATE "C")) STORED NOT NULL COLLATE pg_catalog."C",
    words tsvector GENERATED ALWAYS AS (public.words_of(title)) STORED,
    content_bytes bigint DEFAULT 0 NOT NULL,
    CONSTRAINT cards_priority_check CHECK ((priority = ANY (ARRAY['none'::text, 'low'::text, 'medium'::text, 'high'::text, 'urgent'::text])))
)
WITH (fillfactor='85');

ALTER TABLE ONLY public.cards FORCE ROW LEVEL SECURITY;

CREATE VIEW public.card_view WITH (security_invoker='true') AS
 SELECT c.org_id,
    c.id,
    c.board_id,
    c.column_id,
    ((b.key || '-'::text) || c.number) AS key,
    c.title,
    c."position",
    c.labels,
    c.assignees,
    c.due,
    c.start,
    c.priority,
    c.estimate,
    c.properties,
    c.parent_card_id,
    c.blocked_by,
        CASE
            WHEN (c.blocked_by = '[]'::jsonb) THEN false
            ELSE (EXISTS ( SELECT
               FROM (jsonb_array_elements_text(c.blocked_by) e(id)
                 CROSS JOIN LATERAL ( SELECT o.completed_at,
                        o.is_archived,
                        o.in_trash
                       FROM public.cards o
                      WHERE ((o.org_id = c.org_id) AND (o.id = (e.id)::uuid))
                     OFFSET 0) x)
              WHERE public.card_is_open(x.completed_at, x.is_archived, x.in_trash)))
        END AS blocked,
    c.external_key,
    (c.block_count > 0) AS has_children,
    c.block_count,
    c.comment_count,
    COALESCE(w.queue, '{"state": "idle", "attempts": 0, "last_error": null, "available_at": null}'::jsonb) AS queue,
    w.lease,
    c.is_archived,
    c.in_trash,
    c.completed_at,
    ''::text AS url,
    c.created_time,
    c.created_by,
    c.last_edited_time,
    c.last_edited_by,
    c.version,
    c.number,
    b.visibility,
    b.created_by AS maker,
    b.is_archived AS board_is_archived,
    b.in_trash AS board_in_trash
   FROM ((public.cards c
     CROSS JOIN LATERAL ( SELECT o.key,
            o.visibility,
            o.created_by,
            o.is_archived,
            o.in_trash
           FROM public.boards o
          WHERE ((o.org_id = c.org_id) AND (o.id = c.board_id))
         OFFSET 0) b)
     LEFT JOIN LATERAL ( SELECT k.queue,
            k.lease
           FROM public.card_work k
          WHERE ((k.org_id = c.org_id) AND (k.card_id = c.id))
         OFFSET 0) w ON (true));

CREATE TABLE public.card_watchers (
    org_id uuid NOT NULL,
    card_id uuid NOT NULL,
    principal_id uuid NOT NULL,
    created_time timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.card_watchers FORCE ROW LEVEL SECURITY;

CREATE VIEW public.column_turns WITH (security_invoker='true') AS
 SELECT c.org_id,
    c.id,
    COALESCE(c.on_complete_column_id, ( SELECT n.id
           FROM public.columns n
          WHERE ((n.org_id = c.org_id) AND (n.board_id = c.board_id) AND (NOT n.in_trash) AND (ROW(n."position", n.id) > ROW(c."position", c.id)))
          ORDER BY n."position", n.id
         LIMIT 1)) AS completed_id,
    c.on_exhausted_column_id AS exhausted_id
   FROM public.columns c;

CREATE VIEW public.column_view WITH (security_invoker='true') AS
 SELECT c.org_id,
    c.id,
    c.board_id,
    c.name,
    c.color,
    c.kind,
    ( SELECT count(*) AS count
           FROM public.columns o
          WHERE ((o.org_id = c.org_id) AND (o.board_id = c.board_id) AND (NOT o.in_trash) AND (ROW(o."position", o.id) < ROW(c."position", c.id)))) AS "position",
    c."position" AS order_key,
    c.wip_limit,
    c.wip_policy,
    ( SELECT count(*) AS count
           FROM public.cards k
          WHERE ((k.org_id = c.org_id) AND (k.column_id = c.id) AND (NOT k.is_archived) AND (NOT k.in_trash))) AS card_count,
    c.in_trash,
    jsonb_build_object('enabled', c.queue_enabled, 'lease_ttl_seconds', c.lease_ttl_seconds, 'max_attempts', c.max_attempts, 'backoff_seconds', c.backoff_seconds, 'backoff_max_seconds', c.backoff_max_seconds, 'order', c.queue_order, 'on_complete_column_id', c.on_complete_column_id, 'on_exhausted_column_id', c.on_exhausted_column_id) AS queue,
    c.created_time,
    jsonb_build_object('object', 'user', 'id', c.created_by, 'principal_type', COALESCE(p.type, 'system'::text), 'name', p.name) AS created_by,
    c.last_edited_time,
    jsonb_build_object('object', 'user', 'id', c.last_edited_by, 'principal_type', COALESCE(e.type, 'system'::text), 'name', e.name) AS last_edited_by,
    c.version
   FROM ((public.columns c
     LEFT JOIN public.principals p ON (((p.org_id = c.org_id) AND (p.id = c.created_by))))
     LEFT JOIN public.principals e ON (((e.org_id = c.org_id) AND (e.id = c.last_edited_by))));

CREATE TABLE public.comments (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    card_id uuid NOT NULL,
    block_id uuid,
    discussion_id uuid NOT NULL,
    rich_text json NOT NULL,
    plain text NOT NULL,
    attachments json DEFAULT '[]'::json NOT NULL,
    resolved_by jsonb,
    in_trash boolean DEFAULT false NOT NULL,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    created_by jsonb NOT NULL,
    last_edited_time timestamp with time zone DEFAULT now() NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    trashed_at timestamp with time zone,
    words tsvector GENERATED ALWAYS AS (public.words_of(plain)) STORED
);

ALTER TABLE ONLY public.comments FORCE ROW LEVEL SECURITY;

CREATE VIEW public.confined_agents WITH (security_invoker='true') AS
 SELECT g.org_id,
    g.principal_id AS agent_id
   FROM public.board_grants g;

CREATE TABLE public.event_board_heads (
    org_id uuid NOT NULL,
    board_id uuid NOT NULL,
    board_sequence bigint NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.event_board_heads FORCE ROW LEVEL SECURITY;

CREATE TABLE public.event_consumers (
    name text NOT NULL,
    "position" bigint NOT NULL,
    kept_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.event_dead_letters (
    org_id uuid NOT NULL,
    consumer text NOT NULL,
    sequence bigint NOT NULL,
    event_id uuid NOT NULL,
    kind text NOT NULL,
    error text NOT NULL,
    given_up_at timestamp with time zone DEFAULT now() NOT NULL,
    subscriber text DEFAULT ''::text NOT NULL
);

ALTER TABLE ONLY public.event_dead_letters FORCE ROW LEVEL SECURITY;

CREATE TABLE public.event_deliveries (
    org_id uuid NOT NULL,
    consumer text NOT NULL,
    subscriber text NOT NULL,
    sequence bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0');

ALTER TABLE ONLY public.event_deliveries FORCE ROW LEVEL SECURITY;

CREATE TABLE public.event_heads (
    org_id uuid NOT NULL,
    sequence bigint NOT NULL,
    audit_sequence bigint NOT NULL,
    audit_hash bytea NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.event_heads FORCE ROW LEVEL SECURITY;

CREATE TABLE public.event_position (
    only_row boolean DEFAULT true NOT NULL,
    "position" bigint NOT NULL,
    CONSTRAINT event_position_only_row_check CHECK (only_row)
)
WITH (fillfactor='50');
