-- What stands on a card: its tree of blocks, and what people say of it.
--
-- Whoever writes a card's blocks or comments holds the lock of the card's row, so that positions,
-- counts and the shape of the tree need no locks of their own.

CREATE TABLE blocks (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    card_id uuid NOT NULL,
    parent_id uuid NOT NULL,             -- a block of the card, or the card itself
    type text NOT NULL,
    payload json NOT NULL,               -- as shown, but for the addresses of files
    plain text NOT NULL,                 -- what it says, without marks
    position text COLLATE "C" NOT NULL,  -- an order key (modules/boards/order_key.hpp)
    trashed_by uuid,                     -- the block whose deletion hides this one: itself, or one above
    trashed_at timestamptz,
    created_time timestamptz NOT NULL DEFAULT now(),
    created_by jsonb NOT NULL,           -- a PrincipalRef, as shown
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    last_edited_by jsonb NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    -- What search looks at. Longer texts than this are found by their beginning.
    words tsvector GENERATED ALWAYS AS (to_tsvector('simple', left(plain, 50000))) STORED,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX blocks_in_order ON blocks (org_id, parent_id, position, id);
CREATE INDEX blocks_by_card ON blocks (org_id, card_id);

CREATE TABLE comments (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    card_id uuid NOT NULL,
    block_id uuid,                       -- null: about the card as a whole
    discussion_id uuid NOT NULL,
    rich_text json NOT NULL,
    plain text NOT NULL,
    attachments json NOT NULL DEFAULT '[]',
    resolved_by jsonb,                   -- a PrincipalRef; of the whole discussion
    in_trash boolean NOT NULL DEFAULT false,
    created_time timestamptz NOT NULL DEFAULT now(),
    created_by jsonb NOT NULL,
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    version bigint NOT NULL DEFAULT 1,
    words tsvector GENERATED ALWAYS AS (to_tsvector('simple', left(plain, 50000))) STORED,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX comments_by_card ON comments (org_id, card_id, id);
CREATE INDEX comments_by_discussion ON comments (org_id, discussion_id, id);

-- What search looks at of what boards keeps.
ALTER TABLE cards ADD COLUMN words tsvector
    GENERATED ALWAYS AS (to_tsvector('simple', title)) STORED;
ALTER TABLE boards ADD COLUMN words tsvector
    GENERATED ALWAYS AS (
        to_tsvector('simple', name || ' ' || left(coalesce(description, ''), 5000))) STORED;

-- ---------------------------------------------------------------------------------- the shapes

CREATE VIEW block_view WITH (security_invoker = true) AS
SELECT
    b.org_id, b.id, b.card_id, b.parent_id, b.type, b.payload, b.position, b.trashed_by,
    EXISTS (
        SELECT FROM blocks k
        WHERE k.org_id = b.org_id AND k.parent_id = b.id AND k.trashed_by IS NULL) AS has_children,
    b.created_time, b.created_by, b.last_edited_time, b.last_edited_by, b.version
FROM blocks b;

-- ------------------------------------------------------------------------- row-level security

-- Answers are long lists: worked out once a statement, not once a row (docs/tenancy.md).
ALTER TABLE blocks ENABLE ROW LEVEL SECURITY;
ALTER TABLE blocks FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON blocks
    USING (org_id = (SELECT svc_org()) OR (SELECT svc_all_orgs()))
    WITH CHECK (org_id = (SELECT svc_org()) OR (SELECT svc_all_orgs()));

ALTER TABLE comments ENABLE ROW LEVEL SECURITY;
ALTER TABLE comments FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON comments
    USING (org_id = (SELECT svc_org()) OR (SELECT svc_all_orgs()))
    WITH CHECK (org_id = (SELECT svc_org()) OR (SELECT svc_all_orgs()));
