-- People and agents are looked for by what they are called. By a column of its own: row-level
-- security lets no index be asked with lower(name), which might tell what it sees.
ALTER TABLE principals
    ADD COLUMN name_key text GENERATED ALWAYS AS (lower(name)) STORED;
CREATE INDEX principals_by_name ON principals (org_id, name_key, id);
