-- Cards that are put away keep their places among those of their column.
CREATE INDEX cards_put_away ON cards (org_id, column_id, position, id)
    WHERE is_archived OR in_trash;
