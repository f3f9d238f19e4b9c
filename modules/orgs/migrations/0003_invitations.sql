-- Asking somebody in by mail, and what an operator says of a workspace's bill.

-- At most one is pending for an address in a workspace; it holds no seat. One that has run out
-- stays `pending` in its row until the sweep or the next invitation says so: readers go by
-- expires_at.
CREATE TABLE invitations (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    email text NOT NULL,      -- as typed
    email_key text NOT NULL,  -- what addresses are compared by
    role text NOT NULL CHECK (role IN ('viewer', 'member', 'admin')),
    status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'accepted', 'declined', 'expired', 'revoked')),
    message text,
    token_digest bytea NOT NULL,  -- SHA-256 of the token in the newest mail
    invited_by uuid NOT NULL,
    expires_at timestamptz NOT NULL,
    send_count integer NOT NULL DEFAULT 1,
    last_sent_at timestamptz NOT NULL DEFAULT now(),
    responded_at timestamptz,
    created_time timestamptz NOT NULL DEFAULT now(),
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    version bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX invitations_pending ON invitations (org_id, email_key)
    WHERE status = 'pending';
-- For those who are invited, who are in none of the workspaces yet.
CREATE INDEX invitations_by_email ON invitations (email_key, id);
CREATE INDEX invitations_by_expiry ON invitations (expires_at) WHERE status = 'pending';

ALTER TABLE invitations ENABLE ROW LEVEL SECURITY;
ALTER TABLE invitations FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON invitations
    USING (org_id = svc_org() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());
-- The owner of the address sees them, and so does who presents it to sign up.
CREATE POLICY to_me ON invitations FOR SELECT
    USING (
        email_key = svc_credential()
        OR email_key = (
            SELECT u.email_key FROM users u WHERE u.id = svc_user() AND u.email_verified)
    );

-- InvitationResponse.
CREATE VIEW invitation_view WITH (security_invoker = true) AS
SELECT
    i.org_id, i.id, o.name AS org_name, i.email, i.role,
    CASE WHEN i.status = 'pending' AND i.expires_at <= now() THEN 'expired' ELSE i.status
    END AS status,
    i.message,
    json_build_object('id', i.invited_by,
        'principal_type', coalesce(p.type, 'user'), 'name', p.name) AS invited_by,
    i.expires_at, i.send_count, i.last_sent_at, i.responded_at,
    i.created_time, i.last_edited_time, i.version
FROM invitations i
JOIN orgs o ON o.id = i.org_id
LEFT JOIN principals p ON p.org_id = i.org_id AND p.id = i.invited_by;

-- When a member was last sent the mail that tells of the workspace, by :resend-invite.
ALTER TABLE memberships ADD COLUMN invite_sent_at timestamptz;
CREATE INDEX memberships_by_age ON memberships (org_id, id);

ALTER TABLE orgs ADD COLUMN past_due_since timestamptz;
ALTER TABLE orgs ADD COLUMN cancel_at timestamptz;

-- Set when an agent or an automation is deleted: its name stays on what it did.
ALTER TABLE principals ADD COLUMN gone_at timestamptz;
