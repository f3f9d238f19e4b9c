#include "tests/support/eventually.hpp"
#include "tests/support/mcp_client.hpp"
#include "tests/unit/agents/agents_fixture.hpp"

#include <csignal>
#include <numeric>

namespace svc::test {
namespace {

class BudgetsOfAgents : public AgentsTest {
protected:
    std::string with_budgets(json::object budgets) {
        return make_agent({{"budgets", std::move(budgets)}});
    }
    static int let_through(const std::vector<Reply>& replies) { return count_status(replies, 200); }
    /// So that no minute ends while a test counts.
    static void await_room_in_the_minute() {
        const auto seconds =
            std::chrono::system_clock::now().time_since_epoch() % std::chrono::minutes(1);
        if (seconds > std::chrono::seconds(45))
            std::this_thread::sleep_for(std::chrono::minutes(1) - seconds);
    }
};

TEST_F(BudgetsOfAgents, AreKeptExactlyByOneServer) {
    const auto agent = with_budgets({{"requests_per_day", 10}});
    const auto token = make_token(agent);
    const auto replies = at_once(100, [&](int) {
        Client robot = with(token);
        return robot.get("/v1/me");
    });
    EXPECT_EQ(let_through(replies), 10);
    EXPECT_EQ(count_status(replies, 429), 90);
}

TEST_F(BudgetsOfAgents, AreNeverOverrunBySeveralServers) {
    Server second({.database_url = database});
    const auto agent = with_budgets({{"requests_per_day", 100}});
    const auto token = make_token(agent);
    const auto replies = at_once(20, [&](int number) {
        Client robot = with(token, number % 2 ? server : second);
        int through = 0;
        for (int i = 0; i < 20; ++i) through += robot.get("/v1/me").status == 200;
        return through;
    });
    const int through = std::accumulate(replies.begin(), replies.end(), 0);
    EXPECT_LE(through, 100);
    EXPECT_GE(through, 100 - 100 / 8);
}

TEST_F(BudgetsOfAgents, AreToldOfOnceWhenTheyAreUsedUpWhicheverServerSaysSo) {
    await_room_in_the_minute();
    Server second({.database_url = database});
    const auto agent = with_budgets({{"requests_per_day", 5}, {"requests_per_minute", 100}});
    const auto token = make_token(agent);
    at_once(20, [&](int number) {
        Client robot = with(token, number % 2 ? server : second);
        for (int i = 0; i < 3; ++i) robot.get("/v1/me");
        return 0;
    });
    const std::string emitted =
        " FROM (SELECT object_id, changes::json AS e FROM events"
        " WHERE kind = 'agent.budget_exceeded') t";
    ASSERT_TRUE(becomes("SELECT count(*)" + emitted, "1"));
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    EXPECT_EQ(ask("SELECT count(*)" + emitted), "1");
    EXPECT_EQ(ask("SELECT object_id" + emitted), agent);
    EXPECT_EQ(ask("SELECT e ->> 'budget'" + emitted), "requests_per_day");
    EXPECT_EQ(ask("SELECT e ->> 'limit'" + emitted), "5");
}

TEST_F(BudgetsOfAgents, CostAReadNoRoundTrip) {
    const auto agent = with_budgets(
        {{"requests_per_minute", 1'000'000}, {"requests_per_day", 1'000'000}, {"daily_writes", 9}}
    );
    Client robot = acting_as(agent);
    const auto round_trips = [&] {
        const auto metrics = client().get("/metrics").body;
        const auto at = metrics.find("\nworkboard_db_round_trips_total ");
        return std::stod(metrics.substr(metrics.find(' ', at + 1)));
    };
    for (int i = 0; i < 5; ++i) expect(200, robot.get("/v1/me"));
    constexpr int reads = 1000;
    const auto before = round_trips();
    for (int i = 0; i < reads; ++i) expect(200, robot.get("/v1/me"));
    // A draw now and then, and what the server does anyway while the time passes.
    EXPECT_LT(round_trips() - before, reads * 1.3);
}

TEST_F(BudgetsOfAgents, SayWhatIsLeftAndWhenToComeBack) {
    await_room_in_the_minute();
    const auto agent = with_budgets({{"requests_per_minute", 3}});
    Client robot = acting_as(agent);
    for (const char* left : {"2", "1", "0"}) {
        const auto reply = expect(200, robot.get("/v1/me"));
        EXPECT_EQ(reply.header("x-ratelimit-limit"), "3");
        EXPECT_EQ(reply.header("x-ratelimit-remaining"), left);
    }
    const auto refused = expect(429, robot.get("/v1/me"));
    EXPECT_EQ(refused.text("/code"), "rate_limited");
    EXPECT_EQ(refused.text("/additional_data/rate_limit_reason"), "requests_per_minute");
    EXPECT_EQ(refused.header("x-ratelimit-limit"), "3");
    EXPECT_EQ(refused.header("x-ratelimit-remaining"), "0");
    const auto wait = std::stoll(refused.header("retry-after"));
    EXPECT_GE(wait, 1);
    EXPECT_LE(wait, 60);
    const auto reset = std::stoll(refused.header("x-ratelimit-reset"));
    EXPECT_NEAR(
        static_cast<double>(reset),
        static_cast<double>(Timestamp::now().micros / 1'000'000 + wait),
        2
    );
    EXPECT_EQ(ada.get("/v1/me").header("x-ratelimit-limit"), "");
}

TEST_F(BudgetsOfAgents, CountRefusedRequestsButNotWritesThatFailed) {
    const auto agent = with_budgets({{"daily_writes", 2}});
    Client robot = acting_as(agent);
    const auto queue = make_queue();
    const Queue absent{nowhere, queue.column};
    for (int i = 0; i < 5; ++i) expect(404, add_card(robot, absent));
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(robot.post("/v1/boards", std::string_view("{")).status, 422);
    expect(201, add_card(robot, queue));
    expect(201, add_card(robot, queue));
    const auto refused = expect(429, add_card(robot, queue));
    EXPECT_EQ(refused.text("/additional_data/rate_limit_reason"), "daily_writes");
    expect(200, robot.get("/v1/boards"));  // reading goes on
    EXPECT_EQ(ask("SELECT count(*) FROM cards"), "2");

    const auto counted = with_budgets({{"requests_per_day", 3}});
    Client other = acting_as(counted);
    for (int i = 0; i < 3; ++i) expect(404, other.get("/v1/boards/" + std::string(nowhere)));
    expect(429, other.get("/v1/me"));
}

TEST_F(BudgetsOfAgents, OfNothingLetNothingThrough) {
    Client reader = acting_as(with_budgets({{"daily_writes", 0}}));
    expect(200, reader.get("/v1/me"));
    expect(429, reader.post("/v1/boards", json::value{{"name", "x"}}));
    Client nobody = acting_as(with_budgets({{"requests_per_minute", 0}}));
    expect(429, nobody.get("/v1/me"));
}

TEST_F(BudgetsOfAgents, AreChangedFromTheNextRequestOn) {
    const auto agent = with_budgets({{"requests_per_day", 2}});
    Client robot = acting_as(agent);
    expect(200, robot.get("/v1/me"));
    expect(200, robot.get("/v1/me"));
    expect(429, robot.get("/v1/me"));
    const auto set = [&](json::value limit) {
        const json::object budgets{{"requests_per_day", std::move(limit)}};
        expect(200, send(ada, "PATCH", path(agent), {{"budgets", budgets}}));
    };
    set(4);
    expect(200, robot.get("/v1/me"));
    expect(200, robot.get("/v1/me"));
    expect(429, robot.get("/v1/me"));
    set(nullptr);
    for (int i = 0; i < 5; ++i) expect(200, robot.get("/v1/me"));
    set(3);
    expect(429, robot.get("/v1/me"));
}

TEST_F(BudgetsOfAgents, AnIntroducedLimitCountsWhatWasDoneBefore) {
    const auto agent = make_agent();
    Client robot = acting_as(agent);
    for (int i = 0; i < 6; ++i) expect(200, robot.get("/v1/me"));
    ASSERT_TRUE(becomes("SELECT requests FROM agent_usage", "6"));
    const json::object budgets{{"requests_per_day", 8}};
    expect(200, send(ada, "PATCH", path(agent), {{"budgets", budgets}}));
    expect(200, robot.get("/v1/me"));
    expect(200, robot.get("/v1/me"));
    expect(429, robot.get("/v1/me"));
}

TEST_F(BudgetsOfAgents, WhatIsUsedIsShown) {
    const auto agent = with_budgets({{"requests_per_day", 1000}});
    Client robot = acting_as(agent);
    const auto queue = make_queue();
    for (int i = 0; i < 4; ++i) expect(200, robot.get("/v1/me"));
    expect(201, add_card(robot, queue));
    EXPECT_TRUE(eventually([&] { return read(agent).text("/usage/requests_today") == "5"; }));
    const auto seen = read(agent);
    EXPECT_EQ(seen.text("/usage/writes_today"), "1");
    EXPECT_EQ(ask("SELECT requests_taken >= 5 FROM agent_usage"), "t");
}

TEST_F(BudgetsOfAgents, OutliveTheServerAndLoseNothing) {
    const auto agent = with_budgets({{"requests_per_day", 20}});
    const auto token = make_token(agent);
    Client robot = with(token);
    for (int i = 0; i < 5; ++i) expect(200, robot.get("/v1/me"));
    EXPECT_EQ(server.end(SIGTERM), 0);
    EXPECT_EQ(ask("SELECT requests || ' ' || requests_taken FROM agent_usage"), "5 5");
    server.start();
    Client again = with(token);
    for (int i = 0; i < 15; ++i) expect(200, again.get("/v1/me"));
    expect(429, again.get("/v1/me"));
}

TEST_F(BudgetsOfAgents, BeginAnewWithTheDay) {
    const auto agent = with_budgets({{"requests_per_day", 2}});
    const auto token = make_token(agent);
    Client robot = with(token);
    expect(200, robot.get("/v1/me"));
    expect(200, robot.get("/v1/me"));
    expect(429, robot.get("/v1/me"));
    ASSERT_TRUE(becomes("SELECT requests FROM agent_usage", "2"));
    ask("UPDATE agent_usage SET day = day - 1 RETURNING day");  // as midnight would
    EXPECT_EQ(read(agent).text("/usage/requests_today"), "0");
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    expect(200, robot.get("/v1/me"));
}

TEST_F(BudgetsOfAgents, CountMcpMessagesAsTheRequestsTheyAre) {
    const auto agent = with_budgets({{"requests_per_day", 6}, {"daily_writes", 1}});
    McpClient mcp(server.port(), make_token(agent).text("/token"));
    expect(200, mcp.initialize());                    // 1
    expect(200, mcp.call("get_me", json::object()));  // 2: one message, one call
    const json::value board{{"name", "x"}};
    const auto made = expect(200, mcp.call("create_board", board));  // 3
    EXPECT_NE(made.json().at_pointer("/result/isError"), true) << made.body;
    const auto refused = expect(200, mcp.call("create_board", board));  // 4
    EXPECT_EQ(refused.json().at_pointer("/result/isError"), true);
    EXPECT_NE(refused.body.find("daily_writes"), std::string::npos);
    expect(200, mcp.call("get_me", json::object()));  // 5
    expect(200, mcp.call("get_me", json::object()));  // 6
    const auto over = expect(429, mcp.call("get_me", json::object()));
    EXPECT_EQ(over.header("x-ratelimit-remaining"), "0");
    EXPECT_NE(over.header("retry-after"), "");
}

}  // namespace
}  // namespace svc::test
