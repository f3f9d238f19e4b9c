-- The schema at d8532bc, all modules, as pg_dump --schema-only has it; comments, owners and
-- privileges left out. Part 6 of 6.
SET check_function_bodies = false;
SET client_min_messages = warning;
SET search_path = '';

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_org FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_user FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.passwords
    ADD CONSTRAINT passwords_user FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.principals
    ADD CONSTRAINT principals_org FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.properties
    ADD CONSTRAINT properties_board FOREIGN KEY (org_id, board_id) REFERENCES public.boards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.queue
    ADD CONSTRAINT queue_card FOREIGN KEY (org_id, card_id) REFERENCES public.cards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.share_links
    ADD CONSTRAINT share_links_board FOREIGN KEY (org_id, board_id) REFERENCES public.boards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.share_links
    ADD CONSTRAINT share_links_card FOREIGN KEY (org_id, card_id) REFERENCES public.cards(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.stored_bytes
    ADD CONSTRAINT stored_bytes_org FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_agent FOREIGN KEY (org_id, agent_id) REFERENCES public.agents(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_org FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

CREATE POLICY account_mail ON public.mail_outbox FOR INSERT WITH CHECK ((org_id = '00000000-0000-0000-0000-000000000000'::uuid));

CREATE POLICY add_by_org ON public.audit_events FOR INSERT WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY added ON public.identities FOR INSERT WITH CHECK (((user_id = public.svc_user()) OR public.svc_all_orgs()));

CREATE POLICY added ON public.memberships FOR INSERT WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY added ON public.password_resets FOR INSERT WITH CHECK (((email_key = public.svc_credential()) OR public.svc_all_orgs()));

CREATE POLICY added ON public.passwords FOR INSERT WITH CHECK (((user_id = public.svc_user()) OR public.svc_all_orgs()));

CREATE POLICY added ON public.sessions FOR INSERT WITH CHECK (((user_id = public.svc_user()) OR public.svc_all_orgs()));

CREATE POLICY added ON public.sign_ups FOR INSERT WITH CHECK (((email_key = public.svc_credential()) OR public.svc_all_orgs()));

CREATE POLICY added ON public.tokens FOR INSERT WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY added ON public.users FOR INSERT WITH CHECK (((id = public.svc_user()) OR (email_key = public.svc_credential()) OR public.svc_all_orgs()));

ALTER TABLE public.agent_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.agents ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.automation_runs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.blocks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.board_copies ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.board_copy_cards ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.board_counters ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.board_grants ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.boards ENABLE ROW LEVEL SECURITY;

CREATE POLICY by_org ON public.agent_usage USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.agents USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.automation_runs USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.blocks USING (((org_id = ( SELECT public.svc_org() AS svc_org)) OR ( SELECT public.svc_all_orgs() AS svc_all_orgs))) WITH CHECK (((org_id = ( SELECT public.svc_org() AS svc_org)) OR ( SELECT public.svc_all_orgs() AS svc_all_orgs)));

CREATE POLICY by_org ON public.board_copies USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.board_copy_cards USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.board_counters USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.board_grants USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.boards USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.card_assignees USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.card_links USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.card_rewrites USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.card_versions USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.card_watchers USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.cards USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.columns USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.comments USING (((org_id = ( SELECT public.svc_org() AS svc_org)) OR ( SELECT public.svc_all_orgs() AS svc_all_orgs))) WITH CHECK (((org_id = ( SELECT public.svc_org() AS svc_org)) OR ( SELECT public.svc_all_orgs() AS svc_all_orgs)));

CREATE POLICY by_org ON public.event_board_heads USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.event_dead_letters USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.event_deliveries USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.event_heads USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.events USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.file_places USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.files USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.idempotency_keys USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.invitations USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.jobs USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.labels USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.lease_outcomes USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.mail_outbox USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.mcp_ended_sessions USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.orgs USING (((id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.outbox USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.principals USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.properties USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.queue USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.share_links USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.stored_bytes USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_org ON public.stored_more USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY by_person ON public.idempotency_keys USING (((org_id = '00000000-0000-0000-0000-000000000000'::uuid) AND (principal_id = public.svc_user()))) WITH CHECK (((org_id = '00000000-0000-0000-0000-000000000000'::uuid) AND (principal_id = public.svc_user())));

CREATE POLICY by_token ON public.invitations FOR SELECT USING ((encode(token_digest, 'hex'::text) = public.svc_credential()));

ALTER TABLE public.card_assignees ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.card_links ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.card_rewrites ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.card_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.card_watchers ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.cards ENABLE ROW LEVEL SECURITY;

CREATE POLICY changed ON public.identities FOR UPDATE USING (((user_id = public.svc_user()) OR public.svc_all_orgs())) WITH CHECK (((user_id = public.svc_user()) OR public.svc_all_orgs()));

CREATE POLICY changed ON public.memberships FOR UPDATE USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY changed ON public.password_resets FOR UPDATE USING (public.svc_all_orgs()) WITH CHECK (public.svc_all_orgs());

CREATE POLICY changed ON public.passwords FOR UPDATE USING (((user_id = public.svc_user()) OR (user_id IN ( SELECT u.id
   FROM public.users u
  WHERE (u.email_key = public.svc_credential()))) OR public.svc_all_orgs())) WITH CHECK (((user_id = public.svc_user()) OR public.svc_all_orgs()));

CREATE POLICY changed ON public.sessions FOR UPDATE USING (((user_id = public.svc_user()) OR ((id)::text = public.svc_credential()) OR public.svc_all_orgs())) WITH CHECK (((user_id = public.svc_user()) OR ((id)::text = public.svc_credential()) OR public.svc_all_orgs()));

CREATE POLICY changed ON public.sign_ups FOR UPDATE USING (((email_key = public.svc_credential()) OR public.svc_all_orgs())) WITH CHECK (((email_key = public.svc_credential()) OR public.svc_all_orgs()));

CREATE POLICY changed ON public.tokens FOR UPDATE USING (((org_id = public.svc_org()) OR public.svc_all_orgs())) WITH CHECK (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY changed ON public.users FOR UPDATE USING (((id = public.svc_user()) OR (email_key = public.svc_credential()) OR public.svc_all_orgs())) WITH CHECK (((id = public.svc_user()) OR (email_key = public.svc_credential()) OR public.svc_all_orgs()));

ALTER TABLE public.columns ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.comments ENABLE ROW LEVEL SECURITY;

CREATE POLICY deleted ON public.identities FOR DELETE USING (((user_id = public.svc_user()) OR public.svc_all_orgs()));

CREATE POLICY deleted ON public.memberships FOR DELETE USING (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY deleted ON public.password_resets FOR DELETE USING (((email_key = public.svc_credential()) OR public.svc_all_orgs()));

CREATE POLICY deleted ON public.passwords FOR DELETE USING (((user_id = public.svc_user()) OR public.svc_all_orgs()));

CREATE POLICY deleted ON public.sessions FOR DELETE USING (public.svc_all_orgs());

CREATE POLICY deleted ON public.sign_ups FOR DELETE USING (((email_key = public.svc_credential()) OR (encode(token_digest, 'hex'::text) = public.svc_credential()) OR public.svc_all_orgs()));

CREATE POLICY deleted ON public.tokens FOR DELETE USING (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY deleted ON public.users FOR DELETE USING (public.svc_all_orgs());

ALTER TABLE public.event_board_heads ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.event_dead_letters ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.event_deliveries ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.event_heads ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.events ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.file_places ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.files ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.idempotency_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.identities ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.invitations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.jobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.labels ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.lease_outcomes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.mail_outbox ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.mcp_ended_sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memberships ENABLE ROW LEVEL SECURITY;

CREATE POLICY of_the_server ON public.jobs USING ((org_id = '00000000-0000-0000-0000-000000000000'::uuid)) WITH CHECK ((org_id = '00000000-0000-0000-0000-000000000000'::uuid));

ALTER TABLE public.orgs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.outbox ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.password_resets ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.passwords ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.principals ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.properties ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.queue ENABLE ROW LEVEL SECURITY;

CREATE POLICY read_by_org ON public.audit_events FOR SELECT USING (((org_id = public.svc_org()) OR public.svc_all_orgs()));

CREATE POLICY seen ON public.identities FOR SELECT USING (((user_id = public.svc_user()) OR (((issuer || ' '::text) || subject) = public.svc_credential()) OR public.svc_all_orgs()));

CREATE POLICY seen ON public.memberships FOR SELECT USING (((org_id = public.svc_org()) OR (user_id = public.svc_user()) OR public.svc_all_orgs()));

CREATE POLICY seen ON public.password_resets FOR SELECT USING (((email_key = public.svc_credential()) OR (encode(token_digest, 'hex'::text) = public.svc_credential()) OR public.svc_all_orgs()));

CREATE POLICY seen ON public.passwords FOR SELECT USING (((user_id = public.svc_user()) OR (user_id IN ( SELECT u.id
   FROM public.users u
  WHERE (u.email_key = public.svc_credential()))) OR public.svc_all_orgs()));

CREATE POLICY seen ON public.sessions FOR SELECT USING (((user_id = public.svc_user()) OR ((id)::text = public.svc_credential()) OR public.svc_all_orgs()));

CREATE POLICY seen ON public.sign_ups FOR SELECT USING (((email_key = public.svc_credential()) OR (encode(token_digest, 'hex'::text) = public.svc_credential()) OR public.svc_all_orgs()));

CREATE POLICY seen ON public.tokens FOR SELECT USING (((org_id = public.svc_org()) OR (encode(digest, 'hex'::text) = public.svc_credential()) OR public.svc_all_orgs()));

CREATE POLICY seen ON public.users FOR SELECT USING (((id = public.svc_user()) OR (email_key = public.svc_credential()) OR (id IN ( SELECT m.user_id
   FROM public.memberships m
  WHERE (m.org_id = public.svc_org()))) OR public.svc_all_orgs()));

ALTER TABLE public.sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.share_links ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.sign_ups ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.stored_bytes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.stored_more ENABLE ROW LEVEL SECURITY;

CREATE POLICY to_me ON public.invitations FOR SELECT USING (((email_key = public.svc_credential()) OR (email_key = ( SELECT u.email_key
   FROM public.users u
  WHERE ((u.id = public.svc_user()) AND u.email_verified)))));

ALTER TABLE public.tokens ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.users ENABLE ROW LEVEL SECURITY;
