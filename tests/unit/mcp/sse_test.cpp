#include "tests/support/eventually.hpp"
#include "tests/support/mcp_client.hpp"
#include "tests/support/metric.hpp"

#include <csignal>
#include <sstream>

namespace svc::test {
namespace {

using testing::HasSubstr;

/// One event of a stream.
struct SseEvent {
    std::string id, name, data;
};

/// A client of HTTP+SSE: a stream, and what is posted to the path that its first event names.
class SseClient {
public:
    SseClient(std::uint16_t port, std::string_view token, const std::string& last_event = {})
        : client_(port), stream_(port, request(port, token, last_event)) {
        client_.token(token);
    }
    /// The next event that is named so.
    SseEvent next(std::string_view name = "message") {
        for (;;) {
            const auto& seen = stream_.read_until([&](const std::string& all) {
                return all.find("\n\n", at_) != all.npos;
            });
            const auto end = seen.find("\n\n", at_);
            if (end == seen.npos) return {};
            const auto event = parsed(seen.substr(at_, end - at_));
            at_ = end + 2;
            if (event.name == name) return event;
        }
    }
    /// Posts a request; the answer comes on the stream.
    Reply post(
        const std::string& path, std::string_view method, const json::value& params = json::object{}
    ) {
        const json::value message{
            {"jsonrpc", "2.0"}, {"id", ++id_}, {"method", method}, {"params", params}
        };
        return client_.send("POST", path, json::serialize(message), json_headers);
    }
    json::value answer() {
        const auto event = next();
        return event.data.empty() ? json::value() : json::parse(event.data);
    }
    RawStream& stream() { return stream_; }

private:
    static std::string request(
        std::uint16_t port, std::string_view token, const std::string& last
    ) {
        Client client(port);
        client.token(token);
        Headers headers{{"Accept", "text/event-stream"}};
        if (!last.empty()) headers.emplace_back("Last-Event-ID", last);
        return client.request("GET", "/v1/mcp/sse", {}, headers);
    }
    static SseEvent parsed(const std::string& text) {
        SseEvent event;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("id: ")) event.id = line.substr(4);
            if (line.starts_with("event: ")) event.name = line.substr(7);
            if (line.starts_with("data: ")) event.data = line.substr(6);
        }
        return event;
    }

    Client client_;
    RawStream stream_;
    std::size_t at_ = 0;
    int id_ = 0;
};

class McpSse : public McpTest {
protected:
    McpSse() : token(workspace.mint("agent", "Old")) {}

    /// What is opened from here on is not told of what was done before.
    void await_record(const std::string& kind) {
        ASSERT_TRUE(eventually([&] {
            const auto events = workspace.client.get("/v1/events?kinds=" + kind).json();
            return !events.at("results").as_array().empty();
        }));
    }

    const std::string token;
};

const json::value hello{
    {"protocolVersion", "2024-11-05"},
    {"capabilities", json::object{}},
    {"clientInfo", {{"name", "old"}, {"version", "1"}}}
};

TEST_F(McpSse, AnswersOnTheStreamWhatIsPosted) {
    make_queue();
    await_record("column.created");
    SseClient old(server.port(), token);
    const auto path = old.next("endpoint").data;
    EXPECT_THAT(path, testing::StartsWith("/v1/mcp/messages/?session_id="));
    EXPECT_EQ(old.post(path, "initialize", hello).status, 202);
    const auto agreed = old.answer();
    EXPECT_EQ(agreed.at("id"), 1);
    EXPECT_EQ(agreed.at_pointer("/result/protocolVersion"), "2024-11-05");
    EXPECT_EQ(old.post(path, "tools/list").status, 202);
    const auto list = old.answer();
    EXPECT_GT(list.at_pointer("/result/tools").as_array().size(), 50U);
    EXPECT_FALSE(list.at_pointer("/result/tools/0").as_object().contains("outputSchema"));
    old.post(path, "tools/call", {{"name", "list_boards"}, {"arguments", json::object{}}});
    EXPECT_EQ(old.answer().at_pointer("/result/structuredContent/results/0/name"), "Work");
    old.post(path, "tools/call", {{"name", "no_such_tool"}});
    EXPECT_EQ(old.answer().at_pointer("/error/code"), -32602);
    old.post(path, "initialize", {{"protocolVersion", "2025-06-18"}});
    EXPECT_EQ(old.answer().at_pointer("/result/protocolVersion"), "2025-06-18");
}

TEST_F(McpSse, TakesNothingWithoutTheSessionsOwnToken) {
    SseClient old(server.port(), token);
    const auto path = old.next("endpoint").data;
    const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
    EXPECT_EQ(Client(server.port()).send("POST", path, ping, json_headers).status, 401);
    EXPECT_EQ(Client(server.port()).get("/v1/mcp/sse").status, 401);
    EXPECT_EQ(mcp.client.send("POST", path, ping, json_headers).status, 404);
    for (const std::string other : {"", "?session_id=", "?session_id=nonsense"})
        EXPECT_EQ(
            mcp.client.send("POST", "/v1/mcp/messages/" + other, ping, json_headers).status, 404
        );
    mcp.initialize();
    EXPECT_EQ(
        mcp.client.send("POST", "/v1/mcp/messages/?session_id=" + mcp.session, ping, json_headers)
            .status,
        404
    );
    McpClient mixed(server.port(), token);
    mixed.session = path.substr(path.find('=') + 1);
    EXPECT_EQ(mixed.request("ping").status, 404);
}

TEST_F(McpSse, GoesOnBehindWhatItsClientHadLast) {
    std::string path, last;
    {
        SseClient old(server.port(), token);
        path = old.next("endpoint").data;
        old.post(path, "ping");
        last = old.next().id;
    }
    SseClient poster(server.port(), token);
    EXPECT_EQ(poster.post(path, "tools/call", {{"name", "get_me"}}).status, 202);
    for (const int signal : {SIGTERM, SIGKILL}) {
        server.end(signal);
        server.start();
        SseClient back(server.port(), token, last);
        EXPECT_EQ(back.next("endpoint").data, path);
        const auto missed = back.next();
        EXPECT_THAT(missed.data, HasSubstr("\"isError\":false"));
        EXPECT_NE(missed.id, last);
        EXPECT_EQ(back.post(path, "ping").status, 202);
    }
    SseClient other(server.port(), workspace.mint("agent", "Other"), last);
    EXPECT_THAT(
        other.stream().read_until([](const std::string& seen) { return seen.size() > 12; }),
        HasSubstr(" 404 ")
    );
}

TEST_F(McpSse, GivesAllThatWasMissedInOrder) {
    std::string path, last;
    {
        SseClient old(server.port(), token);
        path = old.next("endpoint").data;
        old.post(path, "ping");
        last = old.next().id;
    }
    SseClient poster(server.port(), token);
    constexpr int missed = 40;  // more than are read at once
    for (int i = 0; i < missed; ++i) EXPECT_EQ(poster.post(path, "ping").status, 202);
    SseClient back(server.port(), token, last);
    for (int i = 1; i <= missed; ++i) EXPECT_EQ(back.answer().at("id"), i);
}

TEST_F(McpSse, KeepsNoMoreThanItsClientMayHaveMissed) {
    const auto path_of_new = [&] { return SseClient(server.port(), token).next("endpoint").data; };
    const auto path = path_of_new();
    const auto queue = make_queue();
    std::string text;
    for (int i = 0; i < 90; ++i) text += std::string(2000, 'x') + "\n\n";
    const json::value card{{"column_id", queue.column_id}, {"title", "Long"}};
    const auto id =
        expect(201, workspace.client.post("/v1/boards/" + queue.board_id + "/cards", card))
            .text("/id");
    const json::value more{{"mode", "append"}, {"markdown", text}};
    for (int i = 0; i < 5; ++i)
        expect(
            200,
            workspace.client.send("PATCH", "/v1/cards/" + id + "/markdown", json::serialize(more))
        );
    SseClient poster(server.port(), token);
    const json::value call{{"name", "get_card_markdown"}, {"arguments", {{"card_id", id}}}};
    for (int i = 0; i < 16; ++i) EXPECT_EQ(poster.post(path, "tools/call", call).status, 202);
    const auto kept = [&](const char* what) {
        return Postgres::shared().run(
            "SELECT " + std::string(what) + " FROM mcp_messages", database
        );
    };
    EXPECT_EQ(kept("count(*) > 2 AND sum(octet_length(message)) <= 8 << 20"), "t");
    EXPECT_EQ(kept("max(sequence)"), "16");
    std::vector<std::string> paths;
    for (int i = 0; i < 66; ++i) paths.push_back(path_of_new());
    for (int round = 0; round < 2; ++round) {
        for (const auto& each : paths) EXPECT_EQ(poster.post(each, "ping").status, 202);
        EXPECT_EQ(kept("count(DISTINCT session_id)"), "64");
    }
}

TEST_F(McpSse, WorksThroughAnyServerOfTheDatabase) {
    Server second({.database_url = database});
    for (const Server* each : {&server, &second})
        ASSERT_TRUE(eventually([&] { return metric_of(*each, "bus_peers") == 1; }));
    SseClient old(server.port(), token);
    const auto path = old.next("endpoint").data;
    Client elsewhere(second.port());
    elsewhere.token(token);
    const std::string ping = R"({"jsonrpc":"2.0","id":"far","method":"ping"})";
    EXPECT_EQ(elsewhere.send("POST", path, ping, json_headers).status, 202);
    EXPECT_EQ(old.answer().at("id"), "far");
}

TEST_F(McpSse, TellsOfResourcesThatItsSessionSubscribesTo) {
    const auto queue = make_queue();
    add_card(queue, "One");
    await_record("card.created");
    SseClient old(server.port(), token);
    const auto path = old.next("endpoint").data;
    old.post(path, "resources/subscribe", {{"uri", "svc://cards/WOR-1"}});
    EXPECT_EQ(old.answer().at("result"), json::value(json::object{}));
    old.post(path, "resources/subscribe", {{"uri", "svc://cards/WOR-99"}});
    EXPECT_EQ(old.answer().at_pointer("/error/code"), -32002);
    mcp.initialize();
    const auto touch = [&] {
        mcp.call("create_comment", {{"parent", {{"card_id", "WOR-1"}}}, {"markdown", "Well"}});
    };
    touch();
    const auto told = old.answer();
    EXPECT_EQ(told.at("method"), "notifications/resources/updated");
    EXPECT_EQ(told.at_pointer("/params/uri"), "svc://cards/WOR-1");
    old.post(path, "resources/unsubscribe", {{"uri", "svc://cards/WOR-1"}});
    EXPECT_EQ(old.answer().at("result"), json::value(json::object{}));
    touch();
    expect(201, workspace.client.post("/v1/boards", json::value{{"name", "Another"}}));
    EXPECT_EQ(old.answer().at("method"), "notifications/resources/list_changed");
}

}  // namespace
}  // namespace svc::test
