-- Old messages of all workspaces are looked for as well as those of one.
DROP INDEX mcp_messages_by_age;
CREATE INDEX mcp_messages_by_age ON mcp_messages (created_time, org_id);
