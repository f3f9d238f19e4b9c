-- Mails that nobody will send any more, for /metrics to count.
CREATE INDEX mail_outbox_failed ON mail_outbox (org_id) WHERE status = 'failed';
