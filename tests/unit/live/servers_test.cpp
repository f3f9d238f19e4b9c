#include "tests/support/metric.hpp"
#include "tests/unit/live/live_fixture.hpp"

#include <csignal>

/// Several servers, and servers that end in the middle.
namespace svc::test {

namespace {

class LiveServers : public LiveTest {
protected:
    /// Servers say nothing to each other before they know of each other.
    static void wait_for_peers(std::initializer_list<const Server*> servers, double count) {
        for (const Server* each : servers)
            ASSERT_TRUE(eventually([&] { return metric_of(*each, "bus_peers") == count; }, 30s));
    }
    static std::string card_in(const json::value& message) {
        return std::string(message.at("event").at("data").at("id").as_string());
    }
    /// A subscription to all cards that are made, and what it has got.
    struct Follower {
        std::unique_ptr<WsClient> ws;
        std::int64_t last = 0;
        std::vector<std::string> cards;

        void connect(const Server& to, const std::string& token) {
            ws = std::make_unique<WsClient>(to.port(), token);
            ws->next_of("ready");
            ws->say(
                {{"type", "subscribe"}, {"id", "s"}, {"after", last}, {"kinds", {"card.created"}}}
            );
        }
        /// False when nothing more comes.
        bool take(std::chrono::milliseconds patience) {
            for (;;) {
                const auto frame = ws->next(patience);
                if (!frame || frame->opcode == live::Opcode::close) return false;
                if (frame->opcode != live::Opcode::text) continue;
                const auto message = frame->json();
                if (message.at("type").as_string() != "event") continue;
                last = message.at("event").at("sequence").as_int64();
                cards.push_back(card_in(message));
                return true;
            }
        }
    };
};

TEST_F(LiveServers, WhatHappensOnOneIsToldByTheOther) {
    Server second({.database_url = database, .settings = with_few_modules({})});
    Follower here, there;
    here.connect(server, token);
    there.connect(second, token);
    std::vector<std::string> made;
    for (int i = 0; i < 20; ++i) made.push_back(make_card("Card"));
    Client other = second.client();
    other.token(token);
    for (int i = 0; i < 20; ++i)
        made.push_back(expect(
                           201,
                           other.post(
                               "/v1/boards/" + board + "/cards",
                               json::value{{"column_id", columns[board]}, {"title", "Card"}}
                           )
        )
                           .text("/id"));
    for (Follower* each : {&here, &there}) {
        while (each->cards.size() < made.size() && each->take(10s)) {
        }
        EXPECT_EQ(each->cards, made);
    }
    // One stream may be followed on the other server.
    there.connect(server, token);
    make_card("Last");
    ASSERT_TRUE(there.take(10s));
    EXPECT_EQ(there.cards.size(), made.size() + 1);
}

TEST_F(LiveServers, RightsThatEndOnOneEndOnTheOther) {
    Server second({.database_url = database, .settings = with_few_modules({})});
    const auto agent = make_agent("Robot"), other = make_agent("Other");
    WsClient killed(second.port(), agent.token), kept(second.port(), other.token);
    killed.subscribe("s", board);
    kept.subscribe("s", board);
    expect(200, client.post("/v1/agents/" + agent.id + ":disable"));
    EXPECT_EQ(killed.close_code(), 4401);
    const auto hidden = make_board("Other", "private");
    expect(200, grant(other.id, hidden));
    make_card("Not for the confined");
    EXPECT_EQ(kept.next_of("error").at("error").at("code").as_string(), "object_not_found");
}

TEST_F(LiveServers, ASessionThatEndsOnOneEndsOnTheOther) {
    Server second({.database_url = database, .settings = with_few_modules({})});
    const auto ticket = expect(200, client.post("/v1/ws-tickets")).text("/ticket");
    WsClient ws(second.port(), "/v1/ws?ticket=" + ticket, "");
    ASSERT_EQ(ws.head.status, 101);
    ws.subscribe("s", board);
    wait_for_peers({&server, &second}, 1);
    expect(204, workspace.client.post("/v1/auth/logout"));
    // Without a word from the other server it would be noticed within half a minute.
    EXPECT_EQ(ws.close_code(8s), 4401);
}

TEST_F(LiveServers, AFollowerThatComesBackAfterARestartMissesNothing) {
    Follower follower;
    std::vector<std::string> made;
    for (int round = 0; round < 3; ++round) {
        follower.connect(server, token);
        for (int i = 0; i < 5; ++i) made.push_back(make_card("Card"));
        EXPECT_TRUE(follower.take(10s));
        server.end(round == 1 ? SIGKILL : SIGTERM);
        while (follower.take(5s)) {
        }
        server.start();
        client = Client(workspace.client);
        for (int i = 0; i < 5; ++i) made.push_back(make_card("Card"));
    }
    follower.connect(server, token);
    while (follower.cards.size() < made.size() && follower.take(10s)) {
    }
    EXPECT_EQ(follower.cards, made);
}

TEST_F(LiveServers, WhoIsOnABoardIsTold) {
    const auto agent = make_agent("Robot");
    WsClient person(server.port(), token);
    person.subscribe("s", board);
    const auto alone = person.next_of("presence");
    EXPECT_EQ(alone.at("board_id").as_string(), board);
    EXPECT_EQ(alone.at("total").as_int64(), 1);
    {
        WsClient robot(server.port(), agent.token);
        robot.subscribe("mine", board);
        EXPECT_EQ(robot.next_of("presence").at("total").as_int64(), 2);
        const auto both = person.next_of("presence");
        ASSERT_EQ(both.at("present").as_array().size(), 2u);
        bool named = false;
        for (const auto& each : both.at("present").as_array())
            named = named || (each.at("name").as_string() == "Robot" &&
                              each.at("principal_type").as_string() == "agent");
        EXPECT_TRUE(named);
    }
    EXPECT_EQ(person.next_of("presence").at("total").as_int64(), 1);
}

/// Servers that have heard of each other.
class PresenceOfServers : public LiveServers {
protected:
    PresenceOfServers() { wait_for_peers({&server, &second}, 1); }
    /// The message that says so many; what is told on the way there is passed over.
    static json::value told_of(
        WsClient& ws, std::int64_t total, std::chrono::seconds within = 20s
    ) {
        const auto end = std::chrono::steady_clock::now() + within;
        while (std::chrono::steady_clock::now() < end) {
            auto message = ws.next_of("presence", within);
            if (message.at("total").as_int64() == total) return message;
        }
        throw std::runtime_error("nobody says " + std::to_string(total));
    }

    Server second{{.database_url = database, .settings = with_few_modules({})}};
};

TEST_F(PresenceOfServers, WhoIsOnABoardIsToldWhicheverServerTheyAreOn) {
    const auto agent = make_agent("Robot");
    WsClient person(server.port(), token);
    person.subscribe("s", board);
    told_of(person, 1);
    {
        WsClient robot(second.port(), agent.token);
        robot.subscribe("mine", board);
        for (WsClient* each : {&person, &robot}) {
            const auto both = told_of(*each, 2);
            EXPECT_NE(json::serialize(both).find("Robot"), std::string::npos);
        }
        // The same person by two servers is one.
        WsClient again(second.port(), token);
        again.subscribe("s", board);
        EXPECT_EQ(told_of(again, 2).at("present").as_array().size(), 2u);
    }
    told_of(person, 1);
    const auto other = make_board("Other");
    WsClient elsewhere(second.port(), agent.token);
    elsewhere.subscribe("s", other);
    told_of(elsewhere, 1);
    EXPECT_THROW(told_of(person, 2, 5s), std::runtime_error) << "that is another board";
}

TEST_F(PresenceOfServers, AServerThatEndsOrDiesLeavesNobodyBehind) {
    const auto agent = make_agent("Robot");
    // Somebody is there all the time, so that nobody is alone.
    Server third({.database_url = database, .settings = with_few_modules({})});
    wait_for_peers({&server, &second}, 2);
    WsClient person(server.port(), token);
    person.subscribe("s", board);
    for (const int signal : {SIGTERM, SIGKILL}) {
        WsClient robot(second.port(), agent.token);
        robot.subscribe("mine", board);
        told_of(person, 2);
        second.end(signal);
        told_of(person, 1, 40s);
        second.start();
        wait_for_peers({&server, &second}, 2);
    }
}

}  // namespace

}  // namespace svc::test
