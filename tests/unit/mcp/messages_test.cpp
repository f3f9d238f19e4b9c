#include "svc/types.hpp"
#include "tests/support/mcp_client.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;

class McpMessages : public McpTest {};

TEST_F(McpMessages, ATokenIsAskedForBeforeAnythingElse) {
    const std::string hello = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
    for (const std::string method : {"POST", "GET", "DELETE", "PUT"}) {
        for (const std::string& body : {hello, std::string("{not json")}) {
            Client stranger(server.port());
            const auto reply = stranger.send(method, "/v1/mcp/http", body, json_headers);
            EXPECT_EQ(reply.status, 401) << method;
            EXPECT_THAT(
                reply.header("www-authenticate"),
                HasSubstr(
                    "Bearer error=\"invalid_token\", resource_metadata=\"http://127.0.0.1:" +
                    std::to_string(server.port()) +
                    "/.well-known/oauth-protected-resource/v1/mcp/http\""
                )
            );
        }
    }
    Client wrong(server.port());
    wrong.token("svc_" + std::string(43, 'x'));
    EXPECT_EQ(wrong.send("POST", "/v1/mcp/http", hello, json_headers).status, 401);
}

TEST_F(McpMessages, ACookieIsNoTokenHere) {
    const auto reply = workspace.client.send(
        "POST", "/v1/mcp/http", R"({"jsonrpc":"2.0","id":1,"method":"ping"})", json_headers
    );
    EXPECT_EQ(reply.status, 401);
}

TEST_F(McpMessages, NoVersionHeaderIsAskedFor) {
    mcp.client.always("X-Board-Version", "");
    EXPECT_EQ(mcp.initialize().status, 200);
    EXPECT_EQ(mcp.client.get("/v1/mcp/manifest").status, 200);
    EXPECT_EQ(mcp.client.get("/v1/mcp/nothing").status, 404);
}

TEST_F(McpMessages, InitializeAgreesOnAVersion) {
    const std::map<std::string, std::string> agreed{
        {"2025-11-25", "2025-11-25"},
        {"2025-06-18", "2025-06-18"},
        {"2025-03-26", "2025-03-26"},
        {"2024-11-05", "2025-11-25"},
        {"2099-01-01", "2025-11-25"}
    };
    for (const auto& [wanted, given] : agreed) {
        const auto reply = mcp.initialize(wanted);
        ASSERT_EQ(reply.status, 200) << reply.body;
        EXPECT_EQ(reply.text("/result/protocolVersion"), given);
        EXPECT_EQ(reply.text("/result/serverInfo/name"), "workboard");
        EXPECT_THAT(reply.text("/result/instructions"), HasSubstr("lease"));
        EXPECT_THAT(mcp.session, testing::MatchesRegex("[!-~]+"));
    }
    const auto reply = mcp.request("initialize", {{"capabilities", json::object{}}});
    EXPECT_EQ(error_code(reply), -32602);
    EXPECT_EQ(reply.header("mcp-session-id"), "");
}

TEST_F(McpMessages, MalformedMessagesGetTheirCode) {
    mcp.initialize();
    struct Case {
        std::string body;
        int status;
        std::int64_t code;
        json::value id;
    };
    const std::string deep = std::string(100, '[') + std::string(100, ']');
    const Case cases[] = {
        {"", 400, -32700, nullptr},
        {"{", 400, -32700, nullptr},
        {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})", 400, -32700, nullptr},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", 400, -32700, nullptr},
        {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":)" + deep + "}}",
         400,
         -32700,
         nullptr},
        {"3", 400, -32600, nullptr},
        {"null", 400, -32600, nullptr},
        {R"({"id":1,"method":"ping"})", 400, -32600, 1},
        {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", 400, -32600, 1},
        {R"({"jsonrpc":2.0,"id":1,"method":"ping"})", 400, -32600, 1},
        {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", 400, -32600, nullptr},
        {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", 400, -32600, nullptr},
        {R"({"jsonrpc":"2.0","id":[1],"method":"ping"})", 400, -32600, nullptr},
        {R"({"jsonrpc":"2.0","id":"seven"})", 400, -32600, "seven"},
        {R"({"jsonrpc":"2.0","id":7,"method":8})", 400, -32600, 7},
        {R"({"jsonrpc":"2.0","id":7,"method":"ping","params":"x"})", 400, -32600, 7},
        {R"({"jsonrpc":"2.0","id":7,"method":"ping","params":[]})", 200, -32602, 7},
        {R"({"jsonrpc":"2.0","id":"a\"b","method":"no/such"})", 200, -32601, "a\"b"},
        {R"({"jsonrpc":"2.0","id":7,"method":"resources/list"})", 200, 0, 7},
        {R"({"jsonrpc":"2.0","id":7,"method":"resources/read"})", 200, -32602, 7},
        {R"({"jsonrpc":"2.0","id":7,"method":"tools/call"})", 200, -32602, 7},
        {R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":3}})", 200, -32602, 7},
        {R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_me","arguments":[]}})",
         200,
         -32602,
         7},
        {R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"sign_up"}})",
         200,
         -32602,
         7},
        {R"({"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"2"}})", 200, -32602, 7
        },
    };
    for (const Case& each : cases) {
        const auto reply = mcp.post(each.body);
        EXPECT_EQ(reply.status, each.status) << each.body << "\n" << reply.body;
        EXPECT_EQ(error_code(reply), each.code) << each.body << "\n" << reply.body;
        EXPECT_EQ(reply.json().at("id"), each.id) << each.body;
        EXPECT_EQ(reply.json().at("jsonrpc"), "2.0");
    }
    EXPECT_EQ(mcp.request("ping").json().at("result"), json::value(json::object{}));
}

TEST_F(McpMessages, NotificationsAndResponsesAreTakenWithoutAWord) {
    mcp.initialize();
    for (const std::string body : {
             R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
             R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}})",
             R"({"jsonrpc":"2.0","method":"nobody/knows"})",
             R"({"jsonrpc":"2.0","id":5,"result":{}})",
             R"({"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"no"}})",
         }) {
        const auto reply = mcp.post(body);
        EXPECT_EQ(reply.status, 202) << body;
        EXPECT_EQ(reply.body, "");
    }
}

TEST_F(McpMessages, BatchesAreForTheOldestProtocolAlone) {
    const std::string batch =
        R"([{"jsonrpc":"2.0","id":1,"method":"ping"},)"
        R"({"jsonrpc":"2.0","method":"notifications/initialized"},)"
        R"({"jsonrpc":"2.0","id":"b","method":"nothing"},)"
        R"({"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-03-26"}},)"
        R"(17,)"
        R"({"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"get_me"}}])";
    mcp.initialize("2025-06-18");
    EXPECT_EQ(mcp.post(batch).status, 400);
    EXPECT_EQ(error_code(mcp.post(batch)), -32600);

    const Headers modern{{"MCP-Protocol-Version", "2026-07-28"}};
    const std::string meta =
        R"([{"jsonrpc":"2.0","id":1,"method":"ping","params":)"
        R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}])";
    for (const Reply& stateless :
         {mcp.post(batch, modern), mcp.post("[]", modern), mcp.post(meta)}) {
        EXPECT_EQ(stateless.status, 400) << stateless.body;
        EXPECT_EQ(error_code(stateless), -32600) << stateless.body;
        EXPECT_EQ(
            stateless.text("/error/message"),
            "Protocol 2026-07-28 has no batches; send one message."
        );
    }

    mcp.initialize("2025-03-26");
    const auto reply = mcp.post(batch);
    ASSERT_EQ(reply.status, 200) << reply.body;
    const auto answers = reply.json().as_array();
    ASSERT_EQ(answers.size(), 5U) << reply.body;
    EXPECT_EQ(answers[0].at("result"), json::value(json::object{}));
    EXPECT_EQ(answers[1].at("id"), "b");
    EXPECT_EQ(answers[1].at("error").at("code"), -32601);
    EXPECT_EQ(answers[2].at("error").at("code"), -32600);
    EXPECT_EQ(answers[3].at("error").at("code"), -32600);
    EXPECT_EQ(answers[3].at("id"), nullptr);
    EXPECT_EQ(answers[4].at("result").at("isError"), false);

    EXPECT_EQ(mcp.post(R"([{"jsonrpc":"2.0","method":"x"}])").status, 202);
    EXPECT_EQ(mcp.post("[]").status, 400);
    std::string many = "[";
    for (int i = 0; i < 51; ++i) many += R"({"jsonrpc":"2.0","id":1,"method":"ping"},)";
    many.back() = ']';
    EXPECT_EQ(mcp.post(many).status, 400);
}

TEST_F(McpMessages, AWorkspaceThatIsNotTheTokensIsRefusedAsByRest) {
    mcp.initialize();
    const auto call_in = [&](const std::string& org) {
        return mcp.call("get_me", json::object{}, {{"X-Svc-Org", org}});
    };
    EXPECT_EQ(call_in(workspace.org_id).status, 200);
    const auto foreign = call_in(new_uuid().str());
    EXPECT_EQ(foreign.status, 404) << foreign.body;
    EXPECT_EQ(foreign.text("/code"), "object_not_found");
    const auto by_rest =
        mcp.client.send("GET", "/v1/boards", {}, {{"X-Svc-Org", new_uuid().str()}});
    EXPECT_EQ(foreign.text("/message"), by_rest.text("/message"));
    const auto malformed = call_in("nonsense");
    EXPECT_EQ(malformed.status, 422) << malformed.body;
    EXPECT_EQ(malformed.text("/detail/0/loc/1"), "x-svc-org");
    mcp.client.token("svc_nobody");
    EXPECT_EQ(call_in("nonsense").status, 401);
}

TEST_F(McpMessages, PagesOfOtherSitesAreTurnedAway) {
    mcp.initialize();
    const auto port = std::to_string(server.port());
    const std::map<std::string, int> origins{
        {"http://127.0.0.1:" + port, 200},
        {"http://localhost:" + port, 200},
        {"http://localhost:1", 403},
        {"http://localhost.evil.example:" + port, 403},
        {"https://evil.example", 403},
        {"null", 403},
        {"", 403}
    };
    for (const auto& [origin, status] : origins)
        EXPECT_EQ(mcp.request("ping", json::object{}, {{"Origin", origin}}).status, status)
            << origin;
}

TEST_F(McpMessages, OnlyJsonGoesInAndOut) {
    mcp.initialize();
    const auto status = [&](const std::string& name, const std::string& value) {
        return mcp.request("ping", json::object{}, {{name, value}}).status;
    };
    EXPECT_EQ(status("Content-Type", "text/plain"), 415);
    EXPECT_EQ(status("Content-Type", "application/jsonp"), 415);
    EXPECT_EQ(status("Content-Type", "Application/JSON; charset=utf-8"), 200);
    EXPECT_EQ(status("Accept", "text/event-stream"), 406);
    EXPECT_EQ(status("Accept", "*/*"), 200);
    EXPECT_EQ(status("Accept", "application/*"), 200);
}

TEST_F(McpMessages, BodiesHaveALimit) {
    mcp.initialize();
    const std::string filler(3 << 20, 'x');
    EXPECT_EQ(mcp.request("ping", {{"filler", filler}}).status, 413);
}

TEST_F(McpMessages, OtherMethodsAreNamedAsWrong) {
    mcp.initialize();
    for (const std::string method : {"PUT", "PATCH"}) {
        const auto reply = mcp.client.send(method, "/v1/mcp/http");
        EXPECT_EQ(reply.status, 405) << method;
        EXPECT_EQ(reply.header("allow"), "GET, POST, DELETE");
    }
}

}  // namespace
}  // namespace svc::test
