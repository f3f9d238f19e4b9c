-- What an agent has used goes with it.
ALTER TABLE agent_usage
    ADD CONSTRAINT agent_usage_agent FOREIGN KEY (org_id, agent_id)
        REFERENCES agents (org_id, id) ON DELETE CASCADE;
