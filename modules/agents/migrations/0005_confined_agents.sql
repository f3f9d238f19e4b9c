-- The agents that are confined to boards. Here nobody is; the module that has boards puts its own in
-- place of this one, columns as they are.
CREATE VIEW confined_agents WITH (security_invoker = true) AS
SELECT NULL::uuid AS org_id, NULL::uuid AS agent_id
WHERE false;
