-- What an event was about, where that is small or seldom changes, for the automations that answer
-- it; and of a move, where from and where to.
ALTER TABLE outbox
    ADD COLUMN moved_from text,            -- JSON as text
    ADD COLUMN moved_to text,
    ADD COLUMN subject text;
ALTER TABLE events ADD COLUMN subject text;

-- The workspaces whose events a consumer has seen and not yet handled, where it stopped between
-- them.
CREATE TABLE event_backlogs (
    org_id   uuid NOT NULL,
    consumer text NOT NULL,
    sequence bigint NOT NULL,              -- handled up to here
    until    bigint NOT NULL,              -- seen up to here
    position bigint NOT NULL,              -- at least up to here in the order of all
    tries    integer NOT NULL,             -- of the next one
    PRIMARY KEY (org_id, consumer)
) WITH (fillfactor = 50);

-- What a consumer could not handle, however often it tried.
CREATE TABLE event_dead_letters (
    org_id      uuid NOT NULL,
    consumer    text NOT NULL,
    sequence    bigint NOT NULL,
    event_id    uuid NOT NULL,
    kind        text NOT NULL,
    error       text NOT NULL,
    given_up_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, consumer, sequence)
);

ALTER TABLE event_backlogs ENABLE ROW LEVEL SECURITY;
ALTER TABLE event_backlogs FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON event_backlogs
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE event_dead_letters ENABLE ROW LEVEL SECURITY;
ALTER TABLE event_dead_letters FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON event_dead_letters
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
