-- The schema at d8532bc, all modules, as pg_dump --schema-only has it; comments, owners and
-- privileges left out. Part 4 of 6.
SET check_function_bodies = false;
SET client_min_messages = warning;
SET search_path = '';

CREATE TABLE public.events (
    org_id uuid NOT NULL,
    sequence bigint NOT NULL,
    "position" bigint NOT NULL,
    event_id uuid NOT NULL,
    board_id uuid,
    board_sequence bigint,
    kind text NOT NULL,
    depth integer NOT NULL,
    envelope text NOT NULL,
    stored_at timestamp with time zone DEFAULT now() NOT NULL,
    subject text,
    object text NOT NULL,
    object_id uuid NOT NULL,
    column_id uuid,
    card_id uuid,
    actor text NOT NULL,
    CONSTRAINT events_check CHECK (((board_id IS NULL) = (board_sequence IS NULL)))
);

ALTER TABLE ONLY public.events FORCE ROW LEVEL SECURITY;

CREATE VIEW public.file_names WITH (security_invoker='true') AS
 SELECT NULL::uuid AS org_id,
    NULL::uuid AS id,
    NULL::text AS name
  WHERE false;

CREATE TABLE public.file_places (
    org_id uuid NOT NULL,
    file_id uuid NOT NULL,
    holder_id uuid NOT NULL,
    card_id uuid NOT NULL,
    id uuid NOT NULL
);

ALTER TABLE ONLY public.file_places FORCE ROW LEVEL SECURITY;

CREATE TABLE public.files (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    purpose text NOT NULL,
    filename text NOT NULL,
    content_type text NOT NULL,
    size_bytes bigint,
    sha256 text,
    object_id uuid,
    upload_ends_at timestamp with time zone NOT NULL,
    committed_at timestamp with time zone,
    deleted_at timestamp with time zone,
    sweep_at timestamp with time zone,
    created_by uuid NOT NULL,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    idle_since timestamp with time zone,
    CONSTRAINT files_purpose_check CHECK ((purpose = ANY (ARRAY['feedback_screenshot'::text, 'attachment'::text, 'avatar'::text, 'icon'::text, 'import'::text, 'export'::text]))),
    CONSTRAINT files_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'available'::text, 'expired'::text])))
);

ALTER TABLE ONLY public.files FORCE ROW LEVEL SECURITY;

CREATE VIEW public.file_view WITH (security_invoker='true') AS
 SELECT f.org_id,
    f.id,
        CASE
            WHEN ((f.status = 'pending'::text) AND (f.upload_ends_at <= now())) THEN 'expired'::text
            ELSE f.status
        END AS status,
    f.purpose,
    f.filename,
    f.content_type,
    f.size_bytes,
    f.sha256,
    NULL::text AS url,
    NULL::timestamp with time zone AS url_expires_at,
        CASE
            WHEN (f.status = 'pending'::text) THEN f.upload_ends_at
            ELSE NULL::timestamp with time zone
        END AS expires_at,
    f.committed_at,
    json_build_object('object', 'user', 'id', f.created_by, 'principal_type', COALESCE(p.type, 'system'::text), 'name', p.name) AS created_by,
    f.created_time,
    f.object_id,
    f.created_by AS uploader,
    f.status AS kept_status,
    f.deleted_at,
    f.version
   FROM (public.files f
     LEFT JOIN public.principals p ON (((p.org_id = f.org_id) AND (p.id = f.created_by))));

CREATE VIEW public.found_view WITH (security_invoker='true') AS
 SELECT b.org_id,
    'board'::text AS object,
    b.id,
    b.id AS board_id,
    NULL::uuid AS card_id,
    NULL::text AS type,
    b.key,
    b.name AS title,
    ((b.name || ' '::text) || COALESCE(b.description, ''::text)) AS says,
    b.words,
    b.created_time,
    b.last_edited_time
   FROM public.boards b
  WHERE (NOT b.in_trash)
UNION ALL
 SELECT c.org_id,
    'card'::text AS object,
    c.id,
    c.board_id,
    c.id AS card_id,
    NULL::text AS type,
    ((b.key || '-'::text) || c.number) AS key,
    c.title,
    c.title AS says,
    c.words,
    c.created_time,
    c.last_edited_time
   FROM (public.cards c
     JOIN public.boards b ON (((b.org_id = c.org_id) AND (b.id = c.board_id))))
  WHERE (NOT c.in_trash)
UNION ALL
 SELECT k.org_id,
    'block'::text AS object,
    k.id,
    c.board_id,
    c.id AS card_id,
    k.type,
    ((b.key || '-'::text) || c.number) AS key,
    c.title,
    k.plain AS says,
    k.words,
    k.created_time,
    k.last_edited_time
   FROM ((public.blocks k
     JOIN public.cards c ON (((c.org_id = k.org_id) AND (c.id = k.card_id) AND (NOT c.in_trash))))
     JOIN public.boards b ON (((b.org_id = c.org_id) AND (b.id = c.board_id))))
  WHERE (k.trashed_by IS NULL)
UNION ALL
 SELECT m.org_id,
    'comment'::text AS object,
    m.id,
    c.board_id,
    c.id AS card_id,
    NULL::text AS type,
    ((b.key || '-'::text) || c.number) AS key,
    c.title,
    m.plain AS says,
    m.words,
    m.created_time,
    m.last_edited_time
   FROM ((public.comments m
     JOIN public.cards c ON (((c.org_id = m.org_id) AND (c.id = m.card_id) AND (NOT c.in_trash))))
     JOIN public.boards b ON (((b.org_id = c.org_id) AND (b.id = c.board_id))))
  WHERE (NOT m.in_trash);

CREATE TABLE public.idempotency_keys (
    org_id uuid NOT NULL,
    principal_id uuid NOT NULL,
    request bytea NOT NULL,
    body bytea NOT NULL,
    status integer NOT NULL,
    answer bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT idempotency_keys_body_check CHECK ((length(body) = 32)),
    CONSTRAINT idempotency_keys_request_check CHECK ((length(request) = 32))
);

ALTER TABLE ONLY public.idempotency_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE public.identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id uuid NOT NULL,
    email text,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    last_used_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.identities FORCE ROW LEVEL SECURITY;

CREATE TABLE public.jobs (
    org_id uuid NOT NULL,
    kind text NOT NULL,
    key text NOT NULL,
    state text NOT NULL,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    lease uuid,
    again_at timestamp with time zone,
    payload text DEFAULT ''::text NOT NULL,
    last_error text,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT jobs_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'ready'::text, 'running'::text, 'failed'::text])))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0');

ALTER TABLE ONLY public.jobs FORCE ROW LEVEL SECURITY;

CREATE TABLE public.lease_outcomes (
    org_id uuid NOT NULL,
    lease_id uuid NOT NULL,
    card_id uuid NOT NULL,
    digest bytea NOT NULL,
    state text NOT NULL,
    lease json NOT NULL,
    card json,
    ended_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT lease_outcomes_state_check CHECK ((state = ANY (ARRAY['completed'::text, 'failed'::text, 'expired'::text, 'released'::text, 'revoked'::text])))
);

ALTER TABLE ONLY public.lease_outcomes FORCE ROW LEVEL SECURITY;

CREATE TABLE public.mail_outbox (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    template text NOT NULL,
    recipient text NOT NULL,
    subject text NOT NULL,
    text_body text NOT NULL,
    html_body text NOT NULL,
    link text,
    status text DEFAULT 'queued'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    sent_at timestamp with time zone,
    CONSTRAINT mail_outbox_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'sending'::text, 'sent'::text, 'failed'::text])))
)
WITH (fillfactor='70');

ALTER TABLE ONLY public.mail_outbox FORCE ROW LEVEL SECURITY;

CREATE TABLE public.mcp_ended_sessions (
    org_id uuid NOT NULL,
    session_id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.mcp_ended_sessions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.outbox (
    id bigint NOT NULL,
    org_id uuid NOT NULL,
    entry_id uuid NOT NULL,
    kind text,
    outcome text NOT NULL,
    action text NOT NULL,
    object text,
    object_id uuid,
    object_name text,
    version bigint NOT NULL,
    board_id uuid,
    column_id uuid,
    card_id uuid,
    parent_id uuid,
    changes text NOT NULL,
    previous text NOT NULL,
    truncated text,
    actor text NOT NULL,
    mutation_id uuid,
    cause text,
    depth integer NOT NULL,
    client_address text,
    user_agent text,
    request_id text,
    occurred_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    moved_from text,
    moved_to text,
    subject text,
    CONSTRAINT outbox_outcome_check CHECK ((outcome = ANY (ARRAY['success'::text, 'denied'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_insert_threshold='-1', autovacuum_vacuum_cost_delay='0');

ALTER TABLE ONLY public.outbox FORCE ROW LEVEL SECURITY;

ALTER TABLE public.outbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.outbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.password_resets (
    token_digest bytea NOT NULL,
    email_key text NOT NULL,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.password_resets FORCE ROW LEVEL SECURITY;

CREATE TABLE public.passwords (
    user_id uuid NOT NULL,
    hash text NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    version bigint DEFAULT 1 NOT NULL
);

ALTER TABLE ONLY public.passwords FORCE ROW LEVEL SECURITY;

CREATE TABLE public.rate_windows (
    reason text NOT NULL,
    key bytea NOT NULL,
    count integer DEFAULT 1 NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    CONSTRAINT rate_windows_key_check CHECK ((length(key) = 32))
)
WITH (fillfactor='80');

CREATE TABLE public.server_key (
    only_row boolean DEFAULT true NOT NULL,
    fingerprint text NOT NULL,
    noted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT server_key_only_row_check CHECK (only_row)
);

CREATE TABLE public.sessions (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    auth_method text NOT NULL,
    active_org_id uuid,
    ip_address text,
    user_agent text,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    last_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    CONSTRAINT sessions_auth_method_check CHECK ((auth_method = ANY (ARRAY['password'::text, 'google'::text, 'email_verification'::text, 'password_reset'::text])))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.sessions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.share_links (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    board_id uuid NOT NULL,
    card_id uuid,
    digest text NOT NULL,
    password_hash text,
    hidden_properties jsonb DEFAULT '[]'::jsonb NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    view_count bigint DEFAULT 0 NOT NULL,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    created_by jsonb NOT NULL,
    last_edited_time timestamp with time zone DEFAULT now() NOT NULL,
    last_edited_by jsonb NOT NULL,
    version bigint DEFAULT 1 NOT NULL
);

ALTER TABLE ONLY public.share_links FORCE ROW LEVEL SECURITY;

CREATE TABLE public.sign_ups (
    id uuid NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    token_digest bytea NOT NULL,
    password_hash text,
    name text,
    preferences jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.sign_ups FORCE ROW LEVEL SECURITY;

CREATE TABLE public.stored_bytes (
    org_id uuid NOT NULL,
    bytes bigint NOT NULL,
    has_grown boolean DEFAULT true NOT NULL,
    counted_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.stored_bytes FORCE ROW LEVEL SECURITY;

CREATE TABLE public.stored_more (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    bytes bigint NOT NULL,
    fits boolean NOT NULL,
    CONSTRAINT storage_within_plan CHECK (fits)
);

ALTER TABLE ONLY public.stored_more FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tokens (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    digest bytea NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    agent_id uuid,
    owner_user_id uuid NOT NULL,
    hint text NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    created_time timestamp with time zone DEFAULT now() NOT NULL,
    created_by uuid NOT NULL,
    last_edited_time timestamp with time zone DEFAULT now() NOT NULL,
    last_edited_by uuid NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT tokens_check CHECK (((kind = 'agent'::text) = (agent_id IS NOT NULL))),
    CONSTRAINT tokens_kind_check CHECK ((kind = ANY (ARRAY['agent'::text, 'integration'::text]))),
    CONSTRAINT tokens_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'member'::text, 'admin'::text])))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.tokens FORCE ROW LEVEL SECURITY;
