-- Workspaces that wait to be emptied.
INSERT INTO jobs (org_id, kind, key, state)
SELECT '00000000-0000-0000-0000-000000000000', 'orgs.delete', o.id::text, 'ready'
FROM orgs o
WHERE o.deleted_at IS NOT NULL
ON CONFLICT (org_id, kind, key) DO NOTHING;
