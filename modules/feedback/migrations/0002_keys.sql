-- What surveys know of somebody goes with the account.
ALTER TABLE survey_rests
    ADD CONSTRAINT survey_rests_person FOREIGN KEY (user_id)
        REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE survey_responses
    ADD CONSTRAINT survey_responses_person FOREIGN KEY (user_id)
        REFERENCES users (id) ON DELETE CASCADE;
-- What was done in a workspace goes with it.
ALTER TABLE survey_activity
    ADD CONSTRAINT survey_activity_org FOREIGN KEY (org_id) REFERENCES orgs (id) ON DELETE CASCADE;
