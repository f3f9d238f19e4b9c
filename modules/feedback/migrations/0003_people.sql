-- By which the reports of an account are found that is gone.
CREATE INDEX feedback_reports_of_person ON feedback_reports (org_id, person_id);
