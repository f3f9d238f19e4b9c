-- How leases ended goes with the card's place in the queue, whose row the same statement writes anyway.
-- Tied to the workspace, every ending shared the one row of it with all that ended at that moment, of
-- which PostgreSQL writes a list each time.
DELETE FROM lease_outcomes o
WHERE o.org_id IS NOT NULL
    AND NOT EXISTS (SELECT FROM queue q WHERE q.org_id = o.org_id AND q.card_id = o.card_id);
ALTER TABLE lease_outcomes
    DROP CONSTRAINT lease_outcomes_org,
    ADD CONSTRAINT lease_outcomes_queue FOREIGN KEY (org_id, card_id)
        REFERENCES queue (org_id, card_id) ON DELETE CASCADE;
