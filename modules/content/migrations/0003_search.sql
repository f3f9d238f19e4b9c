-- What can be found, by one name and shape. The search reads it twice: for what fits, and for what
-- one page shows of that.
CREATE VIEW found_view WITH (security_invoker = true) AS
SELECT
    b.org_id, 'board' AS object, b.id, b.id AS board_id, NULL::uuid AS card_id, NULL::text AS type,
    b.key, b.name AS title, b.name || ' ' || coalesce(b.description, '') AS says, b.words,
    b.created_time, b.last_edited_time
FROM boards b
WHERE NOT b.in_trash
UNION ALL
SELECT
    c.org_id, 'card', c.id, c.board_id, c.id, NULL, b.key || '-' || c.number, c.title, c.title,
    c.words, c.created_time, c.last_edited_time
FROM cards c
JOIN boards b ON b.org_id = c.org_id AND b.id = c.board_id
WHERE NOT c.in_trash
UNION ALL
SELECT
    k.org_id, 'block', k.id, c.board_id, c.id, k.type, b.key || '-' || c.number, c.title, k.plain,
    k.words, k.created_time, k.last_edited_time
FROM blocks k
JOIN cards c ON c.org_id = k.org_id AND c.id = k.card_id AND NOT c.in_trash
JOIN boards b ON b.org_id = c.org_id AND b.id = c.board_id
WHERE k.trashed_by IS NULL
UNION ALL
SELECT
    m.org_id, 'comment', m.id, c.board_id, c.id, NULL, b.key || '-' || c.number, c.title, m.plain,
    m.words, m.created_time, m.last_edited_time
FROM comments m
JOIN cards c ON c.org_id = m.org_id AND c.id = m.card_id AND NOT c.in_trash
JOIN boards b ON b.org_id = c.org_id AND b.id = c.board_id
WHERE NOT m.in_trash;

-- Row-level security lets an index answer for words only where the comparison is known to give
-- nothing away (docs/content.md, "Search").
CREATE EXTENSION IF NOT EXISTS btree_gin;
CREATE INDEX cards_by_words ON cards USING gin (org_id, words);
CREATE INDEX blocks_by_words ON blocks USING gin (org_id, words);
CREATE INDEX comments_by_words ON comments USING gin (org_id, words);
