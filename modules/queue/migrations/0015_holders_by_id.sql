-- Whoever holds a lease is known by their id, as everywhere (orgs' 0001): their name stood in each
-- row of the queue and of what came of leases, which every claim and every ending wrote anew.
-- Automations had no row that names them; who holds, or held, a lease gets one here.
INSERT INTO principals (org_id, id, type, name)
SELECT DISTINCT ON (h.org_id, h.id) h.org_id, h.id, h.type, h.name
FROM (
    SELECT q.org_id, (q.holder ->> 'id')::uuid AS id, q.holder ->> 'principal_type' AS type,
        q.holder ->> 'name' AS name
    FROM queue q
    WHERE q.org_id IS NOT NULL AND q.holder IS NOT NULL
    UNION ALL
    SELECT o.org_id, (o.holder ->> 'id')::uuid, o.holder ->> 'principal_type', o.holder ->> 'name'
    FROM lease_outcomes o
    WHERE o.org_id IS NOT NULL
) h
WHERE h.type = 'automation'
ORDER BY h.org_id, h.id
ON CONFLICT (org_id, id) DO NOTHING;

ALTER TABLE queue ADD COLUMN holder_id uuid;
UPDATE queue
SET holder_id = (holder ->> 'id')::uuid
WHERE org_id IS NOT NULL AND holder IS NOT NULL;

ALTER TABLE lease_outcomes ADD COLUMN holder_id uuid;
UPDATE lease_outcomes
SET holder_id = (holder ->> 'id')::uuid
WHERE org_id IS NOT NULL;
ALTER TABLE lease_outcomes ALTER COLUMN holder_id SET NOT NULL;

CREATE OR REPLACE VIEW card_work WITH (security_invoker = true) AS
SELECT
    q.org_id, q.card_id,
    jsonb_build_object('state', q.state, 'attempts', q.attempt,
        'available_at', q.available_at, 'last_error', q.last_error) AS queue,
    CASE WHEN q.lease_id IS NOT NULL THEN
        jsonb_build_object('id', q.lease_id,
            'holder', coalesce(
                (SELECT jsonb_build_object('id', p.id, 'principal_type', p.type, 'name', p.name)
                 FROM principals p
                 WHERE p.org_id = q.org_id AND p.id = q.holder_id),
                jsonb_build_object(
                    'id', q.holder_id, 'principal_type', 'automation', 'name', NULL)),
            'attempt', q.attempt, 'expires_at', q.expires_at)
    END AS lease
FROM queue q;

ALTER TABLE queue DROP COLUMN holder;
ALTER TABLE lease_outcomes DROP COLUMN holder;

ALTER TABLE queue ALTER COLUMN holder_id SET STATISTICS 10;
ALTER TABLE lease_outcomes ALTER COLUMN holder_id SET STATISTICS 10;
