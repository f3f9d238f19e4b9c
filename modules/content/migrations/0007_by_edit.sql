-- Everything is listed by when it was last changed, too; cards have such an index already.
CREATE INDEX blocks_by_edit ON blocks (org_id, last_edited_time, id);
CREATE INDEX comments_by_edit ON comments (org_id, last_edited_time, id);
