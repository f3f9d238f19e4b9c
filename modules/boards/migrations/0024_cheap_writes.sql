-- What PostgreSQL reads again from text each time a statement runs is kept short here.

-- A function whose argument is a query is put in place of its call only if it names that argument
-- once; otherwise its body is read, rewritten and planned at each execution. `limited` is such an
-- argument. What it answers is as before.
CREATE OR REPLACE FUNCTION board_role(
    caller uuid, kind text, role text, visibility text, maker uuid, granted text, limited boolean
) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN limited THEN CASE
        WHEN granted IS NULL THEN NULL
        WHEN role IN ('owner', 'admin') AND kind <> 'agent' THEN 'admin'
        WHEN role = 'viewer' AND kind <> 'person' THEN 'viewer'
        ELSE granted
    END
    ELSE CASE
        WHEN maker = caller AND role <> 'viewer' THEN 'admin'
        WHEN granted IS NOT NULL THEN CASE
            WHEN role IN ('owner', 'admin') AND kind <> 'agent' THEN 'admin'
            WHEN role = 'viewer' AND kind <> 'person' THEN 'viewer'
            ELSE granted
        END
        WHEN role IN ('owner', 'admin') THEN 'admin'
        WHEN visibility = 'org' THEN CASE role WHEN 'member' THEN 'editor' ELSE 'viewer' END
    END
END;

-- Requests are checked by the enum that names the priorities; nobody else writes them.
ALTER TABLE cards DROP CONSTRAINT cards_priority_check;

-- Of expressions that call no function written in SQL.
ALTER TABLE cards DROP COLUMN due_key, DROP COLUMN priority_key;
ALTER TABLE cards
    ADD COLUMN due_key text COLLATE "C" NOT NULL
        GENERATED ALWAYS AS (coalesce(due, '~')) STORED,
    ADD COLUMN priority_key text COLLATE "C" NOT NULL
        GENERATED ALWAYS AS (translate(left(priority, 1), 'uhmln', '01234')) STORED;
CREATE INDEX cards_by_due ON cards (org_id, board_id, is_archived, due_key, id)
    WHERE NOT in_trash;
CREATE INDEX cards_by_priority ON cards (org_id, board_id, is_archived, priority_key, id)
    WHERE NOT in_trash;
