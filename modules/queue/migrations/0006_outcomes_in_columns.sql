-- How a lease ended is kept once, in columns; a copy of the card as it was then is not kept. A
-- worker that ends a lease again the same way gets the lease as it ended and the card as it is.
ALTER TABLE lease_outcomes
    ADD COLUMN board_id uuid,
    ADD COLUMN column_id uuid,
    ADD COLUMN holder json,               -- a PrincipalRef
    ADD COLUMN attempt integer,
    ADD COLUMN epoch bigint,
    ADD COLUMN lease_ttl_seconds integer,
    ADD COLUMN claimed_at timestamptz,
    ADD COLUMN renewed_at timestamptz,
    ADD COLUMN expires_at timestamptz,
    ADD COLUMN error text,
    ADD COLUMN result json;               -- what the holder left behind: an object

UPDATE lease_outcomes
SET board_id = (lease ->> 'board_id')::uuid,
    column_id = (lease ->> 'column_id')::uuid,
    holder = lease -> 'holder',
    attempt = (lease ->> 'attempt')::integer,
    epoch = (lease ->> 'epoch')::bigint,
    lease_ttl_seconds = (lease ->> 'lease_ttl_seconds')::integer,
    claimed_at = (lease ->> 'claimed_at')::timestamptz,
    renewed_at = (lease ->> 'renewed_at')::timestamptz,
    expires_at = (lease ->> 'expires_at')::timestamptz,
    ended_at = coalesce((lease ->> 'ended_at')::timestamptz, ended_at),
    error = lease ->> 'error',
    result = nullif((lease -> 'result')::text, 'null')::json
WHERE org_id IS NOT NULL;

ALTER TABLE lease_outcomes
    ALTER COLUMN board_id SET NOT NULL,
    ALTER COLUMN column_id SET NOT NULL,
    ALTER COLUMN holder SET NOT NULL,
    ALTER COLUMN attempt SET NOT NULL,
    ALTER COLUMN epoch SET NOT NULL,
    ALTER COLUMN lease_ttl_seconds SET NOT NULL,
    ALTER COLUMN claimed_at SET NOT NULL,
    ALTER COLUMN expires_at SET NOT NULL,
    ALTER COLUMN holder SET STATISTICS 0,
    ALTER COLUMN error SET STATISTICS 0,
    ALTER COLUMN result SET STATISTICS 0,
    DROP COLUMN lease,
    DROP COLUMN card;
