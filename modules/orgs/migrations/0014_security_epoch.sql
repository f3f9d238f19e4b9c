-- The number by which servers notice that rights in a workspace changed.
ALTER TABLE orgs RENAME COLUMN standing TO security_epoch;
