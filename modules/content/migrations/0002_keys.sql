-- What stands on a card goes with it.
ALTER TABLE blocks
    ADD CONSTRAINT blocks_card FOREIGN KEY (org_id, card_id)
        REFERENCES cards (org_id, id) ON DELETE CASCADE;
ALTER TABLE comments
    ADD CONSTRAINT comments_card FOREIGN KEY (org_id, card_id)
        REFERENCES cards (org_id, id) ON DELETE CASCADE;
