-- The schema at d8532bc, all modules, as pg_dump --schema-only has it; comments, owners and
-- privileges left out. Part 5 of 6.
SET check_function_bodies = false;
SET client_min_messages = warning;
SET search_path = '';

CREATE VIEW public.token_view WITH (security_invoker='true') AS
 SELECT t.org_id,
    t.id,
    t.kind,
    t.name,
    t.role,
    public.lower_role(public.lower_role(t.role, a.role), public.lower_role(o.role, COALESCE(m.role, 'viewer'::text))) AS effective_role,
    t.agent_id,
    t.owner_user_id,
    t.hint,
        CASE
            WHEN (t.revoked_at IS NOT NULL) THEN 'revoked'::text
            WHEN (t.expires_at <= now()) THEN 'expired'::text
            ELSE 'active'::text
        END AS status,
    t.expires_at,
    t.last_used_at,
    t.revoked_at,
    t.created_time,
    json_build_object('id', t.created_by, 'principal_type', COALESCE(c.type, 'system'::text), 'name', c.name) AS created_by,
    t.last_edited_time,
    json_build_object('id', t.last_edited_by, 'principal_type', COALESCE(e.type, 'system'::text), 'name', e.name) AS last_edited_by,
    t.version,
    NULL::text AS token
   FROM (((((public.tokens t
     LEFT JOIN public.agents a ON (((a.org_id = t.org_id) AND (a.id = t.agent_id))))
     LEFT JOIN public.memberships o ON (((o.org_id = t.org_id) AND (o.user_id = a.owner_user_id))))
     LEFT JOIN public.memberships m ON (((m.org_id = t.org_id) AND (m.user_id = t.owner_user_id))))
     LEFT JOIN public.principals c ON (((c.org_id = t.org_id) AND (c.id = t.created_by))))
     LEFT JOIN public.principals e ON (((e.org_id = t.org_id) AND (e.id = t.last_edited_by))));

ALTER TABLE ONLY public.agent_usage
    ADD CONSTRAINT agent_usage_pkey PRIMARY KEY (org_id, agent_id);

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_pkey PRIMARY KEY (org_id, sequence);

ALTER TABLE ONLY public.automation_runs
    ADD CONSTRAINT automation_runs_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.blocks
    ADD CONSTRAINT blocks_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.board_copies
    ADD CONSTRAINT board_copies_pkey PRIMARY KEY (org_id, board_id);

ALTER TABLE ONLY public.board_copy_cards
    ADD CONSTRAINT board_copy_cards_of_source UNIQUE (org_id, board_id, source_id);

ALTER TABLE ONLY public.board_copy_cards
    ADD CONSTRAINT board_copy_cards_pkey PRIMARY KEY (org_id, board_id, number);

ALTER TABLE ONLY public.board_counters
    ADD CONSTRAINT board_counters_pkey PRIMARY KEY (org_id, board_id);

ALTER TABLE ONLY public.board_grants
    ADD CONSTRAINT board_grants_pkey PRIMARY KEY (org_id, principal_id, board_id);

ALTER TABLE ONLY public.boards
    ADD CONSTRAINT boards_key_taken UNIQUE (org_id, key);

ALTER TABLE ONLY public.boards
    ADD CONSTRAINT boards_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.card_assignees
    ADD CONSTRAINT card_assignees_pkey PRIMARY KEY (org_id, principal_id, card_id);

ALTER TABLE ONLY public.card_links
    ADD CONSTRAINT card_links_pkey PRIMARY KEY (org_id, card_id, kind, target_id);

ALTER TABLE ONLY public.card_rewrites
    ADD CONSTRAINT card_rewrites_pkey PRIMARY KEY (org_id, board_id);

ALTER TABLE ONLY public.card_versions
    ADD CONSTRAINT card_versions_pkey PRIMARY KEY (org_id, card_id, last_version);

ALTER TABLE ONLY public.card_watchers
    ADD CONSTRAINT card_watchers_pkey PRIMARY KEY (org_id, card_id, principal_id);

ALTER TABLE ONLY public.cards
    ADD CONSTRAINT cards_number UNIQUE (org_id, board_id, number);

ALTER TABLE ONLY public.cards
    ADD CONSTRAINT cards_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.columns
    ADD CONSTRAINT columns_of_board UNIQUE (org_id, board_id, id);

ALTER TABLE ONLY public.columns
    ADD CONSTRAINT columns_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.comments
    ADD CONSTRAINT comments_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.event_board_heads
    ADD CONSTRAINT event_board_heads_pkey PRIMARY KEY (org_id, board_id);

ALTER TABLE ONLY public.event_consumers
    ADD CONSTRAINT event_consumers_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.event_dead_letters
    ADD CONSTRAINT event_dead_letters_pkey PRIMARY KEY (org_id, consumer, subscriber, sequence);

ALTER TABLE ONLY public.event_deliveries
    ADD CONSTRAINT event_deliveries_pkey PRIMARY KEY (org_id, consumer, subscriber, sequence);

ALTER TABLE ONLY public.event_heads
    ADD CONSTRAINT event_heads_pkey PRIMARY KEY (org_id);

ALTER TABLE ONLY public.event_position
    ADD CONSTRAINT event_position_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (org_id, sequence);

ALTER TABLE ONLY public.file_places
    ADD CONSTRAINT file_places_pkey PRIMARY KEY (org_id, file_id, holder_id);

ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (org_id, principal_id, request);

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_pkey PRIMARY KEY (issuer, subject);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (org_id, kind, key);

ALTER TABLE ONLY public.labels
    ADD CONSTRAINT labels_name_taken UNIQUE (org_id, board_id, name_key);

ALTER TABLE ONLY public.labels
    ADD CONSTRAINT labels_pkey PRIMARY KEY (org_id, board_id, id);

ALTER TABLE ONLY public.lease_outcomes
    ADD CONSTRAINT lease_outcomes_pkey PRIMARY KEY (org_id, lease_id);

ALTER TABLE ONLY public.mail_outbox
    ADD CONSTRAINT mail_outbox_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.mcp_ended_sessions
    ADD CONSTRAINT mcp_ended_sessions_pkey PRIMARY KEY (org_id, session_id);

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_pkey PRIMARY KEY (org_id, user_id);

ALTER TABLE ONLY public.orgs
    ADD CONSTRAINT orgs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.orgs
    ADD CONSTRAINT orgs_slug_taken UNIQUE (slug);

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (id, org_id);

ALTER TABLE ONLY public.password_resets
    ADD CONSTRAINT password_resets_pkey PRIMARY KEY (token_digest);

ALTER TABLE ONLY public.passwords
    ADD CONSTRAINT passwords_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY public.principals
    ADD CONSTRAINT principals_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.properties
    ADD CONSTRAINT properties_name_taken UNIQUE (org_id, board_id, name_key);

ALTER TABLE ONLY public.properties
    ADD CONSTRAINT properties_pkey PRIMARY KEY (org_id, board_id, id);

ALTER TABLE ONLY public.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (org_id, card_id);

ALTER TABLE ONLY public.rate_windows
    ADD CONSTRAINT rate_windows_pkey PRIMARY KEY (reason, key);

ALTER TABLE ONLY public.server_key
    ADD CONSTRAINT server_key_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.share_links
    ADD CONSTRAINT share_links_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.sign_ups
    ADD CONSTRAINT sign_ups_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.sign_ups
    ADD CONSTRAINT sign_ups_token_digest_key UNIQUE (token_digest);

ALTER TABLE ONLY public.stored_bytes
    ADD CONSTRAINT stored_bytes_pkey PRIMARY KEY (org_id);

ALTER TABLE ONLY public.stored_more
    ADD CONSTRAINT stored_more_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_digest UNIQUE (digest);

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_email_key_key UNIQUE (email_key);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

CREATE INDEX audit_events_by_card ON public.audit_events USING btree (org_id, card_id, occurred_at, id) WHERE (card_id IS NOT NULL);

CREATE INDEX automation_runs_by_age ON public.automation_runs USING btree (org_id, created_time);

CREATE INDEX automation_runs_newest ON public.automation_runs USING btree (org_id, automation_id, created_time DESC, id DESC);

CREATE UNIQUE INDEX automation_runs_once ON public.automation_runs USING btree (org_id, automation_id, event_id, attempt) WHERE (mode <> 'dry_run'::text);

CREATE INDEX blocks_by_card ON public.blocks USING btree (org_id, card_id);

CREATE INDEX blocks_by_edit ON public.blocks USING btree (org_id, last_edited_time, id);

CREATE INDEX blocks_by_words ON public.blocks USING gin (org_id, words);

CREATE INDEX blocks_in_order ON public.blocks USING btree (org_id, parent_id, "position", id);

CREATE INDEX blocks_in_trash ON public.blocks USING btree (org_id, trashed_at) WHERE (trashed_by = id);

CREATE INDEX board_grants_by_board ON public.board_grants USING btree (org_id, board_id);

CREATE INDEX boards_in_trash ON public.boards USING btree (org_id, last_edited_time) WHERE in_trash;

CREATE INDEX card_assignees_by_card ON public.card_assignees USING btree (org_id, card_id);

CREATE UNIQUE INDEX card_links_by_id ON public.card_links USING btree (org_id, id) WHERE (id IS NOT NULL);

CREATE INDEX card_links_by_target ON public.card_links USING btree (org_id, target_id, kind, card_id) WHERE (target_id IS NOT NULL);

CREATE INDEX card_watchers_by_principal ON public.card_watchers USING btree (org_id, principal_id, card_id);

CREATE INDEX cards_by_due ON public.cards USING btree (org_id, board_id, is_archived, due_key, id) WHERE (NOT in_trash);

CREATE INDEX cards_by_edit ON public.cards USING btree (org_id, last_edited_time, id);

CREATE INDEX cards_by_external_key ON public.cards USING btree (org_id, external_key) WHERE (external_key IS NOT NULL);

CREATE INDEX cards_by_parent ON public.cards USING btree (org_id, parent_card_id) WHERE (parent_card_id IS NOT NULL);

CREATE INDEX cards_by_priority ON public.cards USING btree (org_id, board_id, is_archived, priority_key, id) WHERE (NOT in_trash);

CREATE INDEX cards_by_words ON public.cards USING gin (org_id, words);

CREATE UNIQUE INDEX cards_external_key_taken ON public.cards USING btree (org_id, board_id, external_key) WHERE ((external_key IS NOT NULL) AND (completed_at IS NULL) AND (NOT is_archived) AND (NOT in_trash));

CREATE INDEX cards_in_order ON public.cards USING btree (org_id, column_id, "position", id) WHERE ((NOT is_archived) AND (NOT in_trash));

CREATE INDEX cards_in_trash ON public.cards USING btree (org_id, last_edited_time) WHERE in_trash;

CREATE INDEX cards_put_away ON public.cards USING btree (org_id, column_id, "position", id) WHERE (is_archived OR in_trash);

CREATE INDEX columns_in_order ON public.columns USING btree (org_id, board_id, "position", id);

CREATE INDEX comments_by_card ON public.comments USING btree (org_id, card_id, id);

CREATE INDEX comments_by_discussion ON public.comments USING btree (org_id, discussion_id, id);

CREATE INDEX comments_by_edit ON public.comments USING btree (org_id, last_edited_time, id);

CREATE INDEX comments_by_words ON public.comments USING gin (org_id, words);

CREATE INDEX comments_in_trash ON public.comments USING btree (org_id, trashed_at) WHERE (trashed_at IS NOT NULL);

CREATE UNIQUE INDEX events_by_board ON public.events USING btree (org_id, board_id, board_sequence) WHERE (board_id IS NOT NULL);

CREATE UNIQUE INDEX events_by_id ON public.events USING btree (org_id, event_id);

CREATE INDEX events_by_position ON public.events USING btree ("position");

CREATE INDEX file_places_by_card ON public.file_places USING btree (org_id, card_id);

CREATE INDEX file_places_by_holder ON public.file_places USING btree (org_id, holder_id, id);

CREATE INDEX files_on_their_way ON public.files USING btree (org_id, created_by) WHERE (status = 'pending'::text);

CREATE INDEX files_to_sweep ON public.files USING btree (org_id, sweep_at) WHERE (sweep_at IS NOT NULL);

CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING btree (org_id, created_at);

CREATE INDEX identities_by_user ON public.identities USING btree (user_id);

CREATE INDEX invitations_by_email ON public.invitations USING btree (email_key, id);

CREATE INDEX invitations_by_expiry ON public.invitations USING btree (expires_at) WHERE (status = 'pending'::text);

CREATE INDEX invitations_by_token ON public.invitations USING btree (token_digest);

CREATE UNIQUE INDEX invitations_pending ON public.invitations USING btree (org_id, email_key) WHERE (status = 'pending'::text);

CREATE INDEX jobs_due ON public.jobs USING btree (due_at) WHERE (state = ANY (ARRAY['waiting'::text, 'running'::text]));

CREATE INDEX jobs_failed ON public.jobs USING btree (kind, due_at) WHERE (state = 'failed'::text);

CREATE INDEX jobs_ready ON public.jobs USING btree (kind, org_id, due_at) WHERE (state = 'ready'::text);

CREATE INDEX lease_outcomes_by_card ON public.lease_outcomes USING btree (org_id, card_id, ended_at);

CREATE INDEX mail_outbox_failed ON public.mail_outbox USING btree (org_id) WHERE (status = 'failed'::text);

CREATE INDEX mcp_ended_sessions_by_expiry ON public.mcp_ended_sessions USING btree (org_id, expires_at);

CREATE INDEX memberships_by_age ON public.memberships USING btree (org_id, id);

CREATE INDEX memberships_by_user ON public.memberships USING btree (user_id, org_id);

CREATE INDEX orgs_deleted ON public.orgs USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);

CREATE INDEX password_resets_by_email ON public.password_resets USING btree (email_key);

CREATE INDEX password_resets_by_expiry ON public.password_resets USING btree (expires_at);

CREATE INDEX queue_backoff ON public.queue USING btree (org_id, available_at) WHERE (state = 'backoff'::text);

CREATE INDEX queue_exhausted ON public.queue USING btree (org_id) WHERE (state = 'exhausted'::text);

CREATE INDEX queue_held ON public.queue USING btree (org_id) WHERE (state = 'held'::text);

CREATE INDEX queue_leased ON public.queue USING btree (org_id, lease_id) WHERE (lease_id IS NOT NULL);

CREATE INDEX queue_ready ON public.queue USING btree (org_id, column_id, urgency, place, card_id) WHERE (state = 'ready'::text);

CREATE INDEX rate_windows_by_end ON public.rate_windows USING btree (ends_at);

CREATE INDEX sessions_by_expiry ON public.sessions USING btree (expires_at);

CREATE INDEX sessions_by_use ON public.sessions USING btree (user_id, last_seen_at DESC);

CREATE INDEX sessions_by_user ON public.sessions USING btree (user_id, id);

CREATE INDEX share_links_by_board ON public.share_links USING btree (org_id, board_id, id);

CREATE UNIQUE INDEX share_links_by_digest ON public.share_links USING btree (org_id, digest);

CREATE INDEX sign_ups_by_email ON public.sign_ups USING btree (email_key, created_time);

CREATE INDEX sign_ups_by_expiry ON public.sign_ups USING btree (expires_at);

CREATE INDEX tokens_by_agent ON public.tokens USING btree (org_id, agent_id) WHERE (agent_id IS NOT NULL);

CREATE INDEX tokens_by_owner ON public.tokens USING btree (org_id, owner_user_id);

ALTER TABLE ONLY public.agent_usage
    ADD CONSTRAINT agent_usage_agent FOREIGN KEY (org_id, agent_id) REFERENCES public.agents(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_org FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.automation_runs
    ADD CONSTRAINT automation_runs_org FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.blocks
    ADD CONSTRAINT blocks_card FOREIGN KEY (org_id, card_id) REFERENCES public.cards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.board_copies
    ADD CONSTRAINT board_copies_board FOREIGN KEY (org_id, board_id) REFERENCES public.boards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.board_copy_cards
    ADD CONSTRAINT board_copy_cards_copy FOREIGN KEY (org_id, board_id) REFERENCES public.board_copies(org_id, board_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.board_counters
    ADD CONSTRAINT board_counters_board FOREIGN KEY (org_id, board_id) REFERENCES public.boards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.board_grants
    ADD CONSTRAINT board_grants_board FOREIGN KEY (org_id, board_id) REFERENCES public.boards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.boards
    ADD CONSTRAINT boards_org FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.card_assignees
    ADD CONSTRAINT card_assignees_card FOREIGN KEY (org_id, card_id) REFERENCES public.cards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.card_links
    ADD CONSTRAINT card_links_card FOREIGN KEY (org_id, card_id) REFERENCES public.cards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.card_links
    ADD CONSTRAINT card_links_target FOREIGN KEY (org_id, target_id) REFERENCES public.cards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.card_rewrites
    ADD CONSTRAINT card_rewrites_board FOREIGN KEY (org_id, board_id) REFERENCES public.boards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.card_versions
    ADD CONSTRAINT card_versions_card FOREIGN KEY (org_id, card_id) REFERENCES public.cards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.card_watchers
    ADD CONSTRAINT card_watchers_card FOREIGN KEY (org_id, card_id) REFERENCES public.cards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.cards
    ADD CONSTRAINT cards_column FOREIGN KEY (org_id, board_id, column_id) REFERENCES public.columns(org_id, board_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.columns
    ADD CONSTRAINT columns_board FOREIGN KEY (org_id, board_id) REFERENCES public.boards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.comments
    ADD CONSTRAINT comments_card FOREIGN KEY (org_id, card_id) REFERENCES public.cards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.file_places
    ADD CONSTRAINT file_places_card FOREIGN KEY (org_id, card_id) REFERENCES public.cards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.file_places
    ADD CONSTRAINT file_places_file FOREIGN KEY (org_id, file_id) REFERENCES public.files(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_user FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_org FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.labels
    ADD CONSTRAINT labels_board FOREIGN KEY (org_id, board_id) REFERENCES public.boards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.lease_outcomes
    ADD CONSTRAINT lease_outcomes_org FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;
