#include "tests/support/mcp_client.hpp"
#include "tests/unit/feedback/feedback_fixture.hpp"

#include <csignal>

/// How often somebody may report within an hour, and what is asked before a body is looked at.
namespace svc::test {
namespace {

const std::vector<std::string> few{
    "feedback.reports_an_hour=3",
    "feedback.screenshots_an_hour=4",
    "feedback.screenshot_commits_an_hour=5"
};

class Caps : public FeedbackTest {
protected:
    Caps() : FeedbackTest(few) {}

    static Reply raw(Client& by, const std::string& path, const std::string& body) {
        return by.post(path, body, {{"Content-Type", "application/json"}});
    }
    const std::string reports = "/v1/feedback";
    const std::string uploads = "/v1/feedback/screenshots:presign";
    const std::string commits = "/v1/feedback/screenshots/" + nowhere + ":commit";
};

TEST_F(Caps, CountReportsOfAnHour) {
    for (int i = 0; i < 3; ++i) expect(201, give(ada));
    const auto refused = expect(429, give(ada));
    EXPECT_EQ(refused.text("/code"), "rate_limited");
    EXPECT_EQ(because(refused), "feedback");
    const int wait = std::stoi(refused.header("retry-after"));
    EXPECT_GT(wait, 3'500);
    EXPECT_LE(wait, 3'600);
    expect(200, ada.get("/v1/feedback"));  // reading is not counted
    an_hour_goes_by("59 minutes");
    expect(429, give(ada));
    an_hour_goes_by("1 minute");
    for (int i = 0; i < 3; ++i) expect(201, give(ada));
    expect(429, give(ada));
}

TEST_F(Caps, EachOfTheThreeHasItsOwnWindow) {
    for (int i = 0; i < 4; ++i) expect(201, presign(ada));
    EXPECT_EQ(because(expect(429, presign(ada))), "feedback_upload");
    for (int i = 0; i < 5; ++i) expect(404, commit(ada, nowhere));
    EXPECT_EQ(because(expect(429, commit(ada, nowhere))), "feedback_upload_commit");
    for (int i = 0; i < 3; ++i) expect(201, give(ada));
    EXPECT_EQ(because(expect(429, give(ada))), "feedback");
}

TEST_F(Caps, CountWhatIsNoJsonToo) {
    for (const char* body : {"{", "no JSON at all", R"({"type":"bug"})"})
        EXPECT_EQ(expect(422, raw(ada, reports, body)).text("/code"), "validation_error");
    expect(429, raw(ada, reports, "{"));
    expect(429, give(ada));

    for (const char* body : {"{", "\xFF", "[]", R"({"filename":"a/b","content_type":"image/png"})"})
        expect(422, raw(ada, uploads, body));
    expect(429, presign(ada));

    for (int i = 0; i < 5; ++i) expect(422, raw(ada, commits, "{"));
    expect(429, raw(ada, commits, "{"));
    expect(429, commit(ada, nowhere));
}

TEST_F(Caps, CountWhatNamesNoFileToo) {
    for (int i = 0; i < 5; ++i) expect(422, commit(ada, "no-id"));
    expect(429, commit(ada, "no-id"));
}

TEST_F(Caps, AWorkspaceIsSettledBeforeAnythingIsCounted) {
    Client plain = ada;
    plain.always("X-Svc-Org", "");
    const auto post = [&](const std::string& query, const Headers& headers) {
        return plain.send("POST", "/v1/feedback" + query, "{", headers);
    };
    for (int i = 0; i < 4; ++i) {
        const auto bad = expect(422, post("", {{"X-Svc-Org", "none"}}));
        EXPECT_EQ(first_loc(bad), json::value(json::array{"header", "x-svc-org"}));
        const auto query = expect(422, post("?org_id=none", {}));
        EXPECT_EQ(first_loc(query), json::value(json::array{"query", "org_id"}));
        const auto both = expect(422, post("?org_id=" + nowhere, {{"X-Svc-Org", org}}));
        EXPECT_EQ(first_loc(both), json::value(json::array{"query", "org_id"}));
        expect(404, post("", {{"X-Svc-Org", nowhere}}));
    }
    Client integration = program(ada);
    for (int i = 0; i < 4; ++i)
        expect(404, integration.post("/v1/feedback?org_id=" + nowhere, "{"));
    for (int i = 0; i < 3; ++i) expect(201, give(ada));
    expect(429, give(ada));
}

TEST_F(Caps, AreOfAPersonWhateverTheySignInWith) {
    Client integration = program(ada), agent = program(ada, "agent", "member");
    Client bob = member("bob@example.com", "viewer");
    expect(201, give(ada));
    expect(201, give(integration));
    expect(201, give(ada));
    expect(429, give(integration));
    expect(429, give(ada, {}, "?org_id=" + org));
    for (int i = 0; i < 3; ++i) expect(201, give(agent));
    expect(429, give(agent));
    expect(201, give(bob));
}

TEST_F(Caps, HoldWhileRightsChange) {
    Client integration = program(ada);
    for (int i = 0; i < 3; ++i) {
        program(ada, "agent", "member", "Robot " + std::to_string(i));  // what was known is stale
        expect(201, give(integration));
    }
    expect(429, give(integration));
}

TEST_F(Caps, CountToolsAndWhatTheyAreCalledWith) {
    const auto token = expect(
        201,
        ada.post(
            "/v1/tokens",
            json::value{{"kind", "integration"}, {"name", "Tools"}, {"role", "member"}}
        )
    );
    McpClient mcp(server.port(), token.text("/token"));
    mcp.initialize();
    for (int i = 0; i < 3; ++i) mcp.call("create_feedback", {{"type", "rant"}});
    EXPECT_THAT(
        mcp.call("create_feedback", {{"type", "bug"}, {"message", "x"}}).body,
        HasSubstr("rate_limited")
    );
    expect(429, give(ada));
}

TEST_F(Caps, ACommitCountsOnceHoweverOftenItIsRun) {
    std::vector<std::string> ids;
    for (int i = 0; i < 4; ++i) {
        const Announced made(expect(201, presign(ada)));
        expect(204, upload(made, png));
        ids.push_back(made.id);
    }
    for (const auto& id : ids) expect(200, commit(ada, id));
    expect(200, commit(ada, ids[0]));
    expect(429, commit(ada, ids[0]));
}

// As when it meets another that changes the same.
TEST_F(Caps, ACallThatIsRunAgainCountsOnce) {
    ask("CREATE SEQUENCE attempts");
    ask("GRANT USAGE ON SEQUENCE attempts TO PUBLIC");
    ask("CREATE FUNCTION fail_at_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF nextval('attempts') < 3 THEN RAISE EXCEPTION 'later' USING ERRCODE = '40001'; END IF; "
        "RETURN NEW; END $$");
    ask("CREATE TRIGGER fail_at_first BEFORE INSERT ON feedback_reports FOR EACH ROW "
        "EXECUTE FUNCTION fail_at_first()");
    expect(201, give(ada));
    EXPECT_EQ(ask("SELECT last_value FROM attempts"), "3");
    EXPECT_EQ(ask("SELECT count FROM rate_windows WHERE reason = 'feedback'"), "1");
}

TEST_F(Caps, CallsAtTheSameMomentDoNotSlipThrough) {
    const auto replies = at_once(8, [&](int) {
        Client own = ada;
        return give(own);
    });
    EXPECT_EQ(count_status(replies, 201), 3);
    EXPECT_EQ(count_status(replies, 429), 5);
}

TEST_F(Caps, AnAnswerThatIsRepeatedCountsAsWell) {
    const Headers key{{"Idempotency-Key", "one"}};
    const std::string body = R"({"type":"bug","message":"x"})";
    const auto first = expect(201, ada.post("/v1/feedback", body, key));
    const auto again = expect(201, ada.post("/v1/feedback", body, key));
    EXPECT_EQ(again.text("/id"), first.text("/id"));
    EXPECT_EQ(again.header("idempotency-replayed"), "true");
    expect(201, give(ada));
    expect(429, ada.post("/v1/feedback", body, key));
}

// Three processes, of which one is started anew in between.
TEST_F(Caps, AreSharedByAllServersAndOutliveThem) {
    auto second = std::make_unique<Server>(options(with_key(few)));
    Server third(options(with_key(few)));
    const auto on = [&](const Server& other) {
        Client there = other.client();
        expect(200, log_in(there, "ada@example.com"));
        there.always("X-Svc-Org", org);
        return there;
    };
    Client there = on(*second), elsewhere = on(third);
    expect(201, give(ada));
    expect(201, give(there));
    expect(422, raw(elsewhere, reports, "{"));
    for (Client* each : {&ada, &there, &elsewhere}) expect(429, give(*each));
    for (Client* each : {&ada, &there, &elsewhere, &ada}) expect(201, presign(*each));
    for (Client* each : {&ada, &there, &elsewhere}) expect(429, presign(*each));
    second->end(SIGKILL);
    second->start();
    Client again = on(*second);
    expect(429, give(again));
    an_hour_goes_by();
    expect(201, give(again));
}

}  // namespace
}  // namespace svc::test
