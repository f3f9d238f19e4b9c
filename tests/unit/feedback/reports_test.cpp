#include "tests/support/mcp_client.hpp"
#include "tests/unit/feedback/feedback_fixture.hpp"

/// Giving reports, and reading one's own.
namespace svc::test {
namespace {

using Reports = FeedbackTest;

TEST_F(Reports, AreGivenAndRead) {
    const auto made = expect(
        201,
        give(
            ada,
            {{"type", "idea"},
             {"title", " Dark boards "},
             {"message", "Line one\nline two"},
             {"page_url", "https://board.example/b/1"},
             {"metadata", {{"browser", "Firefox 140"}}}}
        )
    );
    const auto said = made.json().as_object();
    EXPECT_EQ(said.at("object"), "feedback");
    EXPECT_EQ(made.text("/org_id"), org);
    EXPECT_EQ(made.text("/user_id"), user);
    EXPECT_EQ(said.at("type"), "idea");
    EXPECT_EQ(said.at("status"), "new");
    EXPECT_EQ(said.at("surface"), "web");
    EXPECT_EQ(said.at("title"), "Dark boards");
    EXPECT_EQ(said.at("message"), "Line one\nline two");
    EXPECT_EQ(said.at("page_url"), "https://board.example/b/1");
    EXPECT_EQ(said.at("metadata").at("browser"), "Firefox 140");
    EXPECT_TRUE(said.at("screenshot_file_id").is_null());
    EXPECT_TRUE(said.at("reply").is_null());
    EXPECT_EQ(expect(200, read(ada, made.text("/id"))).json(), made.json());
}

TEST_F(Reports, SayHowTheyCameInAndNotWhatTheyClaim) {
    Client integration = program(ada), agent = program(ada, "agent", "member");
    EXPECT_EQ(expect(201, give(integration)).text("/surface"), "api");
    EXPECT_EQ(expect(201, give(agent)).text("/surface"), "api");
    for (const char* each : {"surface", "status", "org_id", "user_id"}) {
        const auto refused = expect(422, give(ada, {{each, "web"}}));
        EXPECT_EQ(refused.text("/detail/0/type"), "extra_forbidden") << each;
    }
    const auto token = expect(
        201,
        ada.post(
            "/v1/tokens",
            json::value{{"kind", "integration"}, {"name", "Tools"}, {"role", "member"}}
        )
    );
    McpClient mcp(server.port(), token.text("/token"));
    mcp.initialize();
    const auto called =
        mcp.call("create_feedback", {{"type", "praise"}, {"message", "Nice tools"}}).body;
    EXPECT_THAT(called, HasSubstr(R"(\"surface\":\"mcp\")"));
}

TEST_F(Reports, AreTheirSubmittersAlone) {
    Client bob = member("bob@example.com", "owner");
    Client integration = program(ada), agent = program(ada, "agent", "admin");
    const auto id = expect(201, give(ada)).text("/id");
    const auto of_agent = expect(201, give(agent)).text("/id");
    expect(404, read(bob, id));
    expect(404, read(agent, id));
    expect(404, read(ada, of_agent));
    EXPECT_EQ(without_ids(read(bob, id)), without_ids(read(bob, nowhere)));
    expect(200, read(integration, id));  // it is Ada herself
    expect(200, read(agent, of_agent));
    EXPECT_EQ(expect(200, bob.get("/v1/feedback")).json().at("results").as_array().size(), 0u);
    EXPECT_EQ(texts(expect(200, ada.get("/v1/feedback")), "id"), std::vector{id});
    EXPECT_EQ(texts(expect(200, agent.get("/v1/feedback")), "id"), std::vector{of_agent});
}

TEST_F(Reports, AreListedNewestFirstPageByPage) {
    std::vector<std::string> ids;
    for (const char* type : {"bug", "idea", "bug", "question", "bug"})
        ids.insert(ids.begin(), expect(201, give(ada, {{"type", type}})).text("/id"));
    const auto first = expect(200, ada.get("/v1/feedback?page_size=3"));
    EXPECT_EQ(first.text("/type"), "feedback");
    EXPECT_EQ(texts(first, "id"), std::vector(ids.begin(), ids.begin() + 3));
    const auto cursor = first.text("/next_cursor");
    const auto second = expect(200, ada.get("/v1/feedback?page_size=3&start_cursor=" + cursor));
    EXPECT_EQ(texts(second, "id"), std::vector(ids.begin() + 3, ids.end()));
    EXPECT_EQ(second.text("/has_more"), "false");
    EXPECT_EQ(
        texts(expect(200, ada.get("/v1/feedback?type=bug&status=new")), "id"),
        (std::vector{ids[0], ids[2], ids[4]})
    );
    for (const char* none : {"status=resolved", "type=nonsense", "status=nonsense"})
        EXPECT_TRUE(texts(expect(200, ada.get("/v1/feedback?" + std::string(none))), "id").empty());
    EXPECT_EQ(
        first_loc(expect(422, ada.get("/v1/feedback?type=bug&start_cursor=" + cursor))),
        json::value(json::array{"query", "start_cursor"})
    );
}

TEST_F(Reports, AreStampedWithTheWorkspaceOfTheRequest) {
    const auto other =
        expect(201, ada.post("/v1/orgs", json::value{{"name", "Other"}})).text("/id");
    Client plain = ada;
    plain.always("X-Svc-Org", "");
    EXPECT_EQ(expect(201, give(plain, {}, "?org_id=" + other)).text("/org_id"), other);
    EXPECT_EQ(expect(201, give(plain, {}, "?org_id=" + org)).text("/org_id"), org);
    EXPECT_EQ(expect(201, give(ada, {}, "?org_id=" + org)).text("/org_id"), org);
    EXPECT_EQ(texts(expect(200, plain.get("/v1/feedback?org_id=" + other)), "id").size(), 1u);
    EXPECT_EQ(texts(expect(200, plain.get("/v1/feedback?org_id=" + org)), "id").size(), 2u);
    // The session's workspace is another one by now, or none of hers at all.
    expect(200, plain.post("/v1/orgs/" + other + ":switch"));
    EXPECT_EQ(expect(201, give(plain)).text("/org_id"), other);
}

TEST_F(Reports, AreGivenWithoutAWorkspaceToo) {
    Client eve = person("eve@example.com");
    const auto made = expect(201, give(eve));
    EXPECT_EQ(made.text("/org_id"), "null");
    const auto id = made.text("/id");
    expect(200, read(eve, id));
    EXPECT_EQ(texts(expect(200, eve.get("/v1/feedback")), "id"), std::vector{id});
    Client mallory = person("mallory@example.com");
    expect(404, read(mallory, id));
    EXPECT_TRUE(texts(expect(200, mallory.get("/v1/feedback")), "id").empty());
    const auto shot = expect(422, give(eve, {{"screenshot_file_id", nowhere}}));
    EXPECT_EQ(first_loc(shot), json::value(json::array{"body", "screenshot_file_id"}));
    expect(404, presign(eve));
    expect(404, commit(eve, nowhere));
}

TEST_F(Reports, BadOnesSayWhatIsWrong) {
    const auto loc = [&](json::object more) {
        return json::serialize(first_loc(expect(422, give(ada, std::move(more)))));
    };
    EXPECT_EQ(loc({{"type", "rant"}}), R"(["body","type"])");
    EXPECT_EQ(loc({{"message", ""}}), R"(["body","message"])");
    EXPECT_EQ(loc({{"message", " \n "}}), R"(["body","message"])");
    EXPECT_EQ(loc({{"message", std::string(5001, 'x')}}), R"(["body","message"])");
    EXPECT_EQ(loc({{"title", std::string(201, 'x')}}), R"(["body","title"])");
    EXPECT_EQ(loc({{"page_url", "javascript:alert(1)"}}), R"(["body","page_url"])");
    EXPECT_EQ(loc({{"metadata", {{std::string(41, 'k'), "v"}}}}), R"(["body","metadata"])");
    EXPECT_EQ(loc({{"metadata", {{"k", std::string(501, 'v')}}}}), R"(["body","metadata","k"])");
    json::object many;
    for (int i = 0; i < 21; ++i) many[std::to_string(i)] = "v";
    EXPECT_EQ(loc({{"metadata", many}}), R"(["body","metadata"])");
    EXPECT_EQ(loc({{"screenshot_file_id", nowhere}}), R"(["body","screenshot_file_id"])");
    expect(201, give(ada, {{"metadata", {{std::string(40, 'k'), std::string(500, 'v')}}}}));
}

TEST_F(Reports, LeaveNothingButTheFactInTheAuditRecord) {
    const auto id = expect(201, give(ada, {{"title", "Private words"}})).text("/id");
    ASSERT_EQ(operator_says({"feedback", "set-status", id, "resolved"}).code, 0);
    std::string record;
    EXPECT_TRUE(eventually([&] {
        record = expect(200, ada.get(here + "/audit-events?page_size=100")).body;
        return record.find("set-status") != std::string::npos;
    }));
    EXPECT_THAT(record, HasSubstr("create_feedback"));
    EXPECT_THAT(record, HasSubstr("workboard feedback set-status"));
    EXPECT_THAT(record, Not(HasSubstr("Private words")));
    // No event tells the others of it.
    EXPECT_EQ(ask("SELECT count(*) FROM events WHERE object = 'feedback'"), "0");
}

}  // namespace
}  // namespace svc::test
