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
        EXPECT_EQ(reply.header("vary"), "Origin");
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
         .settings = {std::string("mcp.allowed_origins=") + trusted}}};
    Workspace workspace = make_workspace(server);
    McpClient mcp{server.port(), workspace.mint("agent", "Robot")};
};

TEST_F(McpOrigins, ABrowserIsToldWithoutATokenWhatAPageMaySend) {
    for (const auto& [path, methods] : std::map<std::string, std::string>{
             {"/v1/mcp/http", "GET, POST, DELETE"},
             {"/v1/mcp/sse", "GET"},
             {"/v1/mcp/messages", "POST"},
             {"/v1/mcp/messages/", "POST"}}) {
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

/// Before a request is whole, nobody has asked which path it is for.
TEST_F(McpOrigins, APageReadsThatItsRequestWasNoneOrTooLarge) {
    const auto ask = [&](const std::string& line, const char* origin, const std::string& rest) {
        Connection connection(server.port());
        connection.write(
            line + " HTTP/1.1\r\nHost: test\r\nOrigin: " + origin + "\r\n" + rest + "\r\n\r\n"
        );
        return connection.read();
    };
    const std::string most_headers(20 << 10, 'a');
    for (const char* path : {"/v1/mcp/http", "/v1/mcp/messages/?session_id=x"}) {
        const auto post = "POST " + std::string(path);
        for (const auto& [status, line, rest] :
             {std::tuple(413, post, std::string("Content-Length: 99000000")),
              std::tuple(431, post, "X-A: " + most_headers),
              std::tuple(400, post, std::string("Content-Length: many")),
              std::tuple(400, post + "|", std::string("Transfer-Encoding: gzip"))}) {
            expect_shown(expect(status, ask(line, trusted, rest)));
            expect_hidden(expect(status, ask(line, stranger, rest)));
        }
    }
    const auto elsewhere = ask("POST /v1/boards", trusted, "Content-Length: 99000000");
    EXPECT_EQ(expect(413, elsewhere).header("access-control-allow-origin"), "");
}

TEST_F(McpOrigins, TheManifestIsForAnyPage) {
    const auto send = [&](std::string_view method) {
        return server.client().send(method, "/v1/mcp/manifest", {}, {{"Origin", stranger}});
    };
    EXPECT_EQ(expect(200, send("GET")).header("access-control-allow-origin"), "*");
}

}  // namespace
}  // namespace svc::test
