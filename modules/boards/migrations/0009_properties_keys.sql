-- Properties go with their board.
ALTER TABLE properties
    ADD CONSTRAINT properties_board FOREIGN KEY (org_id, board_id)
        REFERENCES boards (org_id, id) ON DELETE CASCADE;
