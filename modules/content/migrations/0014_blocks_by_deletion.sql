-- From a deleted block to all that went with it, of which a card may have any number.
CREATE INDEX blocks_by_deletion ON blocks (org_id, trashed_by) WHERE trashed_by IS NOT NULL;
