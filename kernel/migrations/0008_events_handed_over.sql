-- What an event is about and who did it, beside its text, so that nobody reads the text for it.
ALTER TABLE events
    ADD COLUMN object text,
    ADD COLUMN object_id uuid,
    ADD COLUMN column_id uuid,
    ADD COLUMN card_id uuid,
    ADD COLUMN actor text;                 -- JSON as text
GRANT UPDATE ON events TO CURRENT_USER;
UPDATE events
SET object = envelope::json #>> '{data,object}',
    object_id = (envelope::json #>> '{data,id}')::uuid,
    column_id = (envelope::json #>> '{data,column_id}')::uuid,
    card_id = (envelope::json #>> '{data,card_id}')::uuid,
    actor = (envelope::json -> 'actor')::text
WHERE org_id IS NOT NULL;
REVOKE UPDATE ON events FROM CURRENT_USER;
ALTER TABLE events
    ALTER COLUMN object SET NOT NULL,
    ALTER COLUMN object_id SET NOT NULL,
    ALTER COLUMN actor SET NOT NULL;

-- Which events a consumer has handed over to whom, and are not handled yet: one row for each event
-- and subscriber. A job for each subscriber handles them in their order.
CREATE TABLE event_deliveries (
    org_id     uuid NOT NULL,
    consumer   text NOT NULL,
    subscriber text NOT NULL,
    sequence   bigint NOT NULL,            -- of the event
    PRIMARY KEY (org_id, consumer, subscriber, sequence)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);
ALTER TABLE event_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE event_deliveries FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON event_deliveries
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

-- Events that were seen and not handled are handed over anew; who has handled one knows it.
UPDATE event_consumers c
SET position = least(
    c.position,
    (SELECT min(b.position) FROM event_backlogs b
     WHERE b.org_id IS NOT NULL AND b.consumer = c.name));
DROP TABLE event_backlogs;

ALTER TABLE event_dead_letters ADD COLUMN subscriber text NOT NULL DEFAULT '';
ALTER TABLE event_dead_letters DROP CONSTRAINT event_dead_letters_pkey;
ALTER TABLE event_dead_letters ADD PRIMARY KEY (org_id, consumer, subscriber, sequence);
