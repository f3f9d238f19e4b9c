-- Texts and queries are told apart into the same words: what holds addresses together (`ex.org/p?q=1`)
-- stands between words, and letters that can be written in two ways are written in one (NFC).
CREATE OR REPLACE FUNCTION search_escaped(said text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(
    translate(
        normalize(said, NFC),
        '<~/?&=:#' || chr(3) || chr(4) || chr(5) || chr(6) || chr(7) || chr(14) || chr(15) || chr(16)
            || chr(17),
        chr(3) || chr(4) || chr(6) || chr(7) || chr(14) || chr(15) || chr(16) || chr(17)),
    '([^[:space:]]{100})', '\1' || chr(5), 'g');

CREATE OR REPLACE FUNCTION search_unescaped(said text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN translate(
    said,
    chr(3) || chr(4) || chr(6) || chr(7) || chr(14) || chr(15) || chr(16) || chr(17) || chr(5),
    '<~/?&=:#');

-- What is there gets its words anew.
DROP VIEW found_view;
ALTER TABLE boards DROP COLUMN words;
ALTER TABLE cards DROP COLUMN words;
ALTER TABLE blocks DROP COLUMN words;
ALTER TABLE comments DROP COLUMN words;
ALTER TABLE boards ADD COLUMN words tsvector
    GENERATED ALWAYS AS (words_of(name || ' ' || left(coalesce(description, ''), 5000))) STORED;
ALTER TABLE cards ADD COLUMN words tsvector GENERATED ALWAYS AS (words_of(title)) STORED;
ALTER TABLE blocks ADD COLUMN words tsvector GENERATED ALWAYS AS (words_of(plain)) STORED;
ALTER TABLE comments ADD COLUMN words tsvector GENERATED ALWAYS AS (words_of(plain)) STORED;
ALTER TABLE cards ALTER COLUMN words SET STATISTICS 10;

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

CREATE INDEX cards_by_words ON cards USING gin (org_id, words);
CREATE INDEX blocks_by_words ON blocks USING gin (org_id, words);
CREATE INDEX comments_by_words ON comments USING gin (org_id, words);
