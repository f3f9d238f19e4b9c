-- What sorts of values a board's cards have besides those that all cards have.
--
-- A card holds its values as they are shown, {name: {id, type, <type>: value}} in
-- cards.properties, with the names of property and option in them: reading one takes no join
-- (docs/decisions/0009-a-card-is-one-row.md). Whoever changes a definition rewrites the cards that
-- show it, in the same transaction, and holds the board's row in board_counters FOR UPDATE;
-- whoever copies from a definition to a card holds it FOR KEY SHARE, so that no card is left with
-- what it was called before.
CREATE TABLE properties (
    org_id uuid NOT NULL,
    board_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,               -- lower case: what names are compared by
    type text NOT NULL,
    options jsonb NOT NULL DEFAULT '[]',  -- [{id, name, color}], as shown
    number_format text,
    required boolean NOT NULL DEFAULT false,
    position integer NOT NULL,            -- 0 and up, without gaps
    version bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, board_id, id),
    CONSTRAINT properties_name_taken UNIQUE (org_id, board_id, name_key)
);

ALTER TABLE properties ENABLE ROW LEVEL SECURITY;
ALTER TABLE properties FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON properties
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

CREATE OR REPLACE VIEW board_view WITH (security_invoker = true) AS
SELECT
    b.org_id, b.id, b.key, b.name, b.description, b.icon, b.visibility,
    coalesce(
        (SELECT jsonb_agg(
             jsonb_build_object('object', 'property', 'id', p.id, 'board_id', p.board_id,
                 'name', p.name, 'type', p.type, 'options', p.options,
                 'number_format', p.number_format, 'required', p.required,
                 'position', p.position, 'version', p.version) ORDER BY p.position, p.id)
         FROM properties p WHERE p.org_id = b.org_id AND p.board_id = b.id),
        '[]') AS properties,
    coalesce(
        (SELECT jsonb_agg(
             jsonb_build_object('object', 'label', 'id', l.id, 'board_id', l.board_id,
                 'name', l.name, 'color', l.color, 'version', l.version) ORDER BY l.name_key)
         FROM labels l WHERE l.org_id = b.org_id AND l.board_id = b.id),
        '[]') AS labels,
    coalesce(
        (SELECT jsonb_agg(c.id ORDER BY c.position, c.id)
         FROM columns c WHERE c.org_id = b.org_id AND c.board_id = b.id AND NOT c.in_trash),
        '[]') AS column_ids,
    n.card_count,
    b.default_view, b.is_archived, b.in_trash,
    b.created_by AS maker,
    '' AS url,
    b.created_time,
    jsonb_build_object('object', 'user', 'id', b.created_by,
        'principal_type', coalesce(p.type, 'system'), 'name', p.name) AS created_by,
    b.last_edited_time,
    jsonb_build_object('object', 'user', 'id', b.last_edited_by,
        'principal_type', coalesce(e.type, 'system'), 'name', e.name) AS last_edited_by,
    b.version
FROM boards b
JOIN board_counters n ON n.org_id = b.org_id AND n.board_id = b.id
LEFT JOIN principals p ON p.org_id = b.org_id AND p.id = b.created_by
LEFT JOIN principals e ON e.org_id = b.org_id AND e.id = b.last_edited_by;
