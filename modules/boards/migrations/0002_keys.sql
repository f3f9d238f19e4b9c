-- What goes with its workspace, its board, its card.
ALTER TABLE boards
    ADD CONSTRAINT boards_org FOREIGN KEY (org_id) REFERENCES orgs (id) ON DELETE CASCADE;
ALTER TABLE board_counters
    ADD CONSTRAINT board_counters_board FOREIGN KEY (org_id, board_id)
        REFERENCES boards (org_id, id) ON DELETE CASCADE;
ALTER TABLE board_grants
    ADD CONSTRAINT board_grants_board FOREIGN KEY (org_id, board_id)
        REFERENCES boards (org_id, id) ON DELETE CASCADE;
ALTER TABLE columns
    ADD CONSTRAINT columns_board FOREIGN KEY (org_id, board_id)
        REFERENCES boards (org_id, id) ON DELETE CASCADE;
ALTER TABLE labels
    ADD CONSTRAINT labels_board FOREIGN KEY (org_id, board_id)
        REFERENCES boards (org_id, id) ON DELETE CASCADE;
-- A card cannot stand in another board's column.
ALTER TABLE cards
    ADD CONSTRAINT cards_column FOREIGN KEY (org_id, board_id, column_id)
        REFERENCES columns (org_id, board_id, id) ON DELETE CASCADE;
ALTER TABLE card_assignees
    ADD CONSTRAINT card_assignees_card FOREIGN KEY (org_id, card_id)
        REFERENCES cards (org_id, id) ON DELETE CASCADE;
