-- The sequencer keeps in memory which rows of the log have no number yet. Only a server that becomes the
-- sequencer reads the ids above the low water, once, and a BRIN index finds these. An index with an
-- entry for each id was written by every event.
DROP INDEX event_chain_by_log_id;
CREATE INDEX event_chain_by_log_id ON event_chain USING brin (log_id)
    WITH (pages_per_range = 32, autosummarize = on);

-- The highest id that has a number.
ALTER TABLE event_position ADD COLUMN high_water bigint NOT NULL DEFAULT 0;
UPDATE event_position
SET high_water = greatest(
    low_water, (SELECT max(c.log_id) FROM event_chain c WHERE c.org_id IS NOT NULL));
