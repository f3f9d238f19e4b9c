-- A copy that is under way goes with its board.
ALTER TABLE board_copies
    ADD CONSTRAINT board_copies_board FOREIGN KEY (org_id, board_id)
        REFERENCES boards (org_id, id) ON DELETE CASCADE;
ALTER TABLE board_copy_cards
    ADD CONSTRAINT board_copy_cards_copy FOREIGN KEY (org_id, board_id)
        REFERENCES board_copies (org_id, board_id) ON DELETE CASCADE;
