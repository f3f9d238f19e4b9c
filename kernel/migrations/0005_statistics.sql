-- Has PostgreSQL look at a table that so many rows were put into, when that is much for it; how many
-- it is now thought to have. Nothing when there is no such table, or another is at it.
CREATE FUNCTION svc_analyze(filled text, more bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    rows_known bigint;
BEGIN
    SELECT c.reltuples::bigint INTO rows_known
    FROM pg_class c
    WHERE c.oid = to_regclass(filled) AND c.relkind = 'r';
    IF rows_known < 0 OR more * 5 >= rows_known THEN
        EXECUTE format('ANALYZE (SKIP_LOCKED) %I', filled);
        SELECT c.reltuples::bigint INTO rows_known FROM pg_class c WHERE c.oid = to_regclass(filled);
    END IF;
    RETURN greatest(rows_known, 0);
END $$;
