#include "tests/unit/feedback/feedback_fixture.hpp"

/// Surveys as people meet them: what asks whom, and what comes of an answer.
namespace svc::test {
namespace {

class Surveys : public FeedbackTest {
protected:
    /// What get_my_surveys says of one of them.
    static json::value said(Client& by, const std::string& key) {
        const auto answer = expect(200, by.get("/v1/me/surveys")).json();
        for (const auto& each : answer.at("surveys").as_array())
            if (each.at("key") == json::value(key)) return each;
        throw std::runtime_error("there is no survey " + key);
    }
    static std::string reason_of(Client& by, const std::string& key) {
        return std::string(said(by, key).at("reason").as_string());
    }
    static Reply answer(
        Client& by, const std::string& key, int score, const json::object& more = {}
    ) {
        json::object body{{"score", score}};
        for (const auto& [name, value] : more) body[name] = value;
        return by.post("/v1/me/surveys/" + key + ":answer", json::value(body));
    }
    static Reply dismiss(Client& by, const std::string& key) {
        return by.post("/v1/me/surveys/" + key + ":dismiss");
    }
    static std::string why(const Reply& reply) {
        return reply.text("/additional_data/survey_reason");
    }
    void been_here_for(int days) {
        const auto back = "now() - interval '" + std::to_string(days) + " days'";
        ask("UPDATE users SET created_time = " + back + " WHERE id = '" + user + "'");
        ask("UPDATE memberships SET joined_at = " + back + " WHERE user_id = '" + user + "'");
    }
    void was_active(int days, int finished = 0) {
        ask("INSERT INTO survey_activity (org_id, user_id, active_days, last_active_on,"
            " finished_count, last_finished_at) VALUES ('" +
            org + "', '" + user + "', " + std::to_string(days) + ", now()::date, " +
            std::to_string(finished) + ", " + (finished ? "now()" : "NULL") +
            ") ON CONFLICT (org_id, user_id) DO UPDATE SET"
            " active_days = excluded.active_days, finished_count = excluded.finished_count,"
            " last_finished_at = excluded.last_finished_at");
    }
    /// Everything that surveys remember happened that much earlier.
    void days_go_by(int days) {
        const auto span = " - interval '" + std::to_string(days) + " days'";
        ask("UPDATE survey_rests SET since = since" + span);
        ask("UPDATE survey_responses SET created_time = created_time" + span);
    }
    std::string activity(const std::string& column) {
        return ask(
            "SELECT coalesce((SELECT " + column +
            "::text FROM survey_activity WHERE org_id"
            " = '" +
            org + "' AND user_id = '" + user + "'), 'none')"
        );
    }
};

TEST_F(Surveys, AreAllListedWithTheirReasons) {
    const auto fresh = expect(200, ada.get("/v1/me/surveys"));
    EXPECT_EQ(fresh.text("/object"), "survey_eligibility");
    EXPECT_EQ(fresh.text("/org_id"), org);
    EXPECT_EQ(fresh.text("/interruptible"), "false");
    EXPECT_EQ(fresh.json().at("surveys").as_array().size(), 4u);
    EXPECT_EQ(reason_of(ada, "nps"), "too_new");
    EXPECT_NE(said(ada, "nps").at("next_eligible_at"), json::value());
    EXPECT_EQ(reason_of(ada, "onboarding"), "too_new");
    EXPECT_EQ(reason_of(ada, "csat"), "not_triggered");
    EXPECT_EQ(reason_of(ada, "agent_quality"), "not_triggered");
    been_here_for(20);
    was_active(1, 3);
    EXPECT_EQ(reason_of(ada, "nps"), "low_activity");
    EXPECT_EQ(reason_of(ada, "onboarding"), "low_activity");
    EXPECT_EQ(reason_of(ada, "agent_quality"), "low_activity");
    was_active(5, 10);
    for (const char* each : {"nps", "onboarding", "agent_quality"})
        EXPECT_EQ(reason_of(ada, each), "eligible") << each;
    EXPECT_EQ(expect(200, ada.get("/v1/me/surveys")).text("/interruptible"), "true");
}

TEST_F(Surveys, AskNobodyWhoOptedOutAndNoAgent) {
    been_here_for(20);
    was_active(5, 10);
    Client integration = program(ada), agent = program(ada, "agent", "admin");
    EXPECT_EQ(reason_of(integration, "nps"), "eligible");  // it is Ada herself
    EXPECT_EQ(reason_of(agent, "nps"), "not_triggered");
    expect(403, answer(agent, "nps", 9));
    expect(403, dismiss(agent, "nps"));
    expect(200, patch(ada, "/v1/me/preferences", {{"surveys_opt_out", true}}));
    for (const char* each : {"nps", "csat", "onboarding", "agent_quality"})
        EXPECT_EQ(reason_of(ada, each), "opted_out") << each;
    EXPECT_EQ(why(expect(409, answer(ada, "nps", 9))), "opted_out");
}

TEST_F(Surveys, WithoutAWorkspaceNobodyIsAskedForNps) {
    Client eve = person("eve@example.com");
    const auto answer = expect(200, eve.get("/v1/me/surveys"));
    EXPECT_EQ(answer.text("/org_id"), "null");
    EXPECT_EQ(reason_of(eve, "nps"), "no_workspace");
    EXPECT_EQ(reason_of(eve, "onboarding"), "no_workspace");
    EXPECT_EQ(reason_of(eve, "csat"), "not_triggered");
    expect(404, eve.send("GET", "/v1/me/surveys", {}, {{"X-Svc-Org", org}}));
}

TEST_F(Surveys, AnAnswerHasAllSurveysRest) {
    been_here_for(20);
    was_active(5, 10);
    const auto given = expect(200, answer(ada, "nps", 0, {{"comment", " Too slow "}}));
    EXPECT_EQ(given.text("/object"), "survey_response");
    EXPECT_EQ(given.text("/survey_key"), "nps");
    EXPECT_EQ(given.text("/outcome"), "answered");
    EXPECT_EQ(given.text("/score"), "0");
    EXPECT_EQ(given.text("/comment"), "Too slow");
    EXPECT_EQ(given.text("/org_id"), org);
    EXPECT_EQ(reason_of(ada, "nps"), "already_answered");
    EXPECT_EQ(reason_of(ada, "onboarding"), "frequency_cap");
    EXPECT_EQ(reason_of(ada, "agent_quality"), "frequency_cap");
    EXPECT_EQ(why(expect(409, answer(ada, "nps", 9))), "already_answered");
    EXPECT_EQ(reason(answer(ada, "agent_quality", 5)), "survey_not_eligible");
    EXPECT_EQ(why(expect(409, dismiss(ada, "onboarding"))), "frequency_cap");
    days_go_by(14);
    EXPECT_EQ(reason_of(ada, "onboarding"), "eligible");
    EXPECT_EQ(reason_of(ada, "agent_quality"), "eligible");
    EXPECT_EQ(reason_of(ada, "nps"), "already_answered");
    days_go_by(76);
    EXPECT_EQ(reason_of(ada, "nps"), "eligible");
}

TEST_F(Surveys, ADismissalCountsAsAnAnswerDoes) {
    been_here_for(20);
    was_active(5, 10);
    const auto given = expect(200, dismiss(ada, "onboarding"));
    EXPECT_EQ(given.text("/outcome"), "dismissed");
    EXPECT_EQ(given.text("/score"), "null");
    for (const char* each : {"nps", "onboarding", "agent_quality"})
        EXPECT_EQ(reason_of(ada, each), "frequency_cap") << each;
    days_go_by(14);
    EXPECT_EQ(reason_of(ada, "nps"), "eligible");
    EXPECT_EQ(reason_of(ada, "onboarding"), "frequency_cap");  // it asks once
}

TEST_F(Surveys, RestInEveryWorkspaceOfAPerson) {
    been_here_for(20);
    was_active(5, 10);
    const auto other =
        expect(201, ada.post("/v1/orgs", json::value{{"name", "Other"}})).text("/id");
    Client there = ada;
    there.always("X-Svc-Org", other);
    EXPECT_EQ(reason_of(there, "nps"), "too_new");  // in this one
    expect(200, answer(ada, "nps", 9));
    EXPECT_EQ(reason_of(there, "nps"), "already_answered");
}

TEST_F(Surveys, TwoResponsesAtTheSameMomentAreOne) {
    been_here_for(20);
    was_active(5, 10);
    const auto replies = at_once(6, [&](int i) {
        Client own = ada;
        return i % 2 ? answer(own, "nps", 9) : dismiss(own, "agent_quality");
    });
    EXPECT_EQ(count_status(replies, 200), 1);
    EXPECT_EQ(count_status(replies, 409), 5);
    EXPECT_EQ(ask("SELECT count(*) FROM survey_responses"), "1");
}

TEST_F(Surveys, BadAnswersSayWhatIsWrong) {
    been_here_for(20);
    was_active(5, 10);
    const auto loc = [&](const std::string& key, int score, json::object more = {}) {
        return json::serialize(first_loc(expect(422, answer(ada, key, score, more))));
    };
    EXPECT_EQ(loc("nps", 11), R"(["body","score"])");
    EXPECT_EQ(loc("nps", -1), R"(["body","score"])");
    EXPECT_EQ(loc("agent_quality", 0), R"(["body","score"])");
    EXPECT_EQ(loc("agent_quality", 6), R"(["body","score"])");
    EXPECT_EQ(loc("nps", 9, {{"comment", std::string(2001, 'x')}}), R"(["body","comment"])");
    EXPECT_EQ(loc("weather", 9), R"(["path","survey_key"])");
    Client reader = program(ada, "integration", "viewer");
    expect(403, answer(reader, "nps", 9));
    EXPECT_EQ(reason_of(ada, "nps"), "eligible");
}

TEST_F(Surveys, CsatAsksAboutAReportThatWasClosed) {
    Client bob = member("bob@example.com", "admin");
    const auto id = expect(201, give(ada)).text("/id");
    EXPECT_EQ(reason_of(ada, "csat"), "not_triggered");
    ASSERT_EQ(operator_says({"feedback", "set-status", id, "resolved"}).code, 0);
    EXPECT_EQ(reason_of(ada, "csat"), "eligible");
    EXPECT_EQ(reason_of(bob, "csat"), "not_triggered");  // it is not his
    expect(200, answer(ada, "csat", 4));
    EXPECT_EQ(reason_of(ada, "csat"), "already_answered");
    ask("UPDATE feedback_reports SET closed_at = now() - interval '15 days'");
    EXPECT_EQ(reason_of(ada, "csat"), "not_triggered");
}

// What people and their agents do is counted by what happened, a moment later.
TEST_F(Surveys, KnowWhatSomebodyAndSomebodysAgentsDid) {
    EXPECT_TRUE(eventually([&] { return activity("active_days") == "1"; })
    );  // she made a workspace
    const auto board =
        expect(201, ada.post("/v1/boards", json::value{{"name", "Desk"}})).text("/id");
    const auto column =
        expect(
            201,
            ada.post(
                "/v1/boards/" + board + "/columns",
                json::value{{"name", "Queue"}, {"kind", "queue"}, {"queue", {{"enabled", true}}}}
            )
        ).text("/id");
    Client agent = program(ada, "agent", "member"), integration = program(ada);
    for (Client* worker : {&agent, &agent, &integration}) {
        expect(
            201,
            ada.post(
                "/v1/boards/" + board + "/cards",
                json::value{{"column_id", column}, {"title", "Work"}}
            )
        );
        const auto claimed = expect(
            200,
            worker->post(
                "/v1/boards/" + board + "/columns/" + column + ":claim-next",
                json::value(json::object())
            )
        );
        expect(
            200,
            worker->post(
                "/v1/leases/" + claimed.text("/lease/id") + ":complete",
                json::value{{"lease_token", claimed.text("/lease_token")}}
            )
        );
    }
    EXPECT_TRUE(eventually([&] { return activity("finished_count") == "3"; }))
        << activity("finished_count");
    EXPECT_EQ(activity("active_days"), "1");
    ask("UPDATE survey_activity SET finished_count = 10");
    EXPECT_EQ(reason_of(ada, "agent_quality"), "eligible");
    // Another day is another day, for servers that have not written it down yet.
    ask("UPDATE survey_activity SET last_active_on = last_active_on - 1");
    Server second(options(with_key({})));
    server.end(SIGTERM);
    Client there = second.client();
    expect(200, log_in(there, "ada@example.com"));
    there.always("X-Svc-Org", org);
    expect(201, there.post("/v1/boards", json::value{{"name", "Other"}}));
    EXPECT_TRUE(eventually([&] { return activity("active_days") == "2"; }));
}

TEST_F(Surveys, ResultsAreTheOperators) {
    been_here_for(20);
    was_active(5, 10);
    expect(200, answer(ada, "nps", 10, {{"comment", "Good \xE2\x80\xAE work"}}));
    ask("INSERT INTO survey_responses (user_id, survey_key, id, outcome, score)"
        " SELECT '" +
        user +
        "', k, gen_random_uuid(), 'answered', s FROM (VALUES ('nps', 9),"
        " ('nps', 3), ('nps', 8), ('csat', 4), ('csat', 5)) AS v (k, s) RETURNING score");
    expect(409, dismiss(ada, "agent_quality"));
    days_go_by(14);
    expect(200, dismiss(ada, "agent_quality"));
    const auto all = operator_says({"surveys"});
    EXPECT_EQ(all.code, 0);
    EXPECT_THAT(
        all.output, HasSubstr("nps                 4 answered      0 dismissed   score +25")
    );
    EXPECT_THAT(all.output, HasSubstr("mean 4.50 of 5"));
    EXPECT_THAT(all.output, HasSubstr("agent_quality       0 answered      1 dismissed"));
    const auto one = operator_says({"surveys", "nps"});
    EXPECT_THAT(one.output, HasSubstr("Good   work"));
    EXPECT_THAT(one.output, Not(HasSubstr("csat")));
    EXPECT_EQ(operator_says({"surveys", "weather"}).code, 2);
}

class SurveysAreOff : public FeedbackTest {
protected:
    SurveysAreOff() : FeedbackTest({"feedback.surveys=false"}) {}
};

TEST_F(SurveysAreOff, NothingAsks) {
    const auto answer = expect(200, ada.get("/v1/me/surveys"));
    EXPECT_EQ(answer.text("/interruptible"), "false");
    const auto body = answer.json();
    for (const auto& each : body.at("surveys").as_array())
        EXPECT_EQ(each.at("reason"), "not_triggered");
}

}  // namespace
}  // namespace svc::test
