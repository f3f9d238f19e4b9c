#include "tests/support/eventually.hpp"
#include "tests/support/mcp_client.hpp"

#include <csignal>
#include <thread>

namespace svc::test {
namespace {

class McpSessions : public McpTest {
protected:
    int ping(std::string session) {
        mcp.session = std::move(session);
        return mcp.request("ping").status;
    }
    RawStream open_stream(const std::string& last = {}) {
        return RawStream(server.port(), mcp.stream_request(last));
    }
    /// All that was told up to the first event with an id, and that.
    static std::pair<std::string, std::string> told_to(RawStream& stream) {
        const auto seen = stream.read_until([](const std::string& all) {
            const auto at = all.find("\nid: ");
            return at != std::string::npos && all.find("\n\n", at + 1) != std::string::npos;
        });
        const auto at = seen.find("\nid: ") + 5;
        return {seen, seen.substr(at, seen.find('\n', at) - at)};
    }
    static std::string head_of(RawStream& stream) {
        return stream.read_until([](const std::string& seen) {
            const auto end = seen.find("\r\n\r\n");
            return end != std::string::npos && seen.size() > end + 4;
        });
    }
};

TEST_F(McpSessions, AreAskedForOnEveryMessage) {
    mcp.initialize();
    const std::string good = mcp.session;
    EXPECT_EQ(ping(good), 200);
    EXPECT_EQ(ping(""), 400);
    EXPECT_EQ(ping("nonsense"), 404);
    EXPECT_EQ(ping(std::string(good.size(), 'a')), 404);
    for (std::size_t i = 0; i < good.size(); i += 7) {
        std::string altered = good;
        altered[i] = altered[i] == '0' ? '1' : '0';
        EXPECT_EQ(ping(altered), 404) << i;
    }
    mcp.session = "nonsense";
    EXPECT_EQ(mcp.post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").status, 404);
    EXPECT_EQ(mcp.initialize().status, 200) << "initialize needs none";
}

TEST_F(McpSessions, BelongToWhoOpenedThem) {
    mcp.initialize();
    McpClient other(server.port(), workspace.mint("agent", "Another"));
    other.session = mcp.session;
    EXPECT_EQ(other.request("ping").status, 404);
    EXPECT_EQ(
        other.client.send("DELETE", "/v1/mcp/http", {}, {{"Mcp-Session-Id", mcp.session}}).status,
        404
    );
    EXPECT_EQ(mcp.request("ping").status, 200);
}

TEST_F(McpSessions, EndWhenTheirClientSaysSo) {
    mcp.initialize();
    const auto end = [&](const Headers& headers) {
        return mcp.client.send("DELETE", "/v1/mcp/http", {}, headers).status;
    };
    EXPECT_EQ(mcp.request("ping").status, 200);
    EXPECT_EQ(end({}), 400);
    EXPECT_EQ(end({{"Mcp-Session-Id", mcp.session}}), 204);
    EXPECT_EQ(mcp.request("ping").status, 404);
    EXPECT_EQ(end({{"Mcp-Session-Id", mcp.session}}), 404);
}

TEST_F(McpSessions, SurviveARestartAndACrash) {
    const auto token = workspace.mint("agent", "Steady");
    McpClient steady(server.port(), token);
    steady.initialize();
    const auto live = steady.session;
    steady.initialize();
    const auto ended = steady.session;
    EXPECT_EQ(
        steady.client.send("DELETE", "/v1/mcp/http", {}, {{"Mcp-Session-Id", ended}}).status, 204
    );
    for (const int signal : {SIGTERM, SIGKILL}) {
        server.end(signal);
        server.start();
        McpClient back(server.port(), token);
        back.session = live;
        EXPECT_EQ(back.call("get_me", json::object{}).status, 200);
        back.session = ended;
        EXPECT_EQ(back.request("ping").status, 404);
    }
}

TEST_F(McpSessions, SpeakOneOfTheKnownVersions) {
    mcp.initialize();
    const auto with = [&](const std::string& version) {
        return mcp.request("ping", json::object{}, {{"MCP-Protocol-Version", version}});
    };
    EXPECT_EQ(with("2025-11-25").status, 200);
    EXPECT_EQ(with("2025-03-26").status, 200);
    const auto reply = with("1999-01-01");
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(error_code(reply), -32022);
    EXPECT_EQ(reply.text("/error/data/requested"), "1999-01-01");
}

TEST_F(McpSessions, HaveAStreamForAsLongAsTheyLast) {
    mcp.initialize();
    auto stream = open_stream();
    const auto head = head_of(stream);
    EXPECT_TRUE(head.starts_with("HTTP/1.1 200")) << head;
    EXPECT_NE(head.find("text/event-stream"), std::string::npos);
    EXPECT_NE(head.find("\n: open"), std::string::npos) << head;
    EXPECT_EQ(head.find("Content-Length"), std::string::npos);

    mcp.client.send("DELETE", "/v1/mcp/http", {}, {{"Mcp-Session-Id", mcp.session}});
    EXPECT_TRUE(stream.ends());
}

TEST_F(McpSessions, WhoComesBackIsToldOfWhatHappenedMeanwhile) {
    make_queue();
    ASSERT_TRUE(eventually([&] {
        const auto events = workspace.client.get("/v1/events?kinds=column.created").json();
        return !events.at("results").as_array().empty();
    }));
    mcp.initialize();
    std::string last;
    {
        auto stream = open_stream();
        const auto [told, id] = told_to(stream);
        EXPECT_EQ(told.find("list_changed"), std::string::npos) << told;
        last = id;
    }
    expect(201, workspace.client.post("/v1/boards", json::value{{"name", "Another"}}));
    ASSERT_TRUE(eventually([&] {
        const auto events = workspace.client.get("/v1/events?kinds=board.created").json();
        return events.at("results").as_array().size() == 2;
    }));
    {
        auto stream = open_stream(last);
        const auto [told, id] = told_to(stream);
        EXPECT_NE(told.find("resources/list_changed"), std::string::npos) << told;
        EXPECT_EQ(told.find("tools/list_changed"), std::string::npos) << told;
        EXPECT_GT(std::stoll(id), std::stoll(last));
        last = id;
    }
    auto informed = open_stream(last);
    EXPECT_EQ(told_to(informed).first.find("list_changed"), std::string::npos);
    auto lost = open_stream("nonsense");
    const auto all = told_to(lost).first;
    for (const char* each : {"resources/list_changed", "tools/list_changed"})
        EXPECT_NE(all.find(each), std::string::npos) << "all of it may have changed: " << all;
}

TEST_F(McpSessions, GetIsForStreamsOnly) {
    mcp.initialize();
    const auto get = [&](Headers headers) {
        headers.emplace_back("Mcp-Session-Id", mcp.session);
        return mcp.client.send("GET", "/v1/mcp/http", {}, headers);
    };
    EXPECT_EQ(get({}).status, 405);
    EXPECT_EQ(get({{"Accept", "application/json"}}).status, 405);
    EXPECT_EQ(
        get({{"Accept", "text/event-stream"}, {"MCP-Protocol-Version", "2026-07-28"}}).status, 405
    );
    EXPECT_EQ(get({{"Accept", "text/event-stream"}, {"MCP-Protocol-Version", "x"}}).status, 400);
    mcp.session = "nonsense";
    EXPECT_EQ(get({{"Accept", "text/event-stream"}}).status, 404);
}

TEST_F(McpSessions, OnePrincipalHasOnlySoManyStreams) {
    mcp.initialize();
    std::vector<RawStream> streams;
    for (int i = 0; i < 16; ++i) {
        streams.push_back(open_stream());
        const auto head = head_of(streams.back());
        ASSERT_TRUE(head.starts_with("HTTP/1.1 200")) << head;
    }
    auto refused = open_stream();
    EXPECT_TRUE(head_of(refused).starts_with("HTTP/1.1 429"));

    streams.clear();
    EXPECT_TRUE(eventually([&] {
        auto stream = open_stream();
        return head_of(stream).starts_with("HTTP/1.1 200");
    })) << "closed streams keep their places";
}

}  // namespace
}  // namespace svc::test
