-- Grants of those who had left before grants went with the seat.
DELETE FROM board_grants g
WHERE g.org_id IS NOT NULL
  AND NOT EXISTS (SELECT FROM memberships m
                  WHERE m.org_id = g.org_id AND m.user_id = g.principal_id)
  AND NOT EXISTS (SELECT FROM agents a WHERE a.org_id = g.org_id AND a.id = g.principal_id);
