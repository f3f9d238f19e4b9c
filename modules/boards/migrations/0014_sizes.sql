-- How long a card is, known before it is read: answers that show many cards are cut at so many
-- bytes, and cards that would not fit are not loaded.
ALTER TABLE cards
    ADD COLUMN values_bytes integer NOT NULL
        GENERATED ALWAYS AS (octet_length(properties::text)) STORED,
    ADD COLUMN shown_bytes integer NOT NULL
        GENERATED ALWAYS AS (
            octet_length(title) + octet_length(labels::text) + octet_length(assignees::text)
            + octet_length(blocked_by::text) + octet_length(properties::text)) STORED;
