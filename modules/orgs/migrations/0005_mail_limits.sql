-- How often mails of workspaces go out: what is counted here outlives seats and workspaces, so
-- that taking a seat away and giving it again buys nobody another mail.

-- By whom and to which address, over all workspaces; hence without a workspace. Seen by the person
-- who sends, and by who presents the address.
CREATE TABLE mail_counts (
    counted text NOT NULL CHECK (counted IN ('sender', 'recipient')),
    key text NOT NULL,  -- the person's id, or what the address is compared by
    started_at timestamptz NOT NULL DEFAULT now(),
    mails integer NOT NULL DEFAULT 1,
    PRIMARY KEY (counted, key)
) WITH (fillfactor = 80);
CREATE INDEX mail_counts_by_start ON mail_counts (started_at);

ALTER TABLE mail_counts ENABLE ROW LEVEL SECURITY;
ALTER TABLE mail_counts FORCE ROW LEVEL SECURITY;
CREATE POLICY by_presenter ON mail_counts
    USING (
        (counted = 'sender' AND key = svc_user()::text)
        OR (counted = 'recipient' AND key = svc_credential())
        OR svc_all_orgs()
    )
    WITH CHECK (
        (counted = 'sender' AND key = svc_user()::text)
        OR (counted = 'recipient' AND key = svc_credential())
        OR svc_all_orgs()
    );

-- When somebody was last sent the mail that tells of the workspace, by :resend-invite.
CREATE TABLE member_mails (
    org_id uuid NOT NULL,
    user_id uuid NOT NULL,
    sent_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, user_id)
);

ALTER TABLE member_mails ENABLE ROW LEVEL SECURITY;
ALTER TABLE member_mails FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON member_mails
    USING (org_id = svc_org() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());

INSERT INTO member_mails (org_id, user_id, sent_at)
SELECT m.org_id, m.user_id, m.invite_sent_at
FROM memberships m
WHERE m.org_id IS NOT NULL AND m.invite_sent_at IS NOT NULL;
ALTER TABLE memberships DROP COLUMN invite_sent_at;
