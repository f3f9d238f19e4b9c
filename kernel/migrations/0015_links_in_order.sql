-- Whoever sequences knows which rows of the log have no number yet, and asks for those above the low
-- water alone, once, when it takes over: a summary of how high the ids go in each part of the table
-- finds them. An index of all of them was written by every event.
DROP INDEX event_chain_by_log_id;
CREATE INDEX event_chain_by_log_id ON event_chain USING brin (log_id)
    WITH (pages_per_range = 32, autosummarize = on);

-- The highest id that has a number.
ALTER TABLE event_position ADD COLUMN high_water bigint NOT NULL DEFAULT 0;
UPDATE event_position
SET high_water = greatest(
    low_water, (SELECT max(c.log_id) FROM event_chain c WHERE c.org_id IS NOT NULL));
