-- MCP sessions that their clients have ended. A session is otherwise kept nowhere: its id is
-- a signed token, so that any server takes it, before and after a restart.
CREATE TABLE mcp_ended_sessions (
    org_id     uuid        NOT NULL,
    session_id uuid        NOT NULL,
    expires_at timestamptz NOT NULL,  -- when the token would have run out, and this row may go
    PRIMARY KEY (org_id, session_id)
);
CREATE INDEX mcp_ended_sessions_by_expiry ON mcp_ended_sessions (org_id, expires_at);

ALTER TABLE mcp_ended_sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE mcp_ended_sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON mcp_ended_sessions
    USING (org_id = svc_org() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());
