-- No row that every card of a board writes.
--
-- Numbers are given out in blocks: `last_number` is the end of the last block that a server took, and
-- falls back when a server that stops gives the rest of its block back.
--
-- What is added to a board's number of cards is a row of its own here, so that nobody waits for
-- anybody; a job adds it to `card_count`.
CREATE TABLE card_count_changes (
    org_id uuid NOT NULL,
    board_id uuid NOT NULL,
    id uuid NOT NULL,
    change integer NOT NULL,
    PRIMARY KEY (org_id, board_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);

ALTER TABLE card_count_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE card_count_changes FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON card_count_changes
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
    n.card_count + coalesce(
        (SELECT sum(m.change) FROM card_count_changes m
         WHERE m.org_id = b.org_id AND m.board_id = b.id), 0)::bigint AS card_count,
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

-- What a statement calls that finds that it cannot write what was found to be right a moment before:
-- the transaction is run again.
CREATE FUNCTION svc_try_again(why text) RETURNS boolean
LANGUAGE plpgsql VOLATILE
AS $$ BEGIN RAISE EXCEPTION '%', why USING ERRCODE = 'serialization_failure'; END $$;
