-- A board that goes takes along what its cards still had to follow.
ALTER TABLE card_rewrites
    ADD CONSTRAINT card_rewrites_board FOREIGN KEY (org_id, board_id)
        REFERENCES boards (org_id, id) ON DELETE CASCADE;
