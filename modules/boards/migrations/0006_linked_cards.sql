-- What cards have to do with each other, who watches them, what they said before, and how much is
-- written on them.

-- One row holds what a card shows (docs/decisions/0009-a-card-is-one-row.md).
ALTER TABLE cards
    ADD COLUMN blocked_by jsonb NOT NULL DEFAULT '[]',     -- [id], as shown; card_links has them too
    ADD COLUMN block_count integer NOT NULL DEFAULT 0,     -- kept by whoever keeps its body
    ADD COLUMN comment_count integer NOT NULL DEFAULT 0;   -- likewise

CREATE TABLE card_links (
    org_id uuid NOT NULL,
    card_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('blocks', 'relates', 'duplicates')),
    target_id uuid NOT NULL,  -- `card_id` blocks, relates to or is a duplicate of this one
    id uuid NOT NULL,
    created_time timestamptz NOT NULL DEFAULT now(),
    created_by jsonb NOT NULL,  -- a PrincipalRef, as shown
    PRIMARY KEY (org_id, card_id, kind, target_id),
    CHECK (card_id <> target_id)
);
CREATE UNIQUE INDEX card_links_by_id ON card_links (org_id, id);
CREATE INDEX card_links_by_target ON card_links (org_id, target_id, kind, card_id);

CREATE TABLE card_watchers (
    org_id uuid NOT NULL,
    card_id uuid NOT NULL,
    principal_id uuid NOT NULL,
    created_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, card_id, principal_id)
);
CREATE INDEX card_watchers_by_principal ON card_watchers (org_id, principal_id, card_id);

-- What an edit replaced: the fields as they were up to and with `last_version`. Making, moving and
-- putting away replace none of them and leave no row.
CREATE TABLE card_versions (
    org_id uuid NOT NULL,
    card_id uuid NOT NULL,
    last_version bigint NOT NULL,
    fields jsonb NOT NULL,  -- those that revert_card brings back, as the row of cards had them
    PRIMARY KEY (org_id, card_id, last_version)
);

-- A card that nobody waits for any longer: done, put away or in the trash.
CREATE FUNCTION card_is_open(completed_at timestamptz, is_archived boolean, in_trash boolean)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN completed_at IS NULL AND NOT is_archived AND NOT in_trash;

CREATE OR REPLACE VIEW card_view WITH (security_invoker = true) AS
SELECT
    c.org_id, c.id, c.board_id, c.column_id,
    b.key || '-' || c.number AS key,
    c.title, c.position, c.labels, c.assignees, c.due, c.start, c.priority, c.estimate,
    c.properties, c.parent_card_id,
    c.blocked_by,
    CASE WHEN c.blocked_by = '[]' THEN false ELSE EXISTS (
        SELECT FROM jsonb_array_elements_text(c.blocked_by) e (id)
        CROSS JOIN LATERAL (
            SELECT o.completed_at, o.is_archived, o.in_trash
            FROM cards o
            WHERE o.org_id = c.org_id AND o.id = e.id::uuid
            OFFSET 0
        ) x
        WHERE card_is_open(x.completed_at, x.is_archived, x.in_trash)
    ) END AS blocked,
    c.external_key,
    c.block_count > 0 AS has_children, c.block_count, c.comment_count,
    coalesce(
        w.queue, '{"state": "idle", "attempts": 0, "available_at": null, "last_error": null}'
    ) AS queue,
    w.lease,
    c.is_archived, c.in_trash, c.completed_at, '' AS url,
    c.created_time, c.created_by, c.last_edited_time, c.last_edited_by, c.version,
    c.number, b.visibility, b.created_by AS maker,
    b.is_archived AS board_is_archived, b.in_trash AS board_in_trash
FROM cards c
CROSS JOIN LATERAL (
    SELECT o.key, o.visibility, o.created_by, o.is_archived, o.in_trash
    FROM boards o
    WHERE o.org_id = c.org_id AND o.id = c.board_id
    OFFSET 0
) b
LEFT JOIN LATERAL (
    SELECT k.queue, k.lease FROM card_work k
    WHERE k.org_id = c.org_id AND k.card_id = c.id
    OFFSET 0
) w ON true;

-- What is known of the files that cards may name. Here nobody knows anything; the module that keeps
-- files puts its own in place of this one, columns as they are: those that may be attached.
CREATE VIEW file_names WITH (security_invoker = true) AS
SELECT NULL::uuid AS org_id, NULL::uuid AS id, NULL::text AS name
WHERE false;

ALTER TABLE card_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE card_links FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON card_links
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE card_watchers ENABLE ROW LEVEL SECURITY;
ALTER TABLE card_watchers FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON card_watchers
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE card_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE card_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON card_versions
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
