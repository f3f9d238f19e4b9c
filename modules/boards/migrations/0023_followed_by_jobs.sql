-- Copies of boards and changes of definitions that cards have still to follow.
INSERT INTO jobs (org_id, kind, key, state)
SELECT c.org_id, 'boards.copy_cards', c.board_id::text, 'ready'
FROM board_copies c
WHERE c.org_id IS NOT NULL
ON CONFLICT (org_id, kind, key) DO NOTHING;
INSERT INTO jobs (org_id, kind, key, state)
SELECT r.org_id, 'boards.rewrite_cards', r.board_id::text, 'ready'
FROM card_rewrites r
WHERE r.org_id IS NOT NULL
ON CONFLICT (org_id, kind, key) DO NOTHING;
