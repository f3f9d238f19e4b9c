-- What is on its way to sessions whose answers come on a stream (the HTTP+SSE transport), so that it
-- reaches whichever server holds the stream, and is there again when the stream breaks off.
CREATE TABLE mcp_mailboxes (
    org_id     uuid        NOT NULL,
    session_id uuid        NOT NULL,
    last       bigint      NOT NULL,  -- sequence of the newest message
    expires_at timestamptz NOT NULL,  -- with the session
    PRIMARY KEY (org_id, session_id)
);
CREATE INDEX mcp_mailboxes_by_expiry ON mcp_mailboxes (org_id, expires_at);

CREATE TABLE mcp_messages (
    org_id       uuid        NOT NULL,
    session_id   uuid        NOT NULL,
    sequence     bigint      NOT NULL,
    message      text        NOT NULL,
    created_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, session_id, sequence)
);
CREATE INDEX mcp_messages_by_age ON mcp_messages (org_id, created_time);

-- Resources that sessions want to be told of when they change.
CREATE TABLE mcp_subscriptions (
    org_id     uuid        NOT NULL,
    session_id uuid        NOT NULL,
    uri        text        NOT NULL,
    object_id  uuid        NOT NULL,  -- the board or the card
    board_id   uuid        NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, session_id, uri)
);
CREATE INDEX mcp_subscriptions_by_expiry ON mcp_subscriptions (org_id, expires_at);

ALTER TABLE mcp_mailboxes ENABLE ROW LEVEL SECURITY;
ALTER TABLE mcp_mailboxes FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON mcp_mailboxes
    USING (org_id = svc_org() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());
ALTER TABLE mcp_messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE mcp_messages FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON mcp_messages
    USING (org_id = svc_org() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());
ALTER TABLE mcp_subscriptions ENABLE ROW LEVEL SECURITY;
ALTER TABLE mcp_subscriptions FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON mcp_subscriptions
    USING (org_id = svc_org() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());
