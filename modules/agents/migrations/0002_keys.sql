-- Tokens end with the seat that is their ceiling, and agents with their workspace.
ALTER TABLE agents
    ADD CONSTRAINT agents_org FOREIGN KEY (org_id) REFERENCES orgs (id) ON DELETE CASCADE;
ALTER TABLE tokens
    ADD CONSTRAINT tokens_org FOREIGN KEY (org_id) REFERENCES orgs (id) ON DELETE CASCADE,
    ADD CONSTRAINT tokens_agent FOREIGN KEY (org_id, agent_id) REFERENCES agents (org_id, id)
        ON DELETE CASCADE;
