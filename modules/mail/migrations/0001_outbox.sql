-- Every mail that is to be sent, written by the transaction that wants it sent.
CREATE TABLE mail_outbox (
    org_id uuid NOT NULL,  -- the nil UUID for mails about an account, which is in no workspace
    id uuid NOT NULL,
    template text NOT NULL,
    recipient text NOT NULL,
    subject text NOT NULL,
    text_body text NOT NULL,  -- of a sent mail empty, as are the html and the link
    html_body text NOT NULL,
    link text,
    status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'sending', 'sent', 'failed')),
    attempts integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL DEFAULT now(),
    last_error text,
    created_time timestamptz NOT NULL DEFAULT now(),
    sent_at timestamptz,
    PRIMARY KEY (org_id, id)
) WITH (fillfactor = 70);
CREATE INDEX mail_outbox_due ON mail_outbox (org_id, next_attempt_at)
    WHERE status IN ('queued', 'sending');

ALTER TABLE mail_outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE mail_outbox FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON mail_outbox
    USING (org_id = svc_org() OR svc_all_orgs())
    WITH CHECK (org_id = svc_org() OR svc_all_orgs());
-- Anybody may have a mail about an account sent; only the sender reads it.
CREATE POLICY account_mail ON mail_outbox
    FOR INSERT WITH CHECK (org_id = '00000000-0000-0000-0000-000000000000');
