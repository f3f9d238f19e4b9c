-- The way of streams and lists: one workspace's events after the last that a reader knows.
CREATE UNIQUE INDEX event_chain_by_sequence ON event_chain (org_id, sequence)
    WHERE sequence IS NOT NULL;
