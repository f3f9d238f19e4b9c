-- People and agents are looked for by what they are called.
CREATE INDEX principals_by_name ON principals (org_id, lower(name), id);
