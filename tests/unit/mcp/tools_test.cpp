#include "tests/support/descriptions.hpp"
#include "tests/support/mcp_client.hpp"

#include <regex>

namespace svc::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class McpTools : public McpTest {
protected:
    McpTools() { mcp.initialize(); }
};

TEST_F(McpTools, AreListedOnOnePageInOneOrder) {
    const auto names = mcp.tool_names();
    EXPECT_THAT(names, Contains("claim_next_card"));
    EXPECT_THAT(names, Not(Contains("sign_up")));
    EXPECT_EQ(names, mcp.tool_names());
    EXPECT_EQ(error_code(mcp.request("tools/list", {{"cursor", nullptr}})), 0);
    EXPECT_FALSE(mcp.request("tools/list").json().at("result").as_object().contains("nextCursor"));
}

TEST_F(McpTools, AreDescribedForModels) {
    const auto answer = mcp.request("tools/list").json();
    for (const auto& tool : answer.at("result").at("tools").as_array()) {
        const auto name = std::string(tool.at("name").as_string());
        EXPECT_LE(name.size(), 48U);
        EXPECT_THAT(name, testing::MatchesRegex("[a-z]+(_[a-z]+)*"));
        EXPECT_GT(tool.at("title").as_string().size(), 3U) << name;
        EXPECT_GT(tool.at("description").as_string().size(), 10U) << name;
        const auto& schema = tool.at("inputSchema").as_object();
        EXPECT_EQ(schema.at("type"), "object") << name;
        EXPECT_EQ(schema.at("additionalProperties"), false) << name;
        for (const char* word : {"anyOf", "oneOf", "allOf", "not", "if", "$ref"})
            EXPECT_FALSE(schema.contains(word)) << name;
        std::vector<std::string> silent;
        int fields = 0;
        find_undescribed(tool.at("inputSchema"), name, silent, fields);
        EXPECT_THAT(silent, testing::IsEmpty());
        for (const char* hint :
             {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"})
            EXPECT_TRUE(tool.at("annotations").at(hint).is_bool()) << name << " " << hint;
    }
}

TEST_F(McpTools, ThatTheInstructionsNameAreThere) {
    const auto text = mcp.initialize().text("/result/instructions");
    const auto names = mcp.tool_names();
    const std::regex name("[a-z]+(_[a-z]+)+");
    std::vector<std::string> named;
    for (std::sregex_iterator each(text.begin(), text.end(), name), end; each != end; ++each)
        if (const auto word = each->str(); word != "lease_token" && word != "next_cursor" &&
                                           word != "start_cursor" && word != "has_more")
            named.push_back(word);
    EXPECT_THAT(
        named,
        ElementsAre(
            "get_card",
            "list_queues",
            "claim_next_card",
            "get_card_context",
            "complete_lease",
            "fail_lease"
        )
    );
    for (const auto& each : named) EXPECT_THAT(names, Contains(each));
}

TEST_F(McpTools, HintAtWhatTheyDo) {
    std::map<std::string, json::value> hints;
    const auto manifest = Client(server.port()).get("/v1/mcp/manifest").json();
    for (const auto& tool : manifest.at("tools").as_array())
        hints[std::string(tool.at("name").as_string())] = tool.at("annotations");
    for (const auto& [name, each] : hints) {
        const bool reads = each.at("readOnlyHint").as_bool();
        if (name.starts_with("get_") || name.starts_with("list_")) EXPECT_TRUE(reads) << name;
        if (name.starts_with("create_") || name.starts_with("update_")) EXPECT_FALSE(reads) << name;
        if (reads) {
            EXPECT_EQ(each.at("destructiveHint"), false) << name;
            EXPECT_EQ(each.at("idempotentHint"), true) << name;
        }
        if (name.starts_with("delete_") || name.starts_with("revoke_"))
            EXPECT_EQ(each.at("destructiveHint"), true) << name;
        if (name.starts_with("create_")) EXPECT_EQ(each.at("destructiveHint"), false) << name;
    }
    for (const char* outside : {"test_webhook", "create_invitation", "requeue_email"})
        EXPECT_EQ(hints.at(outside).at("openWorldHint"), true) << outside;
    EXPECT_EQ(hints.at("move_card").at("openWorldHint"), false);
}

TEST_F(McpTools, AreTheManifests) {
    const auto manifest = Client(server.port()).get("/v1/mcp/manifest").json();
    EXPECT_EQ(manifest.at("object"), "mcp_manifest");
    EXPECT_EQ(manifest.at("server").at("name"), "workboard");
    const auto& transport = manifest.at("transports").at(0);
    EXPECT_EQ(transport.at("type"), "streamable-http");
    EXPECT_EQ(
        transport.at("url"),
        json::value("http://127.0.0.1:" + std::to_string(server.port()) + "/v1/mcp/http")
    );
    EXPECT_EQ(transport.at("status"), "recommended");
    std::map<std::string, json::value> schemas;
    for (const auto& tool : manifest.at("tools").as_array())
        schemas[std::string(tool.at("name").as_string())] = tool.at("input_schema");

    McpClient person(server.port(), workspace.mint("integration", "Mine"));
    person.initialize();
    const auto answer = person.request("tools/list").json();
    for (const auto& tool : answer.at("result").at("tools").as_array())
        EXPECT_EQ(schemas.at(std::string(tool.at("name").as_string())), tool.at("inputSchema"));
}

TEST_F(McpTools, HeadersNarrowWhatIsListedAndWhatRuns) {
    const auto all = mcp.tool_names();
    const auto reading = mcp.tool_names({{"X-MCP-Readonly", "true"}});
    EXPECT_THAT(reading, Contains("list_boards"));
    EXPECT_THAT(reading, Not(Contains("create_board")));
    EXPECT_EQ(mcp.tool_names({{"X-MCP-Readonly", "false"}}), all);
    EXPECT_THAT(mcp.tool_names({{"X-MCP-Tools", "get_me"}}), ElementsAre("get_me"));
    EXPECT_EQ(mcp.tool_names({{"X-MCP-Toolsets", "all"}}), all);

    const auto queue = mcp.tool_names({{"X-MCP-Toolsets", "queue"}});
    EXPECT_THAT(queue, Contains("claim_next_card"));
    EXPECT_THAT(queue, Not(Contains("list_boards")));
    const Headers both{{"X-MCP-Toolsets", " queue , "}, {"X-MCP-Tools", "list_boards"}};
    EXPECT_EQ(mcp.tool_names(both).size(), queue.size() + 1);

    EXPECT_EQ(
        error_code(mcp.call("create_board", {{"name", "No"}}, {{"X-MCP-Readonly", "1"}})), -32602
    );
    EXPECT_EQ(error_code(mcp.call("list_boards", json::object{}, both)), 0);
}

TEST_F(McpTools, AToolsetOrToolThatThereIsNotIsNamedBesideThoseThatThereAre) {
    struct Case {
        const char* header;
        const char* value;
        const char* also;
    };
    for (const auto& [header, value, also] :
         {Case{"X-MCP-Toolsets", "queue, nonsense", "worker"},
          Case{"X-MCP-Tools", "get_me, nonsense", "list_boards"}})
        for (const char* method : {"tools/list", "tools/call"}) {
            const auto reply = mcp.request(method, {{"name", "get_me"}}, {{header, value}});
            EXPECT_EQ(reply.status, 400);
            const auto message = reply.text("/error/message");
            EXPECT_THAT(message, HasSubstr("`nonsense`"));
            EXPECT_THAT(message, HasSubstr(also));
        }
}

TEST_F(McpTools, AreNarrowedForGoodByTheirToken) {
    const auto mint = [&](const json::value& scope) {
        const json::value wanted{
            {"kind", "agent"},
            {"name", "Narrow"},
            {"role", "member"},
            {"agent", {{"name", "Narrow"}}},
            {"scope", scope}
        };
        const auto token = expect(201, workspace.client.post("/v1/tokens", wanted));
        McpClient narrow(server.port(), token.text("/token"));
        narrow.initialize();
        return narrow;
    };
    make_queue();
    McpClient worker =
        mint({{"toolsets", json::array{"worker"}}, {"tools", json::array{"list_boards"}}});
    EXPECT_THAT(worker.tool_names(), Contains("claim_next_card"));
    EXPECT_THAT(worker.tool_names(), Contains("list_boards"));
    EXPECT_THAT(worker.tool_names(), Not(Contains("create_board")));
    EXPECT_EQ(
        refusal_in(worker.call("create_board", {{"name", "No"}}))
            .at_pointer("/additional_data/reason"),
        "outside_token_scope"
    );
    EXPECT_EQ(worker.client.post("/v1/boards", R"({"name": "No"})").status, 403);
    EXPECT_EQ(worker.client.get("/v1/boards").status, 200);
    EXPECT_EQ(worker.client.get("/v1/sse").status, 403);

    McpClient reader = mint({{"read_only", true}});
    for (const auto& each : reader.tool_names())
        EXPECT_TRUE(
            each.starts_with("get_") || each.starts_with("list_") || each.starts_with("count_") ||
            each == "search" || each == "explain_claim"
        ) << each;
    EXPECT_EQ(reader.client.post("/v1/boards", R"({"name": "No"})").status, 403);
    EXPECT_EQ(reader.client.get("/v1/boards").status, 200);
}

TEST_F(McpTools, AScopeNamesWhatThereIs) {
    for (const char* field : {"toolsets", "tools"}) {
        const auto refused = workspace.client.post(
            "/v1/tokens",
            json::value{
                {"kind", "integration"},
                {"name", "Mine"},
                {"scope", {{field, json::array{"nonsense"}}}}
            }
        );
        EXPECT_EQ(refused.status, 422) << refused.body;
        EXPECT_EQ(refused.text("/detail/0/loc/2"), field);
        EXPECT_THAT(
            refused.body, HasSubstr(field == std::string("tools") ? "list_boards" : "worker")
        );
    }
}

TEST_F(McpTools, ATokenThatIsLimitedMakesNoneThatIsNot) {
    const auto token = expect(
        201,
        workspace.client.post(
            "/v1/tokens",
            json::value{
                {"kind", "integration"},
                {"name", "Agents alone"},
                {"scope", {{"toolsets", json::array{"agents"}}}}
            }
        )
    );
    Client limited(server.port());
    limited.token(token.text("/token"));
    EXPECT_EQ(limited.get("/v1/tokens").status, 200);
    const auto refused =
        limited.post("/v1/tokens", json::value{{"kind", "integration"}, {"name", "More"}});
    EXPECT_EQ(refused.status, 403) << refused.body;
    EXPECT_EQ(token.json().at("scope").at("toolsets"), json::value(json::array{"agents"}));
}

TEST_F(McpTools, OfAgentsAreWithoutThoseThatArePeoplesAlone) {
    McpClient person(server.port(), workspace.mint("integration", "Mine"));
    person.initialize();
    const auto for_person = person.tool_names(), for_agent = mcp.tool_names();
    for (const char* name :
         {"switch_org",
          "list_my_invitations",
          "accept_invitation",
          "decline_invitation",
          "list_my_sessions",
          "list_my_memberships",
          "update_my_profile",
          "update_my_preferences",
          "create_token",
          "leave_org",
          "create_org"}) {
        EXPECT_THAT(for_person, Contains(name));
        EXPECT_THAT(for_agent, Not(Contains(name)));
    }
    for (const auto& names : {for_person, for_agent}) {
        EXPECT_THAT(names, Not(Contains("set_my_password")));
        EXPECT_THAT(names, Not(Contains("change_my_password")));
    }
}

/// A tool has arguments and no headers; what a text says of these is of no use to its reader.
TEST_F(McpTools, SayNothingOfHeaders) {
    constexpr const char* words[] = {
        "If-Match",
        "If-None-Match",
        "ETag",
        "Idempotency-Key",
        "X-Svc-",
        "X-CSRF",
        "Retry-After",
        "Set-Cookie",
        "Prefer:",
        "`Prefer`"
    };
    const auto manifest = Client(server.port()).get("/v1/mcp/manifest").json();
    for (const auto& tool : manifest.at("tools").as_array()) {
        const std::string text = json::serialize(tool);
        for (const char* word : words)
            EXPECT_EQ(text.find(word), text.npos) << tool.at("name") << ' ' << word;
    }
}

}  // namespace
}  // namespace svc::test
