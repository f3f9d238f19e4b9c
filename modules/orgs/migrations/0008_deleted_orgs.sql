-- A workspace that was deleted refuses everybody at once, since nobody has a seat in it. What is in
-- it is taken away bit by bit, by svc_empty_org(); its row goes last.
ALTER TABLE orgs ADD COLUMN deleted_at timestamptz;
CREATE INDEX orgs_deleted ON orgs (deleted_at) WHERE deleted_at IS NOT NULL;

-- Takes at most so many rows out of one table that hangs on workspaces, directly or by way of
-- others: those farthest from the workspace first, so that no row takes many others with it. How
-- many it took; 0 when nothing is left. The tables are those of whichever modules there are.
CREATE FUNCTION svc_empty_org(org uuid, most integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    one regclass;
    taken bigint;
BEGIN
    FOR one IN
        WITH RECURSIVE hanging (id, distance) AS (
            SELECT 'orgs'::regclass::oid, 0
            UNION
            SELECT k.conrelid, h.distance + 1
            FROM hanging h
            JOIN pg_constraint k
                ON k.confrelid = h.id AND k.contype = 'f' AND k.conrelid <> k.confrelid
            JOIN pg_attribute c ON c.attrelid = k.conrelid AND c.attname = 'org_id'
            WHERE h.distance < 20
        )
        SELECT id::regclass FROM hanging WHERE distance > 0
        GROUP BY id ORDER BY max(distance) DESC, id
    LOOP
        EXECUTE format(
            'DELETE FROM %s WHERE org_id = $1'
            ' AND ctid = ANY (ARRAY(SELECT ctid FROM %s WHERE org_id = $1 LIMIT $2))',
            one, one
        ) USING org, most;
        GET DIAGNOSTICS taken = ROW_COUNT;
        IF taken > 0 THEN
            RETURN taken;
        END IF;
    END LOOP;
    RETURN 0;
END $$;
