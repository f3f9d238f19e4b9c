-- What people and agents report about the service, and what surveys heard from people.

-- Of the submitter alone, and the operator. There is no foreign key to the workspace, for reports are
-- also given outside workspaces; a job looks for those of workspaces and accounts that are gone.
CREATE TABLE feedback_reports (
    org_id uuid NOT NULL,             -- the nil UUID: given in no workspace
    id uuid NOT NULL,
    user_id uuid NOT NULL,            -- who gave it: a person or an agent
    person_id uuid NOT NULL,          -- the person behind it
    type text NOT NULL CHECK (type IN ('bug', 'idea', 'praise', 'question', 'other')),
    status text NOT NULL DEFAULT 'new'
        CHECK (status IN ('new', 'acknowledged', 'in_progress', 'resolved', 'declined')),
    surface text NOT NULL CHECK (surface IN ('web', 'api', 'mcp')),
    title text,
    message text NOT NULL,
    page_url text,
    metadata jsonb NOT NULL DEFAULT '{}',
    screenshot_file_id uuid,
    reply text,                       -- the operator's
    replied_at timestamptz,
    closed_at timestamptz,            -- when it became resolved or declined, while it is
    created_time timestamptz NOT NULL DEFAULT now(),
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    version bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX feedback_reports_of_user ON feedback_reports (org_id, user_id, id);
CREATE INDEX feedback_reports_closed ON feedback_reports (org_id, user_id, closed_at)
    WHERE closed_at IS NOT NULL;
-- For the operator, who looks at those of all workspaces.
CREATE INDEX feedback_reports_by_id ON feedback_reports (id);
CREATE INDEX feedback_reports_by_status ON feedback_reports (status, id);

-- How much somebody has done in a workspace, for surveys to go by. Written by a consumer of
-- events, never by a request.
CREATE TABLE survey_activity (
    org_id uuid NOT NULL,
    user_id uuid NOT NULL,            -- the person
    active_days integer NOT NULL DEFAULT 0,
    last_active_on date,
    finished_count bigint NOT NULL DEFAULT 0,  -- leases that were completed by the person or the person's agents
    last_finished_at timestamptz,
    PRIMARY KEY (org_id, user_id)
) WITH (fillfactor = 80);

-- When a survey last had somebody's attention: none asks again for a while.
CREATE TABLE survey_rests (
    user_id uuid PRIMARY KEY,
    since timestamptz NOT NULL
) WITH (fillfactor = 80);

-- The person's in every workspace; where it was given is kept for the operator.
CREATE TABLE survey_responses (
    user_id uuid NOT NULL,
    survey_key text NOT NULL CHECK (survey_key IN ('nps', 'csat', 'onboarding', 'agent_quality')),
    id uuid NOT NULL,
    given_in uuid,                    -- the workspace; null: none
    outcome text NOT NULL CHECK (outcome IN ('answered', 'dismissed')),
    score smallint,
    comment text,
    created_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, survey_key, id),
    CHECK ((outcome = 'answered') = (score IS NOT NULL))
);
-- For the operator.
CREATE INDEX survey_responses_by_key ON survey_responses (survey_key, id);

ALTER TABLE feedback_reports ENABLE ROW LEVEL SECURITY;
ALTER TABLE feedback_reports FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON feedback_reports
    USING (
        org_id = svc_org()
        OR (org_id = '00000000-0000-0000-0000-000000000000' AND person_id = svc_user())
        OR svc_all_orgs()
    )
    WITH CHECK (
        org_id = svc_org()
        OR (org_id = '00000000-0000-0000-0000-000000000000' AND person_id = svc_user())
        OR svc_all_orgs()
    );

ALTER TABLE survey_activity ENABLE ROW LEVEL SECURITY;
ALTER TABLE survey_activity FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON survey_activity
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE survey_rests ENABLE ROW LEVEL SECURITY;
ALTER TABLE survey_rests FORCE ROW LEVEL SECURITY;
CREATE POLICY by_person ON survey_rests
    USING (user_id = svc_user() OR svc_all_orgs())
    WITH CHECK (user_id = svc_user() OR svc_all_orgs());

ALTER TABLE survey_responses ENABLE ROW LEVEL SECURITY;
ALTER TABLE survey_responses FORCE ROW LEVEL SECURITY;
CREATE POLICY by_person ON survey_responses
    USING (user_id = svc_user() OR svc_all_orgs())
    WITH CHECK (user_id = svc_user() OR svc_all_orgs());
