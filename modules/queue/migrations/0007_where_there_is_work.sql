-- Since when a card is in its queue: what people and agents ask of a queue besides how long it is.
ALTER TABLE queue ADD COLUMN queued_at timestamptz NOT NULL DEFAULT now();

-- A column's cards by state, for get_queue. Leased ones have no such index: it would be written by
-- every claim, and they are as many as there are workers.
DROP INDEX queue_exhausted;
DROP INDEX queue_held;
CREATE INDEX queue_exhausted ON queue (org_id, column_id) WHERE state = 'exhausted';
CREATE INDEX queue_held ON queue (org_id, column_id) WHERE state = 'held';
CREATE INDEX queue_backoff_of_column ON queue (org_id, column_id, available_at)
    WHERE state = 'backoff';
