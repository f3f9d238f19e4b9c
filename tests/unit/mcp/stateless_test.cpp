#include "tests/support/gzip.hpp"
#include "tests/support/mcp_client.hpp"

namespace svc::test {
namespace {

constexpr std::string_view version = "2026-07-28";

class McpStateless : public McpTest {
protected:
    static json::object meta(std::string_view of = version) {
        return {
            {"io.modelcontextprotocol/protocolVersion", of},
            {"io.modelcontextprotocol/clientCapabilities", json::object{}}
        };
    }
    /// As a client of the present protocol sends it, but for what `changed` says.
    Reply send(std::string_view method, json::object params = {}, const Headers& changed = {}) {
        if (!params.contains("_meta")) params["_meta"] = meta();
        Headers headers{
            {"MCP-Protocol-Version", std::string(version)}, {"Mcp-Method", std::string(method)}
        };
        if (const auto* name = params.if_contains("name"))
            headers.emplace_back("Mcp-Name", name->as_string());
        for (const auto& each : changed) {
            std::erase_if(headers, [&](const auto& old) { return old.first == each.first; });
            if (!each.second.empty()) headers.push_back(each);
        }
        return mcp.request(method, params, headers);
    }
};

TEST_F(McpStateless, NeedsNoSession) {
    const auto reply = send("tools/list");
    ASSERT_EQ(reply.status, 200) << reply.body;
    const auto result = reply.json().at("result");
    EXPECT_EQ(result.at("resultType"), "complete");
    EXPECT_EQ(result.at("cacheScope"), "private");
    EXPECT_GE(result.at("ttlMs").as_int64(), 0);
    EXPECT_EQ(result.at("_meta").at("io.modelcontextprotocol/serverInfo").at("name"), "workboard");
    EXPECT_EQ(reply.header("mcp-session-id"), "");
    EXPECT_EQ(send("tools/list", {}, {{"Mcp-Session-Id", "stale"}}).status, 200);
}

TEST_F(McpStateless, OffersWhatTheHandshakeOffers) {
    const auto stateless = send("tools/list").json().at("result").at("tools");
    mcp.initialize();
    EXPECT_EQ(mcp.request("tools/list").json().at("result").at("tools"), stateless);
}

TEST_F(McpStateless, ListsToolsInGzipToThoseWhoTakeIt) {
    const auto plain = send("tools/list");
    EXPECT_EQ(plain.header("content-encoding"), "");
    const auto packed = send("tools/list", {}, {{"Accept-Encoding", "gzip, deflate"}});
    EXPECT_EQ(packed.header("content-encoding"), "gzip");
    EXPECT_LT(packed.body.size(), plain.body.size() / 4);
    EXPECT_EQ(unpacked(packed.body), plain.body);
}

TEST_F(McpStateless, DiscoverTellsWhatIsSpoken) {
    const auto result = send("server/discover").json().at("result");
    EXPECT_EQ(result.at("supportedVersions").at(0), json::value(version));
    EXPECT_EQ(result.at("supportedVersions").as_array().size(), 4U);
    EXPECT_TRUE(result.at("capabilities").as_object().contains("tools"));
    EXPECT_EQ(result.at("cacheScope"), "public");
    EXPECT_GT(result.at("instructions").as_string().size(), 20U);
}

TEST_F(McpStateless, CallsTools) {
    const auto reply = send("tools/call", {{"name", "get_me"}});
    ASSERT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(reply.json().at_pointer("/result/structuredContent/name"), "Robot");
    EXPECT_EQ(reply.json().at_pointer("/result/resultType"), "complete");
    EXPECT_FALSE(reply.json().at("result").as_object().contains("ttlMs"));
    EXPECT_EQ(error_code(send("tools/call", {{"name", "no_such"}})), -32602);
}

TEST_F(McpStateless, HeadersHaveToAgreeWithTheBody) {
    const json::object get_me{{"name", "get_me"}};
    const Headers wrong[] = {
        {{"MCP-Protocol-Version", ""}},
        {{"MCP-Protocol-Version", "2025-11-25"}},
        {{"Mcp-Method", ""}},
        {{"Mcp-Method", "tools/list"}},
        {{"Mcp-Method", "Tools/Call"}},
        {{"Mcp-Name", ""}},
        {{"Mcp-Name", "list_boards"}},
        {{"Mcp-Name", "=?base64?***?="}},
        {{"Mcp-Name", "=?base64?bGlzdF9ib2FyZHM=?="}},
    };
    for (const auto& each : wrong) {
        const auto reply = send("tools/call", get_me, each);
        EXPECT_EQ(reply.status, 400) << each[0].first << ": " << each[0].second;
        EXPECT_EQ(error_code(reply), -32020) << each[0].first << ": " << each[0].second;
    }
    EXPECT_EQ(send("tools/call", get_me, {{"Mcp-Name", "=?base64?Z2V0X21l?="}}).status, 200);
}

TEST_F(McpStateless, AHeaderThatHoldsANulIsNamedAsThat) {
    for (const char* name : {"Z2V0X21lAA==", "AA==", "AGdldF9tZQ=="}) {
        const auto reply = send(
            "tools/call",
            {{"name", "get_me"}},
            {{"Mcp-Name", "=?base64?" + std::string(name) + "?="}}
        );
        EXPECT_EQ(reply.status, 400) << name;
        EXPECT_EQ(error_code(reply), -32020) << name;
        EXPECT_EQ(
            reply.text("/error/message"), "Header mismatch: Mcp-Name holds a NUL between its marks."
        );
    }
}

TEST_F(McpStateless, TheEnvelopeHasToBeWhole) {
    json::object bare = meta();
    bare.erase("io.modelcontextprotocol/clientCapabilities");
    for (const json::value& each :
         {json::value(bare), json::value(json::object{}), json::value(nullptr), json::value(3)}) {
        const auto reply = send("tools/list", {{"_meta", each}});
        EXPECT_EQ(reply.status, 400) << json::serialize(each);
        EXPECT_EQ(error_code(reply), -32602) << json::serialize(each);
    }
}

TEST_F(McpStateless, OtherVersionsAreToldWhatIsSpoken) {
    const auto reply = send(
        "tools/list", {{"_meta", meta("1900-01-01")}}, {{"MCP-Protocol-Version", "1900-01-01"}}
    );
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(error_code(reply), -32022);
    EXPECT_EQ(reply.text("/error/data/requested"), "1900-01-01");
    EXPECT_EQ(reply.json().at("error").at("data").at("supported").at(0), json::value(version));
}

TEST_F(McpStateless, MethodsOfTheOldDaysAreGone) {
    for (const std::string method : {"initialize", "ping", "logging/setLevel", "no/such"}) {
        const auto reply = send(method);
        EXPECT_EQ(reply.status, 404) << method;
        EXPECT_EQ(error_code(reply), -32601) << method;
    }
}

TEST_F(McpStateless, ListeningOpensAStream) {
    const json::value message{
        {"jsonrpc", "2.0"},
        {"id", "s-1"},
        {"method", "subscriptions/listen"},
        {"params", {{"_meta", meta()}, {"notifications", {{"toolsListChanged", true}}}}}
    };
    RawStream stream(
        server.port(),
        mcp.client.request(
            "POST",
            "/v1/mcp/http",
            json::serialize(message),
            {{"Content-Type", "application/json"},
             {"Accept", "application/json, text/event-stream"},
             {"MCP-Protocol-Version", std::string(version)},
             {"Mcp-Method", "subscriptions/listen"}}
        )
    );
    const std::string seen = stream.read_until([](const std::string& so_far) {
        return so_far.find("data: ") != std::string::npos && so_far.ends_with("\n\n");
    });
    EXPECT_TRUE(seen.starts_with("HTTP/1.1 200")) << seen;
    const auto first = json::parse(seen.substr(seen.find("data: ") + 6));
    EXPECT_EQ(first.at("method"), "notifications/subscriptions/acknowledged");
    EXPECT_EQ(first.at("params").at("_meta").at("io.modelcontextprotocol/subscriptionId"), "s-1");
    EXPECT_EQ(first.at("params").at("notifications"), (json::value{{"toolsListChanged", true}}));

    const auto reply = send("subscriptions/listen", {}, {{"Accept", "application/json"}});
    EXPECT_EQ(reply.status, 406);
}

}  // namespace
}  // namespace svc::test
