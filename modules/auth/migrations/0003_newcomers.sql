-- Whoever was added to a workspace by an admin has an account without a password: the mailed link
-- confirms the address and nothing else.
ALTER TABLE sign_ups ALTER COLUMN password_hash DROP NOT NULL;
