-- What the blocks of a card hold, those in the trash left out of account: kept, as block_count is,
-- by whoever writes them.
ALTER TABLE cards ADD COLUMN content_bytes bigint NOT NULL DEFAULT 0;

UPDATE cards c SET content_bytes = b.bytes
FROM (
    SELECT org_id, card_id, sum(octet_length(payload::text)) AS bytes FROM blocks
    WHERE org_id IS NOT NULL AND trashed_by IS NULL
    GROUP BY org_id, card_id
) b
WHERE c.org_id = b.org_id AND c.id = b.card_id;
