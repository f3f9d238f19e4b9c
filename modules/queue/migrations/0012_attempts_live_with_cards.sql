-- What came of the attempts at a card is kept as long as the card, for whoever works on it next; what was
-- released or revoked was none, and is looked for by age.
CREATE INDEX lease_outcomes_no_attempts ON lease_outcomes (org_id, lease_id)
    WHERE state IN ('released', 'revoked');
-- Cards that were claimed so often that the oldest of it is forgotten.
CREATE INDEX queue_much_tried ON queue (org_id, card_id) WHERE epoch > 1000;
