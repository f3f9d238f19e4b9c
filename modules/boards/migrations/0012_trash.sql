-- What is in the trash goes for good after a while.

-- It is being removed for good, and no longer comes back.
ALTER TABLE boards ADD COLUMN purged_at timestamptz;

CREATE INDEX boards_in_trash ON boards (org_id, last_edited_time) WHERE in_trash;
CREATE INDEX cards_in_trash ON cards (org_id, last_edited_time) WHERE in_trash;
