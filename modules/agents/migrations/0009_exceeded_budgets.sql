-- The last window of each budget in which it was told that the agent has used it up.
ALTER TABLE agent_usage
    ADD COLUMN minute_exceeded timestamptz,
    ADD COLUMN requests_exceeded timestamptz,
    ADD COLUMN writes_exceeded timestamptz;
