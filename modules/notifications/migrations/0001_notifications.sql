-- What people and agents are told of what happened, kept until they have read it and a while longer.

-- Somebody's notifications of a workspace as a whole. Its row is the lock for all that changes
-- whether they are read.
CREATE TABLE notification_inboxes (
    org_id      uuid NOT NULL,
    user_id     uuid NOT NULL,               -- a person or an agent
    epoch       bigint NOT NULL DEFAULT 1,   -- rises when everything is marked read
    read_all_at timestamptz,                 -- when it last rose
    news        bigint NOT NULL DEFAULT 0,   -- rises with everything that open pages have to hear of
    changed_at  timestamptz NOT NULL DEFAULT now(),
    mails       integer NOT NULL DEFAULT 0,  -- single ones in the hour that began at mails_since
    mails_since timestamptz,
    digest_at   timestamptz,                 -- when there is something to sum up: by when
    digested_at timestamptz NOT NULL DEFAULT now(),  -- what came before was summed up
    PRIMARY KEY (org_id, user_id)
) WITH (fillfactor = 70);
CREATE INDEX notification_inboxes_due ON notification_inboxes (org_id, digest_at)
    WHERE digest_at IS NOT NULL;

-- Unread is what has no read_at and is of the inbox's epoch, so marking everything read is one
-- write; a job gives read_at to what is of earlier epochs.
CREATE TABLE notifications (
    org_id       uuid NOT NULL,
    user_id      uuid NOT NULL,
    id           uuid NOT NULL,
    kind         text NOT NULL,
    epoch        bigint NOT NULL,
    subject_id   uuid NOT NULL,            -- what repeats are grouped by: the card, or what it is about
    least_role   text NOT NULL CHECK (least_role IN ('viewer', 'admin', 'owner')),
    board_id     uuid,                     -- whoever may not see it is not shown this
    card_id      uuid,
    target_type  text NOT NULL,
    target_id    uuid NOT NULL,
    actor        json,                     -- a PrincipalRef
    title        text NOT NULL,
    body         text,
    event_id     uuid,                     -- the newest of those it is about
    event_count  bigint NOT NULL DEFAULT 1,
    created_time timestamptz NOT NULL,     -- of the newest
    read_at      timestamptz,
    PRIMARY KEY (org_id, user_id, id)
) WITH (fillfactor = 85);
CREATE UNIQUE INDEX notifications_grouped
    ON notifications (org_id, user_id, kind, subject_id, epoch) WHERE read_at IS NULL;
CREATE INDEX notifications_in_order ON notifications (org_id, user_id, created_time DESC, id DESC);
CREATE INDEX notifications_unread
    ON notifications (org_id, user_id, epoch, created_time DESC, id DESC)
    WHERE read_at IS NULL;
CREATE INDEX notifications_by_card ON notifications (org_id, card_id, user_id, id)
    WHERE card_id IS NOT NULL;
CREATE INDEX notifications_by_age ON notifications (org_id, created_time);

-- What belongs to no workspace that its owner is in: invitations. Few, and found by their owner, so
-- they are in no workspace's table.
CREATE TABLE personal_notifications (
    user_id      uuid NOT NULL,
    id           uuid NOT NULL,
    kind         text NOT NULL,
    about_org    uuid NOT NULL,
    target_type  text NOT NULL,
    target_id    uuid NOT NULL,
    actor        json,
    title        text NOT NULL,
    body         text,
    event_id     uuid,
    created_time timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz,
    read_at      timestamptz,
    PRIMARY KEY (user_id, id)
);
CREATE UNIQUE INDEX personal_notifications_by_target
    ON personal_notifications (about_org, target_id, user_id);

-- How many are unread, by what decides whether their owner may see them: so that counting does not
-- read them. A nil board_id: on no board.
CREATE TABLE notification_counts (
    org_id     uuid NOT NULL,
    user_id    uuid NOT NULL,
    board_id   uuid NOT NULL,
    least_role text NOT NULL,
    unread     bigint NOT NULL,
    PRIMARY KEY (org_id, user_id, board_id, least_role)
) WITH (fillfactor = 70);

-- What notifications are still to be made of: events, and what other modules want somebody to know.
CREATE TABLE notification_work (
    org_id   uuid NOT NULL,
    id       uuid NOT NULL,                -- in the order of the events
    position bigint,                       -- of the event
    notice   json,                         -- or this
    attempts integer NOT NULL DEFAULT 0,
    due_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);

-- Which due date of a card has been told.
CREATE TABLE notification_due_cards (
    org_id  uuid NOT NULL,
    card_id uuid NOT NULL,
    due     text NOT NULL,
    PRIMARY KEY (org_id, card_id)
);

ALTER TABLE notification_inboxes ENABLE ROW LEVEL SECURITY;
ALTER TABLE notification_inboxes FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON notification_inboxes
    USING (org_id = svc_org() OR user_id = svc_user() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR user_id = svc_user() OR svc_all_orgs());
ALTER TABLE notifications ENABLE ROW LEVEL SECURITY;
ALTER TABLE notifications FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON notifications
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
ALTER TABLE personal_notifications ENABLE ROW LEVEL SECURITY;
ALTER TABLE personal_notifications FORCE ROW LEVEL SECURITY;
CREATE POLICY by_person ON personal_notifications
    USING (user_id = svc_user() OR svc_all_orgs())
    WITH CHECK (user_id = svc_user() OR svc_all_orgs());
ALTER TABLE notification_counts ENABLE ROW LEVEL SECURITY;
ALTER TABLE notification_counts FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON notification_counts
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
ALTER TABLE notification_work ENABLE ROW LEVEL SECURITY;
ALTER TABLE notification_work FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON notification_work
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
ALTER TABLE notification_due_cards ENABLE ROW LEVEL SECURITY;
ALTER TABLE notification_due_cards FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON notification_due_cards
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

-- When the next digest is due for somebody who wants one `daily`, or `weekly` on that day of the
-- week; null for `off`. A time zone that the database does not know is taken for UTC.
CREATE FUNCTION notification_digest_time(
    often text, hour bigint, week_start text, zone text, after timestamptz
) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
    local timestamp;
    due timestamp;
    first integer := CASE week_start WHEN 'sunday' THEN 0 WHEN 'saturday' THEN 6 ELSE 1 END;
BEGIN
    IF often NOT IN ('daily', 'weekly') THEN
        RETURN NULL;
    END IF;
    BEGIN
        local := after AT TIME ZONE zone;
    EXCEPTION WHEN invalid_parameter_value THEN
        zone := 'UTC';
        local := after AT TIME ZONE zone;
    END;
    due := date_trunc('day', local) + make_interval(hours => hour::integer);
    IF often = 'weekly' THEN
        due := due + make_interval(days => (first - extract(dow FROM due)::integer + 7) % 7);
    END IF;
    IF due <= local THEN
        due := due + make_interval(days => CASE often WHEN 'weekly' THEN 7 ELSE 1 END);
    END IF;
    RETURN due AT TIME ZONE zone;
END $$;
