-- Since when the longest waiting card of a queue is there. The condition is written so that it is no
-- answer to that of claims, which look by urgency: one that took this index would sort the column.
CREATE INDEX queue_longest_waiting ON queue (org_id, column_id, queued_at)
    WHERE CASE state WHEN 'ready' THEN NOT blocked END;
