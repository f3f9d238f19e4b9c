-- What is in the trash goes for good after a while.
CREATE INDEX blocks_in_trash ON blocks (org_id, trashed_at) WHERE trashed_by = id;

ALTER TABLE comments ADD COLUMN trashed_at timestamptz;
UPDATE comments SET trashed_at = now() WHERE org_id IS NOT NULL AND in_trash;
CREATE INDEX comments_in_trash ON comments (org_id, trashed_at) WHERE trashed_at IS NOT NULL;
