#include "tests/unit/oauth/oauth_fixture.hpp"

namespace svc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class Authorization : public OAuthTest {
protected:
    static json::value loc(const Reply& reply) {
        EXPECT_EQ(reply.status, 422) << reply.body;
        return first_loc(reply);
    }
};

TEST_F(Authorization, APersonIsShownWhoAsksAndWhereTheAnswerGoes) {
    const auto shown = expect(200, preview(ada, new_flow()));
    EXPECT_EQ(shown.text("/client_name"), "Helper");
    EXPECT_EQ(shown.text("/client_host"), "null");
    EXPECT_EQ(shown.text("/redirect_host"), "client.example");
    EXPECT_EQ(shown.text("/read_only"), "false");
    EXPECT_EQ(shown.text("/for_mcp"), "true");
    EXPECT_EQ(shown.text("/refusal"), "null");
    const auto denial = shown.text("/denial_url");
    EXPECT_THAT(denial, StartsWith(std::string(callback) + "?"));
    EXPECT_EQ(member_of(denial, "error"), "access_denied");
    EXPECT_EQ(member_of(denial, "state"), "a state");
    EXPECT_EQ(member_of(denial, "iss"), base());
}

TEST_F(Authorization, UntilClientAndAddressAreProvenNobodyIsLedAnywhere) {
    const auto known = register_client();
    for (const char* nobody :
         {"0192f0c1-2d3e-7f40-8123-456789abcdef",
          "x",
          "https://127.0.0.1/client.json",
          "https://localhost:8443/client.json",
          "https://10.0.0.1:22/client.json",
          "https://client.example"}) {
        const auto refused = preview(ada, {.client_id = nobody});
        EXPECT_EQ(loc(refused).as_array().back(), "client_id");
        EXPECT_THAT(refused.body, Not(HasSubstr("client.example/callback")));
    }
    for (const char* elsewhere :
         {"https://evil.example/callback",
          "https://client.example/callback/",
          "https://client.example/callback#",
          "https://client.example@evil.example/callback",
          "javascript:alert(1)"}) {
        const Flow flow{.client_id = known, .redirect_uri = elsewhere};
        EXPECT_EQ(loc(preview(ada, flow)).as_array().back(), "redirect_uri") << elsewhere;
        EXPECT_EQ(loc(allow(ada, flow)).as_array().back(), "redirect_uri") << elsewhere;
    }
    EXPECT_EQ(ask("SELECT count(*) FROM tokens"), "0");
}

TEST_F(Authorization, OnlyAPersonAtABrowserAnswers) {
    const auto flow = new_flow();
    Client stranger = client();
    EXPECT_EQ(preview(stranger, flow).status, 401);
    EXPECT_EQ(allow(stranger, flow).status, 401);
    const json::value mine{{"kind", "integration"}, {"name", "x"}, {"role", "admin"}};
    Client program = with(expect(201, ada.post("/v1/tokens", mine)));
    EXPECT_EQ(preview(program, flow).status, 403);
    EXPECT_EQ(allow(program, flow).status, 403);
    Client agent = acting_as(make_agent());
    EXPECT_EQ(allow(agent, flow).status, 403);
    // A page of another site has no CSRF token.
    const json::object asked{{"query", flow.question()}};
    const auto forged = once(
        "POST",
        "/v1/oauth/authorizations",
        asked,
        {{"Cookie", "svc_session=" + ada.cookie("svc_session")}, {"X-Svc-Org", org}}
    );
    EXPECT_EQ(forged.text("/code"), "csrf_failed");
}

TEST_F(Authorization, WhatIsAskedWronglyIsNotGranted) {
    const std::vector<std::tuple<Fields, const char*, const char*>> wrong{
        {{{"response_type", "token"}}, "unsupported_response_type", "response_type"},
        {{{"response_type", ""}}, "unsupported_response_type", "response_type"},
        {{{"code_challenge", ""}}, "invalid_request", "code_challenge"},
        {{{"code_challenge", "short"}}, "invalid_request", "code_challenge"},
        {{{"code_challenge_method", "plain"}}, "invalid_request", "code_challenge"},
        {{{"code_challenge_method", ""}}, "invalid_request", "code_challenge"},
        {{{"resource", "https://other.example/v1/mcp/http"}}, "invalid_target", "resource"},
    };
    const auto known = register_client();
    for (const auto& [more, error, field] : wrong) {
        const Flow flow{.client_id = known, .more = more};
        const auto shown = expect(200, preview(ada, flow));
        EXPECT_NE(shown.text("/refusal"), "null") << error;
        EXPECT_EQ(member_of(shown.text("/denial_url"), "error"), error);
        const auto at = loc(allow(ada, flow));
        EXPECT_EQ(json::serialize(at), R"(["body","query",")" + std::string(field) + R"("])");
    }
}

TEST_F(Authorization, ItLeadsBackWithACodeStateAndIssuer) {
    const auto allowed = expect(201, allow(ada, new_flow()));
    const auto to = allowed.text("/redirect_to");
    EXPECT_THAT(to, StartsWith(std::string(callback) + "?code="));
    EXPECT_EQ(member_of(to, "state"), "a state");
    EXPECT_EQ(member_of(to, "iss"), base());
    EXPECT_EQ(allowed.header("cache-control"), "no-store");
    // Neither is the code in the record, nor in the database.
    const auto code = member_of(to, "code");
    EXPECT_EQ(ask("SELECT count(*) FROM oauth_grants g WHERE g::text LIKE '%" + code + "%'"), "0");
    EXPECT_EQ(ask("SELECT count(*) FROM event_log o WHERE o::text LIKE '%" + code + "%'"), "0");
    EXPECT_THAT(server.output(), Not(HasSubstr(code)));
}

TEST_F(Authorization, TheTokenIsListedWithItsClient) {
    const auto allowed = expect(201, allow(ada, new_flow(), {{"role", "viewer"}}));
    const auto list = expect(200, ada.get("/v1/tokens"));
    EXPECT_EQ(list.text("/results/0/id"), allowed.text("/token_id"));
    EXPECT_EQ(list.text("/results/0/client/name"), "Helper");
    EXPECT_EQ(list.text("/results/0/client/host"), "client.example");
    EXPECT_EQ(list.text("/results/0/role"), "viewer");
    EXPECT_EQ(list.text("/results/0/last_used_at"), "null");
    const auto made = "SELECT count(*) FROM events WHERE kind = 'token.created'";
    EXPECT_TRUE(becomes(made, "1"));
    // Its secret comes and goes by the protocol.
    const auto rotated = ada.post("/v1/tokens/" + allowed.text("/token_id") + ":rotate");
    EXPECT_EQ(rotated.status, 409);
    EXPECT_EQ(rotated.text("/additional_data/reason"), "token_of_client");
}

TEST_F(Authorization, ConnectedClientsAreListedByThemselvesPageByPage) {
    const auto agent = make_agent();
    make_token(agent);
    std::vector<std::string> connected;
    for (int i = 0; i < 3; ++i)
        connected.push_back(expect(201, allow(ada, new_flow())).text("/token_id"));
    Client bob = member("bob@example.com", "member");
    const auto of_bob = expect(201, allow(bob, new_flow())).text("/token_id");

    const auto ids = [](Client& by, std::string path) {
        std::vector<std::string> found;
        for (std::string cursor;;) {
            const auto page = expect(200, by.get(path + cursor)).json();
            for (const json::value& each : page.at("results").as_array()) {
                EXPECT_TRUE(each.at("client").is_object());
                found.emplace_back(each.at("id").as_string());
            }
            if (!page.at("has_more").as_bool()) return found;
            cursor = "&start_cursor=" + std::string(page.at("next_cursor").as_string());
        }
    };
    const std::string all = "/v1/tokens?connected=true&page_size=2";
    EXPECT_THAT(ids(ada, all), ElementsAre(of_bob, connected[2], connected[1], connected[0]));
    EXPECT_THAT(ids(bob, all), ElementsAre(of_bob));
    EXPECT_THAT(ids(ada, all + "&agent_id=" + agent), IsEmpty());
    EXPECT_EQ(
        expect(200, ada.get("/v1/tokens?agent_id=" + agent)).text("/results/0/client"), "null"
    );

    expect(204, ada.send("DELETE", "/v1/tokens/" + connected[1]));
    const auto after = expect(200, ada.get("/v1/tokens?connected=true"));
    EXPECT_EQ(after.text("/results/1/status"), "active");
    EXPECT_EQ(after.text("/results/2/status"), "revoked");
}

TEST_F(Authorization, ItActsAsAnAgentWhereAnAdminSaysSo) {
    const json::object choice{{"kind", "agent"}, {"agent_name", "Helper of Ada"}};
    Client bob = member("bob@example.com", "member");
    const auto flow = new_flow();
    EXPECT_EQ(allow(bob, flow, choice).status, 403);
    const auto allowed = expect(201, allow(ada, flow, choice));
    EXPECT_EQ(read(allowed.text("/agent_id")).text("/name"), "Helper of Ada");
    const auto agent = make_agent();
    const auto again = expect(201, allow(ada, flow, {{"kind", "agent"}, {"agent_id", agent}}));
    EXPECT_EQ(again.text("/agent_id"), agent);
    for (const json::object& wrong :
         {json::object{{"kind", "agent"}},
          json::object{{"kind", "agent"}, {"agent_id", agent}, {"agent_name", "x"}},
          json::object{{"agent_name", "x"}}})
        EXPECT_EQ(loc(allow(ada, flow, wrong)).as_array().back(), "agent_name");
    EXPECT_EQ(allow(ada, flow, {{"kind", "agent"}, {"agent_id", nowhere}}).status, 404);
}

TEST_F(Authorization, WhoAsksToReadGetsNoMore) {
    Flow flow = new_flow();
    flow.more = {{"scope", "openid read"}};
    EXPECT_EQ(expect(200, preview(ada, flow)).text("/read_only"), "true");
    const auto given = connect(flow, {{"scope", {{"read_only", false}}}});
    EXPECT_EQ(given.text("/scope"), "read");
    McpClient mcp(server.port(), given.text("/access_token"));
    mcp.initialize();
    const auto tools = mcp.tool_names();
    EXPECT_THAT(tools, testing::Contains("list_boards"));
    EXPECT_THAT(tools, Not(testing::Contains("create_board")));
}

TEST_F(Authorization, ToolsetsAreKeptTo) {
    const auto given = connect(new_flow(), {{"scope", {{"toolsets", json::array{"worker"}}}}});
    McpClient mcp(server.port(), given.text("/access_token"));
    mcp.initialize();
    EXPECT_EQ(mcp.tool_names().size(), 12);
    const auto unknown = allow(ada, new_flow(), {{"scope", {{"toolsets", json::array{"x"}}}}});
    EXPECT_EQ(json::serialize(loc(unknown)), R"(["body","scope","toolsets",0])");
}

TEST_F(Authorization, ThePageIsNotFramed) {
    const auto page = client().send("GET", "/oauth/authorize?x=1", "", {{"Accept", "text/html"}});
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.header("content-security-policy"), HasSubstr("frame-ancestors 'none'"));
    EXPECT_EQ(page.header("location"), "");
}

}  // namespace
}  // namespace svc::test
