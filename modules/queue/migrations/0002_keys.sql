-- A card's place in a queue goes with the card; how its leases ended goes with the workspace.
ALTER TABLE queue
    ADD CONSTRAINT queue_card FOREIGN KEY (org_id, card_id)
        REFERENCES cards (org_id, id) ON DELETE CASCADE;
ALTER TABLE lease_outcomes
    ADD CONSTRAINT lease_outcomes_org FOREIGN KEY (org_id) REFERENCES orgs (id) ON DELETE CASCADE;
