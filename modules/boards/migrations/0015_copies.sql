-- Boards that are being copied: their cards follow batch by batch, each in a transaction of its own
-- (docs/decisions/0023-cards-of-a-copied-board-follow.md).
CREATE TABLE board_copies (
    org_id uuid NOT NULL,
    board_id uuid NOT NULL,             -- the new one
    made_by jsonb NOT NULL,             -- a PrincipalRef
    ids jsonb NOT NULL,                 -- {old: new} of columns, labels, properties and options
    copied bigint NOT NULL DEFAULT 0,   -- the number of the last card that is there
    PRIMARY KEY (org_id, board_id)
);

-- Which cards it gets, set down when the copy was asked for.
CREATE TABLE board_copy_cards (
    org_id uuid NOT NULL,
    board_id uuid NOT NULL,
    number bigint NOT NULL,             -- of the new card: 1 and up
    source_id uuid NOT NULL,
    card_id uuid NOT NULL,              -- the new card's id
    PRIMARY KEY (org_id, board_id, number),
    CONSTRAINT board_copy_cards_of_source UNIQUE (org_id, board_id, source_id)
);

ALTER TABLE board_copies ENABLE ROW LEVEL SECURITY;
ALTER TABLE board_copies FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON board_copies
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE board_copy_cards ENABLE ROW LEVEL SECURITY;
ALTER TABLE board_copy_cards FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON board_copy_cards
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

-- Cards of a board by what lists are sorted by: the page is read along an index. '~' is behind all
-- dates; '0' is the most urgent.
ALTER TABLE cards
    ADD COLUMN due_key text COLLATE "C" NOT NULL
        GENERATED ALWAYS AS (card_sort_key('due', due, priority, '') COLLATE "C") STORED,
    ADD COLUMN priority_key text COLLATE "C" NOT NULL
        GENERATED ALWAYS AS (card_sort_key('priority', due, priority, '') COLLATE "C") STORED;
CREATE INDEX cards_by_due ON cards (org_id, board_id, is_archived, due_key, id)
    WHERE NOT in_trash;
CREATE INDEX cards_by_priority ON cards (org_id, board_id, is_archived, priority_key, id)
    WHERE NOT in_trash;
