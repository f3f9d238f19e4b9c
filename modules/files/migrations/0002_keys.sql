-- A file hangs on a card as long as both are there.
ALTER TABLE file_places
    ADD CONSTRAINT file_places_card FOREIGN KEY (org_id, card_id)
        REFERENCES cards (org_id, id) ON DELETE CASCADE;
ALTER TABLE file_places
    ADD CONSTRAINT file_places_file FOREIGN KEY (org_id, file_id)
        REFERENCES files (org_id, id) ON DELETE CASCADE;
