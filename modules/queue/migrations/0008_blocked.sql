-- A card that waits for another one is given to nobody. Whether it does is kept here by whoever
-- changes that, so that claims pass over no such cards. It says nothing of rows that are idle.
ALTER TABLE queue ADD COLUMN blocked boolean NOT NULL DEFAULT false;

UPDATE queue q
SET blocked = true
WHERE q.org_id IS NOT NULL AND q.state <> 'idle'
    AND EXISTS (
        SELECT FROM cards c
        WHERE c.org_id = q.org_id AND c.id = q.card_id
            AND card_is_open(c.completed_at, c.is_archived, c.in_trash))
    AND EXISTS (
        SELECT FROM card_links l
        JOIN cards o ON o.org_id = l.org_id AND o.id = l.card_id
        WHERE l.org_id = q.org_id AND l.target_id = q.card_id AND l.kind = 'blocks'
            AND card_is_open(o.completed_at, o.is_archived, o.in_trash));

DROP INDEX queue_ready;
CREATE INDEX queue_ready ON queue (org_id, column_id, urgency, place, card_id)
    WHERE state = 'ready' AND NOT blocked;
CREATE INDEX queue_blocked ON queue (org_id, column_id) WHERE state = 'ready' AND blocked;

-- What the card was like when it was claimed: what a renewal tells is what has changed since.
ALTER TABLE queue ADD COLUMN claimed_version bigint, ADD COLUMN claimed_comments integer;

-- What an attempt cost, as its holder says.
ALTER TABLE lease_outcomes ADD COLUMN cost json;
ALTER TABLE lease_outcomes ALTER COLUMN cost SET STATISTICS 0;
