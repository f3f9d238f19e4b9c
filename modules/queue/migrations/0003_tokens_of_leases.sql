-- By which token a card was claimed, so that its lease ends with the token; null for a session.
-- Leases from before this column end with their holder's right alone.
ALTER TABLE queue ADD COLUMN token_id uuid;
