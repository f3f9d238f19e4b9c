-- What goes with its card.
ALTER TABLE card_links
    ADD CONSTRAINT card_links_card FOREIGN KEY (org_id, card_id)
        REFERENCES cards (org_id, id) ON DELETE CASCADE;
ALTER TABLE card_links
    ADD CONSTRAINT card_links_target FOREIGN KEY (org_id, target_id)
        REFERENCES cards (org_id, id) ON DELETE CASCADE;
ALTER TABLE card_watchers
    ADD CONSTRAINT card_watchers_card FOREIGN KEY (org_id, card_id)
        REFERENCES cards (org_id, id) ON DELETE CASCADE;
ALTER TABLE card_versions
    ADD CONSTRAINT card_versions_card FOREIGN KEY (org_id, card_id)
        REFERENCES cards (org_id, id) ON DELETE CASCADE;
