-- Which servers there are that tell each other who follows boards. Whoever was not heard of for a
-- while is gone, and what it said below counts no more.
CREATE TABLE presence_servers (
    server  uuid PRIMARY KEY,  -- as it calls itself until it ends
    seen_at timestamptz NOT NULL
);

-- Who follows a board by a stream of that server.
CREATE TABLE board_presence (
    org_id       uuid NOT NULL,
    board_id     uuid NOT NULL,
    server       uuid NOT NULL,
    principal_id uuid NOT NULL,
    who          text NOT NULL,  -- a PrincipalRef, as it is sent
    PRIMARY KEY (org_id, board_id, server, principal_id)
);
ALTER TABLE board_presence ENABLE ROW LEVEL SECURITY;
ALTER TABLE board_presence FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON board_presence
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
