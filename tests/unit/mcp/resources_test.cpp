#include "tests/support/count_of.hpp"
#include "tests/support/mcp_client.hpp"

namespace svc::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class McpResources : public McpTest {
protected:
    McpResources() {
        mcp.initialize();
        queue = make_queue();
        add_card(queue, "Oil the hinge");
        mcp.call(
            "update_card_markdown", {{"card_id", "WOR-1"}, {"markdown", "With **good** oil."}}
        );
    }
    json::value result(std::string_view method, const json::value& params) {
        const auto reply = mcp.request(method, params);
        EXPECT_EQ(error_code(reply), 0) << reply.body;
        return reply.json().at("result");
    }
    std::string text_at(const std::string& uri) {
        const auto read = result("resources/read", {{"uri", uri}});
        EXPECT_EQ(read.at_pointer("/contents/0/uri").as_string(), uri);
        EXPECT_EQ(read.at_pointer("/contents/0/mimeType"), "text/markdown");
        return std::string(read.at_pointer("/contents/0/text").as_string());
    }
    std::vector<std::string> completed(
        const json::value& ref, std::string_view name, std::string_view value
    ) {
        std::vector<std::string> values;
        const json::value params{{"ref", ref}, {"argument", {{"name", name}, {"value", value}}}};
        const auto answer = result("completion/complete", params);
        for (const auto& each : answer.at_pointer("/completion/values").as_array())
            values.emplace_back(each.as_string());
        return values;
    }

    void patch(const std::string& path, const json::value& body) {
        expect(200, workspace.client.send("PATCH", path, json::serialize(body)));
    }

    /// A stream of the stateless protocol, of what happens from now on.
    RawStream listen(const json::value& wanted) {
        reused.await_sequences();
        const json::value message{
            {"jsonrpc", "2.0"},
            {"id", "listening"},
            {"method", "subscriptions/listen"},
            {"params",
             {{"notifications", wanted},
              {"_meta",
               {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                {"io.modelcontextprotocol/clientCapabilities", json::object{}}}}}}};
        Headers headers = json_headers;
        headers.emplace_back("MCP-Protocol-Version", "2026-07-28");
        headers.emplace_back("Mcp-Method", "subscriptions/listen");
        return RawStream(
            server.port(),
            mcp.client.request("POST", "/v1/mcp/http", json::serialize(message), headers)
        );
    }
    static std::string seen_until(RawStream& stream, std::string_view text) {
        return stream.read_until([&](const std::string& all) { return all.find(text) != all.npos; }
        );
    }

    Queue queue;
};

TEST_F(McpResources, AreTheBoardsOneSees) {
    const json::value secret{{"name", "Secret"}, {"visibility", "private"}};
    expect(201, workspace.client.post("/v1/boards", secret));
    const auto list = result("resources/list", json::object{}).at("resources").as_array();
    ASSERT_EQ(list.size(), 1U);
    EXPECT_EQ(list[0].at("uri").as_string(), "svc://boards/" + queue.board_id);
    EXPECT_EQ(list[0].at("title"), "Work");
    EXPECT_EQ(error_code(mcp.request("resources/list", {{"cursor", "nonsense"}})), -32602);
}

TEST_F(McpResources, AreReadAsMarkdownByIdOrKey) {
    for (const auto& board : {queue.board_id, std::string("WOR")}) {
        const auto text = text_at("svc://boards/" + board);
        EXPECT_THAT(text, testing::StartsWith("# WOR Work\n"));
        EXPECT_THAT(text, HasSubstr("## To do (1)"));
        EXPECT_THAT(text, HasSubstr("- **WOR-1** Oil the hinge\n"));
    }
    const auto card = text_at("svc://cards/WOR-1");
    EXPECT_THAT(card, testing::StartsWith("# WOR-1 Oil the hinge\n"));
    EXPECT_THAT(card, HasSubstr("With **good** oil."));
    EXPECT_THAT(text_at("svc://cards/WOR-1/context"), HasSubstr("With **good** oil."));
    const auto templates = result("resources/templates/list", json::object{});
    EXPECT_EQ(templates.at("resourceTemplates").as_array().size(), 3U);
}

TEST_F(McpResources, ThatThereAreNotAreErrors) {
    const json::value secret{{"name", "Secret"}, {"key", "SEC"}, {"visibility", "private"}};
    expect(201, workspace.client.post("/v1/boards", secret));
    for (const char* uri :
         {"svc://boards/SEC",
          "svc://boards/NONE",
          "svc://cards/WOR-99",
          "svc://cards/",
          "svc://cards/WOR-1/body",
          "svc://cards/%",
          "https://example.com",
          ""})
        EXPECT_EQ(error_code(mcp.request("resources/read", {{"uri", uri}})), -32002) << uri;
}

TEST_F(McpResources, HaveIdsThatAreCompleted) {
    add_card(queue, "Paint the door");
    const json::value cards{{"type", "ref/resource"}, {"uri", "svc://cards/{id}"}};
    const json::value boards{{"type", "ref/resource"}, {"uri", "svc://boards/{id}"}};
    EXPECT_THAT(completed(cards, "id", "WOR-"), testing::UnorderedElementsAre("WOR-1", "WOR-2"));
    EXPECT_THAT(completed(cards, "id", "paint"), ElementsAre("WOR-2"));
    EXPECT_THAT(completed(boards, "id", "wo"), ElementsAre("WOR"));
    EXPECT_THAT(completed(boards, "id", "x"), testing::IsEmpty());
    const json::value prompt{{"type", "ref/prompt"}, {"name", "triage-board"}};
    EXPECT_THAT(completed(prompt, "board", ""), ElementsAre("WOR"));
    EXPECT_EQ(error_code(mcp.request("completion/complete", {{"ref", "x"}})), -32602);
}

TEST_F(McpResources, HavePromptsBesideThem) {
    std::vector<std::string> names;
    const auto listed = result("prompts/list", json::object{});
    for (const auto& each : listed.at("prompts").as_array())
        names.emplace_back(each.at("name").as_string());
    EXPECT_THAT(names, ElementsAre("work-the-queue", "triage-board", "summarize-board"));
    const auto get = [&](std::string_view name, const json::value& arguments) {
        return mcp.request("prompts/get", {{"name", name}, {"arguments", arguments}});
    };
    const auto work = get("work-the-queue", json::object{}).json();
    EXPECT_THAT(
        std::string(work.at_pointer("/result/messages/0/content/text").as_string()),
        testing::AllOf(HasSubstr("claim_next_card"), Not(HasSubstr("{")))
    );
    const auto triage = get("triage-board", {{"board", "Work"}}).json();
    const auto& shown = triage.at_pointer("/result/messages/1/content/resource");
    EXPECT_EQ(shown.at("uri").as_string(), "svc://boards/" + queue.board_id);
    EXPECT_THAT(std::string(shown.at("text").as_string()), HasSubstr("WOR-1"));
    EXPECT_EQ(error_code(get("triage-board", json::object{})), -32602);
    EXPECT_EQ(error_code(get("triage-board", {{"board", "Nowhere"}})), -32602);
    EXPECT_EQ(error_code(get("sing", json::object{})), -32602);
}

/// Every tool that the prompts name is there.
TEST_F(McpResources, HavePromptsThatNameTools) {
    const auto names = mcp.tool_names();
    for (const char* prompt : {"work-the-queue", "triage-board", "summarize-board"}) {
        const auto answer =
            result("prompts/get", {{"name", prompt}, {"arguments", {{"board", "WOR"}}}});
        const std::string text(answer.at_pointer("/messages/0/content/text").as_string());
        for (const char* tool :
             {"claim_next_card",
              "list_queues",
              "get_card_context",
              "renew_lease",
              "create_comment",
              "complete_lease",
              "fail_lease",
              "release_lease",
              "update_card",
              "link_cards",
              "list_board_activity"})
            if (text.find(tool) != text.npos) EXPECT_THAT(names, Contains(tool));
    }
}

TEST_F(McpResources, AreToldOfWhenTheyChange) {
    const json::value wanted{
        {"toolsListChanged", true},
        {"promptsListChanged", true},
        {"resourcesListChanged", true},
        {"resourceSubscriptions", {"svc://cards/WOR-1", "svc://boards/NONE", 7}}};
    RawStream stream = listen(wanted);
    EXPECT_THAT(
        seen_until(stream, "acknowledged"),
        HasSubstr(R"("notifications":{"toolsListChanged":true,"resourcesListChanged":true,)"
                  R"("resourceSubscriptions":["svc://cards/WOR-1"]})")
    );
    patch("/v1/cards/WOR-1", json::value{{"title", "Oil it"}});
    const auto told = seen_until(stream, "resources/updated");
    EXPECT_THAT(told, HasSubstr(R"("io.modelcontextprotocol/subscriptionId":"listening"})"));
    EXPECT_THAT(seen_until(stream, "svc://cards/WOR-1\"}"), Not(HasSubstr("list_changed")));
    expect(201, workspace.client.post("/v1/boards", json::value{{"name", "Another"}}));
    EXPECT_THAT(seen_until(stream, "resources/list_changed"), Not(HasSubstr("tools/list_changed")));
}

TEST_F(McpResources, AndToolsAreToldOfWhenARoleChanges) {
    const json::value wanted{
        {"kind", "agent"}, {"name", "Its"}, {"role", "admin"}, {"agent", {{"name", "Keeper"}}}};
    const auto token = expect(201, workspace.client.post("/v1/tokens", wanted)).text("/token");
    mcp = McpClient(server.port(), token);
    mcp.initialize();
    const auto agent = "/v1/agents/" + mcp.client.get("/v1/me").text("/id");
    patch(agent, json::value{{"role", "member"}});
    const auto before = mcp.tool_names();
    RawStream stream = listen({{"toolsListChanged", true}});
    seen_until(stream, "acknowledged");
    patch(agent, json::value{{"role", "admin"}});
    seen_until(stream, "notifications/tools/list_changed");
    EXPECT_GT(mcp.tool_names().size(), before.size());
}

TEST_F(McpResources, AreLookedForAsManyAsOneMayWatch) {
    json::array uris(99, "svc://cards/WOR-99");
    uris.emplace_back("svc://cards/WOR-1");
    uris.emplace_back("svc://boards/WOR");
    RawStream stream = listen({{"resourceSubscriptions", uris}});
    EXPECT_THAT(
        seen_until(stream, "acknowledged"),
        HasSubstr(R"("notifications":{"resourceSubscriptions":["svc://cards/WOR-1"]})")
    );
}

// A stream learns of a subscription a moment after its client.
TEST_F(McpResources, AreHeardOfFromTheAnswerToTheSubscriptionOn) {
    RawStream stream(server.port(), mcp.stream_request());
    seen_until(stream, ": open");
    for (int i = 2; i <= 50; ++i) {
        const auto card = "cards/WOR-" + std::to_string(i);
        add_card(queue, "Card");
        result("resources/subscribe", {{"uri", "svc://" + card}});
        patch("/v1/" + card, json::value{{"title", "Changed"}});
    }
    for (int i = 2; i <= 50; ++i) {
        const auto uri = "svc://cards/WOR-" + std::to_string(i) + '"';
        ASSERT_THAT(seen_until(stream, uri), HasSubstr(uri));
    }
}

TEST_F(McpResources, OfBoardsOneSeesNoMoreAreSilent) {
    RawStream stream(server.port(), mcp.stream_request());
    seen_until(stream, ": open");
    result("resources/subscribe", {{"uri", "svc://boards/WOR"}});
    patch("/v1/cards/WOR-1", json::value{{"title", "Open"}});
    seen_until(stream, "svc://boards/WOR");
    const json::value closed{{"visibility", "private"}};
    patch("/v1/boards/" + queue.board_id, closed);
    seen_until(stream, "resources/list_changed");
    const auto before = stream.read_until([](const std::string&) { return true; });
    patch("/v1/cards/WOR-1", json::value{{"title", "Secret"}});
    expect(201, workspace.client.post("/v1/boards", json::value{{"name", "Another"}}));
    const auto after = stream.read_until([&](const std::string& all) {
        return count_of(all, "resources/list_changed") > count_of(before, "resources/list_changed");
    });
    EXPECT_EQ(count_of(after, "resources/updated"), count_of(before, "resources/updated"));
}

}  // namespace
}  // namespace svc::test
