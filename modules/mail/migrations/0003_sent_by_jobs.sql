-- Mails are sent by durable jobs, which know when one is tried next.
INSERT INTO jobs (org_id, kind, key, state, attempts, due_at)
SELECT m.org_id, 'mail.send', m.id::text, 'waiting', m.attempts, m.next_attempt_at
FROM mail_outbox m
WHERE m.org_id IS NOT NULL AND m.status IN ('queued', 'sending')
ON CONFLICT (org_id, kind, key) DO NOTHING;
DROP INDEX mail_outbox_due;
ALTER TABLE mail_outbox DROP COLUMN next_attempt_at;
