-- Addresses are compared by another key from now on (docs/decisions/0027-one-mailbox-one-account.md).
-- It takes Unicode's tables, so the server makes the keys of the rows that are there anew when it
-- next starts, and notes here that it has.
CREATE TABLE address_keys (
    renewed_at timestamptz  -- null: still to be done
);
INSERT INTO address_keys VALUES (NULL);

-- Whom the operator has shut out: neither old sessions nor new ones (`workboard user disable`).
ALTER TABLE users ADD COLUMN disabled_at timestamptz;
