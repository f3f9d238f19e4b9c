-- A log-in asks for the session that its person used last, however many he has had.
CREATE INDEX sessions_by_use ON sessions (user_id, last_seen_at DESC);
