-- A check is read from text at each write of the table. The states are those of an enum; nobody else
-- writes them, and tests look that a lease and a pause are there exactly in their states.
ALTER TABLE queue
    DROP CONSTRAINT queue_state_check,
    DROP CONSTRAINT queue_check,
    DROP CONSTRAINT queue_check1;
ALTER TABLE lease_outcomes DROP CONSTRAINT lease_outcomes_state_check;
