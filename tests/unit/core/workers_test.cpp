#include "tests/unit/core/limits_fixture.hpp"

#include "tests/support/mcp_client.hpp"

/// However much one asks for, the others are served.
namespace svc::test {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;

class Workers : public LimitsTest {
protected:
    // However long the others look on: what is few at a time is tested elsewhere.
    Workers()
        : LimitsTest(
              {"server.queue_per_principal=40",
               "server.background_requests=16",
               "database.statement_seconds=60"}
          ) {}

    /// Patches of one board's name, each on a connection of its own, while somebody holds the row.
    struct Held {
        Held(const std::string& database, Client& client, const std::string& board, int count)
            : blocker(Postgres::shared().superuser_url(database)) {
            blocker.must("BEGIN");
            blocker.must("SELECT 1 FROM boards WHERE id = '" + board + "' FOR UPDATE");
            send(client, board, count);
        }
        void send(Client& client, const std::string& board, int count) {
            for (int each = 0; each < count; ++each)
                replies.push_back(std::async(std::launch::async, [client, board]() mutable {
                    return client.send("PATCH", "/v1/boards/" + board, R"({"name": "Again"})");
                }));
        }
        std::vector<int> statuses() {
            std::vector<int> out;
            for (auto& each : replies) out.push_back(each.get().status);
            return out;
        }
        DatabaseRole blocker;
        std::vector<std::future<Reply>> replies;
    };
};

TEST_F(Workers, AreNotAllOfOneCallersHoweverManyRequestsHeHas) {
    Client client = with_token(greedy), stranger = with_token(other);
    const auto board = make_board(client);
    const auto quiet = asking(stranger);
    Held held(database, client, board, 40);
    ASSERT_TRUE(becomes("requests_in_line", 32));
    EXPECT_TRUE(becomes("http_busy_workers", 9))
        << "half of the workers, and one for this question";
    const auto busy = asking(stranger);
    EXPECT_LT(busy, 20 * quiet + 300ms) << "quiet: " << quiet.count() << " ms";
    std::printf("quiet %d ms, busy %d ms\n", int(quiet.count()), int(busy.count()));
    held.blocker.must("COMMIT");
    EXPECT_THAT(held.statuses(), Each(200)) << "those in line are served, not refused";
    EXPECT_TRUE(becomes("requests_in_line", 0));
}

TEST_F(Workers, OneWhoHasTooManyInLineIsToldWhyAndWhen) {
    Client client = with_token(greedy), stranger = with_token(other);
    const auto board = make_board(client);
    Held held(database, client, board, 20);
    ASSERT_TRUE(becomes("requests_in_line", 12)) << "eight are being served";
    held.send(client, board, 40);
    ASSERT_TRUE(becomes("requests_in_line", 40));
    const auto refused = client.get("/v1/me");
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.text("/code"), "rate_limited");
    EXPECT_EQ(refused.text("/additional_data/rate_limit_reason"), "requests_at_once");
    EXPECT_EQ(refused.header("retry-after"), "1");
    expect(200, stranger.get("/v1/me"));
    held.blocker.must("COMMIT");
    const auto statuses = held.statuses();
    EXPECT_THAT(statuses, Each(AnyOf(200, 429)));
    EXPECT_GE(std::ranges::count(statuses, 200), 41) << "those in line are served";
    expect(200, client.get("/v1/me"));
}

TEST_F(Workers, OneWhoHangsUpInLineIsForgotten) {
    Client client = with_token(greedy);
    const auto board = make_board(client);
    Held held(database, client, board, 10);
    ASSERT_TRUE(becomes("requests_in_line", 2));
    {
        Connection gone(server.port());
        gone.write(client.request("GET", "/v1/me"));
        ASSERT_TRUE(becomes("requests_in_line", 3));
    }
    held.blocker.must("COMMIT");
    EXPECT_THAT(held.statuses(), Each(200));
    EXPECT_TRUE(becomes("requests_in_line", 0));
    expect(200, client.get("/v1/me"));
}

TEST_F(Workers, ThatStopAnswerThoseInLine) {
    Client client = with_token(greedy);
    const auto board = make_board(client);
    Held held(database, client, board, 20);
    ASSERT_TRUE(becomes("requests_in_line", 12));
    auto ended = std::async(std::launch::async, [&] { return server.end(SIGTERM); });
    std::this_thread::sleep_for(200ms);
    held.blocker.must("COMMIT");
    EXPECT_THAT(held.statuses(), Each(200));
    EXPECT_EQ(ended.get(), 0);
    server.start();
}

/// What once held every worker for half a minute: passwords to be hashed in batches.
TEST_F(Workers, AreHeldByNoBatchThatHasPasswordsHashed) {
    Client client = with_token(greedy), stranger = with_token(other);
    const auto board = make_board(client);
    json::array batch;
    for (int each = 0; each < 15; ++each)
        batch.push_back(
            {{"jsonrpc", "2.0"},
             {"id", each},
             {"method", "tools/call"},
             {"params",
              {{"name", "create_share_link"},
               {"arguments", {{"board_id", board}, {"password", "correct horse"}}}}}}
        );
    const auto token = greedy.mint("integration", "batches");
    McpClient mcp(server.port(), token);
    expect(200, mcp.initialize("2025-03-26"));
    const auto quiet = asking(stranger);
    const auto hashed = metric("auth_hashes_total");
    std::vector<std::future<Reply>> attack;
    for (int each = 0; each < 16; ++each)
        attack.push_back(std::async(std::launch::async, [&, session = mcp.session] {
            McpClient one(server.port(), token);
            one.session = session;
            return one.post(json::serialize(batch));
        }));
    const auto begin = Clock::now();
    const auto busy = asking(stranger);
    EXPECT_LT(busy, 20 * quiet + 500ms);
    for (auto& each : attack) {
        const auto reply = each.get();
        EXPECT_EQ(reply.status, 200);
        EXPECT_THAT(reply.body, HasSubstr("not_in_batch"));
    }
    EXPECT_EQ(metric("auth_hashes_total"), hashed) << "what is refused is not begun";
    std::printf(
        "quiet %d ms, busy %d ms, all 16 batches %d ms\n",
        int(quiet.count()),
        int(busy.count()),
        int(since(begin).count())
    );
    EXPECT_LT(since(begin), 10s);
    // Alone it is done, and the server has not lost a place for it.
    const auto made =
        mcp.call("create_share_link", {{"board_id", board}, {"password", "correct horse"}});
    EXPECT_EQ(made.json().at_pointer("/result/isError"), false) << made.body;
}

TEST_F(Workers, ABatchGetsNoAnswersBeyondItsBytes) {
    McpClient mcp(server.port(), greedy.mint("integration", "lists"));
    expect(200, mcp.initialize("2025-03-26"));
    json::array batch;
    for (int each = 0; each < 50; ++each)
        batch.push_back(
            {{"jsonrpc", "2.0"}, {"id", each}, {"method", "tools/list"}, {"params", json::object{}}}
        );
    const auto reply = expect(200, mcp.post(json::serialize(batch)));
    EXPECT_LT(reply.body.size(), 5u << 20);
    const auto answers = reply.json().as_array();
    ASSERT_EQ(answers.size(), 50u);
    EXPECT_TRUE(answers.front().as_object().contains("result"));
    EXPECT_THAT(json::serialize(answers.back().at("error")), HasSubstr("MiB"));
    EXPECT_EQ(answers.back().at("id"), 49);
}

TEST_F(Workers, ABatchEndsAfterFiveSeconds) {
    Client client = with_token(greedy);
    const auto board = make_board(client);
    McpClient mcp(server.port(), greedy.mint("integration", "slow"));
    expect(200, mcp.initialize("2025-03-26"));
    json::array batch;
    for (int each = 0; each < 5; ++each)
        batch.push_back(
            {{"jsonrpc", "2.0"},
             {"id", each},
             {"method", "tools/call"},
             {"params",
              {{"name", "update_board"}, {"arguments", {{"board_id", board}, {"name", "Later"}}}}}}
        );
    Held held(database, client, board, 0);
    auto release = std::async(std::launch::async, [&] {
        DatabaseRole looker(Postgres::shared().superuser_url(database));
        EXPECT_TRUE(eventually([&] {
            return !looker
                        .must(
                            "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                            " AND datname = current_database()"
                        )
                        .empty();
        })) << "the first of the batch is under way";
        std::this_thread::sleep_for(5200ms);
        held.blocker.must("COMMIT");
    });
    const auto reply = expect(200, mcp.post(json::serialize(batch)));
    release.get();
    const auto answers = reply.json().as_array();
    ASSERT_EQ(answers.size(), 5u);
    EXPECT_EQ(answers.front().at_pointer("/result/isError"), false) << "it had begun in time";
    EXPECT_THAT(json::serialize(answers.back()), HasSubstr("more than 5 seconds"));
    EXPECT_EQ(answers.back().at_pointer("/error/code"), -32600);
}

}  // namespace
}  // namespace svc::test
