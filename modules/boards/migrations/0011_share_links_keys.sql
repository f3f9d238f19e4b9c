-- Share links go with what they show.
ALTER TABLE share_links
    ADD CONSTRAINT share_links_board FOREIGN KEY (org_id, board_id)
        REFERENCES boards (org_id, id) ON DELETE CASCADE;
ALTER TABLE share_links
    ADD CONSTRAINT share_links_card FOREIGN KEY (org_id, card_id)
        REFERENCES cards (org_id, id) ON DELETE CASCADE;
