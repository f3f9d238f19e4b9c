#include "tests/support/mcp_client.hpp"

/// Which pages of other sites may talk to MCP, and what browsers are told of it.
namespace svc::test {
namespace {

class McpOrigins : public testing::Test {
protected:
    static constexpr const char* trusted = "https://inspector.example";
    static constexpr const char* stranger = "https://elsewhere.example";

    Reply preflight(const std::string& path, const std::string& origin) const {
        return server.client().send(
            "OPTIONS",
            path,
            {},
            {{"Origin", origin},
             {"Access-Control-Request-Method", "POST"},
             {"Access-Control-Request-Headers", "authorization,mcp-session-id"}}
        );
    }
    static void expect_hidden(const Reply& reply) {
        for (const char* name :
             {"access-control-allow-origin",
              "access-control-allow-methods",
              "access-control-allow-headers",
              "access-control-expose-headers"})
            EXPECT_EQ(reply.header(name), "") << name;
    }
    static void expect_shown(const Reply& reply) {
        EXPECT_EQ(reply.header("access-control-allow-origin"), trusted);
        EXPECT_EQ(reply.header("access-control-allow-credentials"), "") << "cookies are nobody's";
        EXPECT_EQ(reply.header("vary"), "Origin");
        for (const char* name : {"Mcp-Session-Id", "WWW-Authenticate", "Retry-After"})
            EXPECT_NE(reply.header("access-control-expose-headers").find(name), std::string::npos);
    }

    Server server{
        {.database_url = Postgres::shared().fresh_database(),
         .settings = {std::string("mcp.allowed_origins=") + trusted}}
    };
    Workspace workspace = make_workspace(server);
    McpClient mcp{server.port(), workspace.mint("agent", "Robot")};
};

TEST_F(McpOrigins, ABrowserIsToldWithoutATokenWhatAPageMaySend) {
    for (const auto& [path, methods] : std::map<std::string, std::string>{
             {"/v1/mcp/http", "GET, POST, DELETE"},
             {"/v1/mcp/sse", "GET"},
             {"/v1/mcp/messages", "POST"},
             {"/v1/mcp/messages/", "POST"}
         }) {
        const auto allowed = expect(204, preflight(path, trusted));
        expect_shown(allowed);
        EXPECT_EQ(allowed.header("access-control-allow-methods"), methods) << path;
        EXPECT_EQ(allowed.header("allow"), methods + ", OPTIONS");
        const auto headers = allowed.header("access-control-allow-headers");
        for (const char* name : {"Authorization", "Mcp-Session-Id", "Mcp-Method", "Last-Event-ID"})
            EXPECT_NE(headers.find(name), std::string::npos) << name;
        for (const char* origin : {stranger, "null", ""})
            expect_hidden(expect(204, preflight(path, origin)));
    }
}

TEST_F(McpOrigins, APageThatIsNamedReadsAnswersAndRefusals) {
    const Headers from{{"Origin", trusted}};
    mcp.initialize();
    expect_shown(expect(200, mcp.request("ping", json::object{}, from)));
    expect_shown(expect(400, mcp.post("no json", from)));
    expect_shown(expect(405, mcp.client.send("PUT", "/v1/mcp/http", {}, from)));
    mcp.client.token("svc_nobody");
    const auto nobody = expect(401, mcp.request("ping", json::object{}, from));
    expect_shown(nobody);
    EXPECT_NE(nobody.header("www-authenticate").find("resource_metadata="), std::string::npos);
}

TEST_F(McpOrigins, APageThatIsNotReadsNone) {
    const Headers from{{"Origin", stranger}};
    mcp.initialize();
    expect_hidden(expect(403, mcp.request("ping", json::object{}, from)));
    mcp.client.token("svc_nobody");
    const auto nobody = expect(401, mcp.request("ping", json::object{}, from));
    expect_hidden(nobody);
    EXPECT_NE(nobody.header("www-authenticate").find("resource_metadata="), std::string::npos);
}

TEST_F(McpOrigins, TheManifestIsForAnyPage) {
    const auto manifest =
        server.client().send("GET", "/v1/mcp/manifest", {}, {{"Origin", stranger}});
    EXPECT_EQ(expect(200, manifest).header("access-control-allow-origin"), "*");
}

}  // namespace
}  // namespace svc::test
