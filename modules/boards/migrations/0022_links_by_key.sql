-- To a planner that believes the table holds one row, each index that begins with `org_id` costs
-- the same: it read the whole of one of these for each card of a chain, though the primary key
-- leads to `card_id`. An index that is partial serves only who names its second column.
DROP INDEX card_links_by_id, card_links_by_target;
CREATE UNIQUE INDEX card_links_by_id ON card_links (org_id, id) WHERE id IS NOT NULL;
CREATE INDEX card_links_by_target ON card_links (org_id, target_id, kind, card_id)
    WHERE target_id IS NOT NULL;
