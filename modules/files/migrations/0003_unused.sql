-- Since when an attachment has been known to hang on no card.
ALTER TABLE files ADD COLUMN idle_since timestamptz;
