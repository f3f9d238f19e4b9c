-- Whoever holds a lease is known by their id, as everywhere (orgs' 0001): their name stood in each
-- row of the queue and of what came of leases, which every claim and every ending wrote anew.
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
            'holder', (
                SELECT jsonb_build_object('id', p.id, 'principal_type', p.type, 'name', p.name)
                FROM principals p
                WHERE p.org_id = q.org_id AND p.id = q.holder_id),
            'attempt', q.attempt, 'expires_at', q.expires_at)
    END AS lease
FROM queue q;

ALTER TABLE queue DROP COLUMN holder;
ALTER TABLE lease_outcomes DROP COLUMN holder;

ALTER TABLE queue ALTER COLUMN holder_id SET STATISTICS 10;
ALTER TABLE lease_outcomes ALTER COLUMN holder_id SET STATISTICS 10;
