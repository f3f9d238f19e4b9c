-- Connected clients are looked for among all the tokens that a workspace ever made.
CREATE INDEX tokens_by_client ON tokens (org_id, id) WHERE client_name IS NOT NULL;
