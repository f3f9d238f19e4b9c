-- What a queue held goes with its column.
ALTER TABLE queue_depths
    ADD CONSTRAINT queue_depths_column FOREIGN KEY (org_id, column_id)
        REFERENCES columns (org_id, id) ON DELETE CASCADE;
