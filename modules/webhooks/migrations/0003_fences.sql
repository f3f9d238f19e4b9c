-- What an attempt was made for, so that what it comes to counts for nothing else.
ALTER TABLE webhook_endpoints
    -- Rises when it starts afresh: with another URL, or made active.
    ADD COLUMN epoch bigint NOT NULL DEFAULT 1,
    ADD COLUMN proven boolean NOT NULL DEFAULT false;  -- it has taken something in this epoch
ALTER TABLE webhook_deliveries
    ADD COLUMN redeliveries integer NOT NULL DEFAULT 0;  -- how often it was asked for once more
