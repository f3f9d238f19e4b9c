-- An agent with any grant is confined, even if the board is in the trash.
CREATE OR REPLACE VIEW confined_agents WITH (security_invoker = true) AS
SELECT g.org_id, g.principal_id AS agent_id
FROM board_grants g;
