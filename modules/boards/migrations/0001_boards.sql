-- Boards, their columns and labels, and the cards.
--
-- Who may do what is decided in the statement that reads the thing, by board_role() below; a
-- card's shape is read through card_view, a board's and a column's through board_view and
-- column_view.

CREATE TABLE boards (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    key text NOT NULL CHECK (key ~ '^[A-Z][A-Z0-9]{1,9}$'),
    name text NOT NULL,
    description text,
    icon jsonb,
    visibility text NOT NULL CHECK (visibility IN ('org', 'private')),
    default_view text,
    is_archived boolean NOT NULL DEFAULT false,
    in_trash boolean NOT NULL DEFAULT false,
    created_time timestamptz NOT NULL DEFAULT now(),
    created_by uuid NOT NULL,
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    last_edited_by uuid NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id),
    CONSTRAINT boards_key_taken UNIQUE (org_id, key)
);

-- Narrow, so that giving out a number does not rewrite the board. Its row is the lock for all
-- that has to be unique on a board.
CREATE TABLE board_counters (
    org_id uuid NOT NULL,
    board_id uuid NOT NULL,
    last_number bigint NOT NULL DEFAULT 0,  -- of the newest card: ENG-42 is number 42 of ENG
    card_count bigint NOT NULL DEFAULT 0,   -- neither archived nor in the trash
    PRIMARY KEY (org_id, board_id)
) WITH (fillfactor = 50);

-- What a person or an agent may do on one board, whatever the workspace says.
CREATE TABLE board_grants (
    org_id uuid NOT NULL,
    principal_id uuid NOT NULL,
    board_id uuid NOT NULL,
    id uuid NOT NULL,
    role text NOT NULL CHECK (role IN ('viewer', 'editor')),
    created_time timestamptz NOT NULL DEFAULT now(),
    created_by uuid NOT NULL,
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    last_edited_by uuid NOT NULL,
    PRIMARY KEY (org_id, principal_id, board_id)
);
CREATE INDEX board_grants_by_board ON board_grants (org_id, board_id);

CREATE TABLE columns (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    board_id uuid NOT NULL,
    name text NOT NULL,
    color text NOT NULL DEFAULT 'default',
    kind text NOT NULL CHECK (kind IN ('backlog', 'queue', 'active', 'done')),
    position text COLLATE "C" NOT NULL,  -- an order key (modules/boards/order_key.hpp)
    wip_limit integer,
    wip_policy text NOT NULL DEFAULT 'soft' CHECK (wip_policy IN ('soft', 'hard')),
    in_trash boolean NOT NULL DEFAULT false,
    queue_enabled boolean NOT NULL DEFAULT false,
    lease_ttl_seconds integer NOT NULL DEFAULT 900,
    max_attempts integer NOT NULL DEFAULT 5,
    backoff_seconds integer NOT NULL DEFAULT 30,
    backoff_max_seconds integer NOT NULL DEFAULT 3600,
    queue_order text NOT NULL DEFAULT 'priority' CHECK (queue_order IN ('priority', 'fifo', 'due')),
    on_complete_column_id uuid,   -- null: the next column
    on_exhausted_column_id uuid,  -- null: the card stays
    created_time timestamptz NOT NULL DEFAULT now(),
    created_by uuid NOT NULL,
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    last_edited_by uuid NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id),
    CONSTRAINT columns_of_board UNIQUE (org_id, board_id, id)
);
CREATE INDEX columns_in_order ON columns (org_id, board_id, position, id);

CREATE TABLE labels (
    org_id uuid NOT NULL,
    board_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,  -- lower case: what names are compared by
    color text NOT NULL DEFAULT 'default',
    version bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, board_id, id),
    CONSTRAINT labels_name_taken UNIQUE (org_id, board_id, name_key)
);

-- One row holds what a card shows, names included, so that reading it takes no join beyond its
-- board and its place in a queue (docs/decisions/0009-a-card-is-one-row.md).
CREATE TABLE cards (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    board_id uuid NOT NULL,
    column_id uuid NOT NULL,
    number bigint NOT NULL,
    position text COLLATE "C" NOT NULL,         -- an order key; ties are broken by id
    title text NOT NULL,
    labels jsonb NOT NULL DEFAULT '[]',         -- [{id, name, color}], as shown
    assignees jsonb NOT NULL DEFAULT '[]',      -- [PrincipalRef], as shown
    due text COLLATE "C",                       -- YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS.mmmZ
    start text COLLATE "C",
    priority text NOT NULL DEFAULT 'none'
        CHECK (priority IN ('none', 'low', 'medium', 'high', 'urgent')),
    estimate double precision,
    properties jsonb NOT NULL DEFAULT '{}',
    parent_card_id uuid,
    external_key text,
    is_archived boolean NOT NULL DEFAULT false,
    in_trash boolean NOT NULL DEFAULT false,
    completed_at timestamptz,
    created_time timestamptz NOT NULL DEFAULT now(),
    created_by jsonb NOT NULL,                  -- a PrincipalRef, as shown
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    last_edited_by jsonb NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id),
    CONSTRAINT cards_number UNIQUE (org_id, board_id, number)
) WITH (fillfactor = 85);
CREATE INDEX cards_in_order ON cards (org_id, column_id, position, id)
    WHERE NOT is_archived AND NOT in_trash;
CREATE INDEX cards_by_external_key ON cards (org_id, external_key)
    WHERE external_key IS NOT NULL;
CREATE UNIQUE INDEX cards_external_key_taken ON cards (org_id, board_id, external_key)
    WHERE external_key IS NOT NULL AND completed_at IS NULL AND NOT is_archived AND NOT in_trash;
CREATE INDEX cards_by_edit ON cards (org_id, last_edited_time, id);
CREATE INDEX cards_by_parent ON cards (org_id, parent_card_id)
    WHERE parent_card_id IS NOT NULL;

-- The way from somebody to their cards. (An index on the list in `cards` would do, but its
-- operators are not leakproof, so row-level security keeps the planner from using it.)
CREATE TABLE card_assignees (
    org_id uuid NOT NULL,
    principal_id uuid NOT NULL,
    card_id uuid NOT NULL,
    PRIMARY KEY (org_id, principal_id, card_id)
);
CREATE INDEX card_assignees_by_card ON card_assignees (org_id, card_id);

-- ------------------------------------------------------------------------------ who may what

-- The role of a caller on a board: viewer, editor, admin, or null for a stranger. The only place
-- that says so (docs/decisions/0010-who-may-what-on-a-board.md). `kind` is 'person', 'token' (a
-- person's integration) or 'agent'; `role` the caller's in the workspace; `granted` the caller's
-- own grant on this board, `limited` whether an agent has any grant at all.
CREATE FUNCTION board_role(
    caller uuid, kind text, role text, visibility text, maker uuid, granted text, limited boolean
) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN maker = caller AND role <> 'viewer' THEN 'admin'
    WHEN granted IS NOT NULL THEN CASE
        WHEN role IN ('owner', 'admin') AND kind <> 'agent' THEN 'admin'
        WHEN role = 'viewer' AND kind <> 'person' THEN 'viewer'
        ELSE granted
    END
    WHEN limited THEN NULL
    WHEN role IN ('owner', 'admin') THEN 'admin'
    WHEN visibility = 'org' THEN CASE role WHEN 'member' THEN 'editor' ELSE 'viewer' END
END;

-- ------------------------------------------------------------------------------------- sorting

-- What cards are listed by when no index gives the order: 'due' with undated ones last, 'priority'
-- with the most urgent first, or else their place. Compare it COLLATE "C".
CREATE FUNCTION card_sort_key(sort text, due text, priority text, place text)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE sort
    WHEN 'due' THEN coalesce(due, '~')
    WHEN 'priority' THEN CASE priority
        WHEN 'urgent' THEN '0' WHEN 'high' THEN '1' WHEN 'medium' THEN '2' WHEN 'low' THEN '3'
        ELSE '4' END
    ELSE place
END;

-- ---------------------------------------------------------------------------------- the shapes

CREATE VIEW column_view WITH (security_invoker = true) AS
SELECT
    c.org_id, c.id, c.board_id, c.name, c.color, c.kind,
    (SELECT count(*) FROM columns o
     WHERE o.org_id = c.org_id AND o.board_id = c.board_id AND NOT o.in_trash
         AND (o.position, o.id) < (c.position, c.id)) AS position,
    c.position AS order_key,
    c.wip_limit, c.wip_policy,
    (SELECT count(*) FROM cards k
     WHERE k.org_id = c.org_id AND k.column_id = c.id
         AND NOT k.is_archived AND NOT k.in_trash) AS card_count,
    c.in_trash,
    jsonb_build_object(
        'enabled', c.queue_enabled, 'lease_ttl_seconds', c.lease_ttl_seconds,
        'max_attempts', c.max_attempts, 'backoff_seconds', c.backoff_seconds,
        'backoff_max_seconds', c.backoff_max_seconds, 'order', c.queue_order,
        'on_complete_column_id', c.on_complete_column_id,
        'on_exhausted_column_id', c.on_exhausted_column_id) AS queue,
    c.created_time,
    jsonb_build_object('object', 'user', 'id', c.created_by,
        'principal_type', coalesce(p.type, 'system'), 'name', p.name) AS created_by,
    c.last_edited_time,
    jsonb_build_object('object', 'user', 'id', c.last_edited_by,
        'principal_type', coalesce(e.type, 'system'), 'name', e.name) AS last_edited_by,
    c.version
FROM columns c
LEFT JOIN principals p ON p.org_id = c.org_id AND p.id = c.created_by
LEFT JOIN principals e ON e.org_id = c.org_id AND e.id = c.last_edited_by;

CREATE VIEW board_view WITH (security_invoker = true) AS
SELECT
    b.org_id, b.id, b.key, b.name, b.description, b.icon, b.visibility,
    '[]'::jsonb AS properties,
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

-- What is known of a card's place in a queue: at most one row a card. Here nobody knows anything;
-- the module that works the queues puts its own in place of this one, columns as they are.
CREATE VIEW card_work WITH (security_invoker = true) AS
SELECT NULL::uuid AS org_id, NULL::uuid AS card_id, NULL::jsonb AS queue, NULL::jsonb AS lease
WHERE false;

-- Where a column sends its cards when they are completed there (unless told otherwise, to the next
-- column on the board) and when they are exhausted.
CREATE VIEW column_turns WITH (security_invoker = true) AS
SELECT
    c.org_id, c.id,
    coalesce(
        c.on_complete_column_id,
        (SELECT n.id FROM columns n
         WHERE n.org_id = c.org_id AND n.board_id = c.board_id AND NOT n.in_trash
             AND (n.position, n.id) > (c.position, c.id)
         ORDER BY n.position, n.id LIMIT 1)) AS completed_id,
    c.on_exhausted_column_id AS exhausted_id
FROM columns c;

-- A card as it is shown, and behind that what its board says about who may see it. `url` is the
-- server's to fill in. OFFSET 0 has the planner look up by key what belongs to a card, always; left
-- to itself, and as long as it has no statistics, it may go through all of them for every card.
CREATE VIEW card_view WITH (security_invoker = true) AS
SELECT
    c.org_id, c.id, c.board_id, c.column_id,
    b.key || '-' || c.number AS key,
    c.title, c.position, c.labels, c.assignees, c.due, c.start, c.priority, c.estimate,
    c.properties, c.parent_card_id,
    '[]'::jsonb AS blocked_by, false AS blocked,
    c.external_key,
    false AS has_children, 0 AS block_count, 0 AS comment_count,
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

-- ------------------------------------------------------------------------- row-level security

ALTER TABLE boards ENABLE ROW LEVEL SECURITY;
ALTER TABLE boards FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON boards
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE board_counters ENABLE ROW LEVEL SECURITY;
ALTER TABLE board_counters FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON board_counters
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE board_grants ENABLE ROW LEVEL SECURITY;
ALTER TABLE board_grants FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON board_grants
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE columns ENABLE ROW LEVEL SECURITY;
ALTER TABLE columns FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON columns
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE labels ENABLE ROW LEVEL SECURITY;
ALTER TABLE labels FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON labels
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE cards ENABLE ROW LEVEL SECURITY;
ALTER TABLE cards FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON cards
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE card_assignees ENABLE ROW LEVEL SECURITY;
ALTER TABLE card_assignees FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON card_assignees
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
