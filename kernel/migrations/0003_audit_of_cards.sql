-- The way from a card to what happened to it. Beside the chain: both say again what the entry and
-- its event say, so that nothing hangs on them.
ALTER TABLE audit_events
    ADD COLUMN kind text,      -- of the event; null: for the audit record alone
    ADD COLUMN card_id uuid;   -- the card it is about or belongs to
CREATE INDEX audit_events_by_card ON audit_events (org_id, card_id, occurred_at, id)
    WHERE card_id IS NOT NULL;
