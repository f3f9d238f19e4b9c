-- What surveys know of somebody goes with the account.
ALTER TABLE survey_rests
    ADD CONSTRAINT survey_rests_person FOREIGN KEY (user_id)
        REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE survey_responses
    ADD CONSTRAINT survey_responses_person FOREIGN KEY (user_id)
        REFERENCES users (id) ON DELETE CASCADE;
