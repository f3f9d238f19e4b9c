-- What goes with its workspace.
ALTER TABLE automation_states
    ADD CONSTRAINT automation_states_org FOREIGN KEY (org_id) REFERENCES orgs (id) ON DELETE CASCADE;
