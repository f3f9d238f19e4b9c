-- A version holds what its successor changed. Rows from before hold every field, and so does a row
-- now and then: what an earlier version said is put together up to the first that does.
ALTER TABLE card_versions ADD COLUMN whole boolean NOT NULL DEFAULT true;
