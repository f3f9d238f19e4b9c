#include "tests/support/metric.hpp"
#include "tests/unit/live/live_fixture.hpp"

#include <deque>

/// Many calls of list_events that wait in a workspace where much happens.
namespace svc::test {

namespace {

using Clock = std::chrono::steady_clock;

class EventWaits : public LiveTest {
protected:
    explicit EventWaits(std::vector<std::string> settings = {})
        : LiveTest(std::move(settings)), admin_(server.client()) {
        admin_.token(token);
    }

    Client by(const std::string& whose) {
        Client made = server.client();
        made.token(whose);
        return made;
    }
    static json::value list(Client& reader, const std::string& query) {
        return expect(200, reader.get("/v1/events" + query)).json();
    }

    /// Calls that wait, each on a connection of its own.
    void wait_with(
        const std::string& whose,
        std::size_t count,
        const std::string& after,
        const std::string& more = ""
    ) {
        Client reader = by(whose);
        const auto path = "/v1/events?wait_seconds=40&after=" + after + more;
        for (std::size_t i = 0; i < count; ++i)
            waits_.emplace_back(server.port(), 60s).write(reader.request("GET", path, "", {}));
        ASSERT_TRUE(eventually([&] { return waiting() == static_cast<double>(waits_.size()); }))
            << waiting();
    }
    std::size_t answered_by(Connection& one) {
        return expect(200, one.read("GET")).json().at("results").as_array().size();
    }
    double waiting() const { return metric_of(server, "calls_waiting"); }
    double resumed() const { return metric_of(server, "calls_resumed_total"); }

    Client admin_;
    std::deque<Connection> waits_;
};

TEST_F(EventWaits, WhatTheCallerDoesNotSeeRunsNoneOfThemAgain) {
    const auto hidden = make_board("Hidden", "private");
    make_card("First", hidden);
    std::vector<std::string> agents;
    for (int i = 0; i < 4; ++i) agents.push_back(make_agent("Robot " + std::to_string(i)).token);
    const auto last = last_sequence();
    for (const auto& each : agents) {
        wait_with(each, 10, last);
        wait_with(each, 1, last, "&kinds=card.*");
    }
    const auto before = resumed();
    for (int i = 0; i < 100; ++i) make_card("Secret", hidden);
    std::this_thread::sleep_for(1s);
    EXPECT_EQ(resumed() - before, 0) << "calls look again for what is not theirs";
    make_card("Open");
    for (auto& each : waits_) EXPECT_EQ(answered_by(each), 1u);
}

TEST_F(EventWaits, WhoAsksAgainAndAgainGetsSeveralEventsAtATime) {
    std::atomic<bool> done{false};
    std::atomic<std::size_t> made{0};
    std::vector<std::thread> writers;
    columns[board] = column_of(board);
    auto last = std::stoll(last_sequence());
    for (int i = 0; i < 2; ++i)
        writers.emplace_back([&] {
            Client own = by(token);
            const json::value card{{"column_id", columns[board]}, {"title", "Card"}};
            while (!done) {
                if (own.post("/v1/boards/" + board + "/cards", card).status == 201) ++made;
                std::this_thread::sleep_for(5ms);
            }
        });
    Client reader = by(make_agent("Robot").token);
    const auto before = resumed();
    const auto begun = Clock::now();
    std::size_t seen = 0;
    while (Clock::now() - begun < (seen < 100 ? 30s : 3s)) {
        const auto page = list(
            reader,
            "?kinds=card.created&page_size=100&wait_seconds=10&after=" + std::to_string(last)
        );
        seen += page.at("results").as_array().size();
        last = page.at("sequence").as_int64();
    }
    const std::chrono::duration<double> took = Clock::now() - begun;
    done = true;
    for (auto& each : writers) each.join();
    EXPECT_GE(seen, 100u);
    // It is run again no sooner than a tenth of a second after it looked.
    EXPECT_LE(resumed() - before, 10 * took.count() + 2) << made << " cards";
}

TEST_F(EventWaits, AnEventThatComesBetweenTheLookAndTheWaitIsNotMissed) {
    Client reader = by(token), writer = by(token);
    columns[board] = column_of(board);
    auto last = std::stoll(last_sequence());
    std::vector<std::string> seen, made;
    std::thread writing([&] {
        for (int i = 0; i < 200; ++i) {
            const json::value card{{"column_id", columns[board]}, {"title", "Card"}};
            made.push_back(
                expect(201, writer.post("/v1/boards/" + board + "/cards", card)).text("/id")
            );
            if (i % 3 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(i % 7));
        }
    });
    while (seen.size() < 200) {
        const auto from = Clock::now();
        const auto page =
            list(reader, "?kinds=card.created&wait_seconds=10&after=" + std::to_string(last));
        ASSERT_LT(Clock::now() - from, 9s) << "slept through what had happened already";
        for (const auto& each : page.at("results").as_array())
            seen.emplace_back(each.at("data").at("id").as_string());
        last = page.at("sequence").as_int64();
    }
    writing.join();
    EXPECT_EQ(seen, made);
}

TEST_F(EventWaits, ABoardThatIsTakenFromTheCallerEndsItsWait) {
    const auto agent = make_agent("Robot");
    wait_with(agent.token, 1, last_sequence(), "&board_id=" + board);
    expect(200, client.send("PATCH", "/v1/boards/" + board, R"({"visibility":"private"})"));
    EXPECT_EQ(waits_.front().read("GET").status, 404);
}

TEST_F(EventWaits, ABoardThatIsGivenToTheCallerIsHeardOfAtOnce) {
    const auto hidden = make_board("Hidden", "private");
    const auto agent = make_agent("Robot");
    wait_with(agent.token, 1, last_sequence());
    expect(200, grant(agent.id, hidden));
    const auto from = Clock::now();
    make_card("Told", hidden);
    EXPECT_EQ(answered_by(waits_.front()), 1u);
    EXPECT_LT(Clock::now() - from, 5s);
}

TEST_F(EventWaits, WaitsEndWithTheirConnections) {
    const auto last = last_sequence();
    wait_with(token, 50, last);
    waits_.clear();
    EXPECT_TRUE(eventually([&] { return waiting() == 0; }));
    wait_with(token, 50, last);  // there is room for as many
    make_card("Told");
    for (auto& each : waits_) EXPECT_EQ(answered_by(each), 1u);
}

class FewWaits : public EventWaits {
protected:
    FewWaits() : EventWaits({"live.waits_per_principal=3"}) {}
};

TEST_F(FewWaits, OneCallerHasSoManyAndTheNextIsAnsweredAtOnce) {
    const auto agent = make_agent("Robot");
    const auto last = last_sequence();
    wait_with(token, 3, last);
    const auto from = Clock::now();
    const auto path = "?wait_seconds=30&after=" + last;
    const auto page = list(admin_, path);
    EXPECT_LT(Clock::now() - from, 5s);
    EXPECT_TRUE(page.at("results").as_array().empty());
    EXPECT_EQ(std::to_string(page.at("sequence").as_int64()), last);
    // Others have theirs, and claims are not counted among them.
    wait_with(agent.token, 3, last);
}

}  // namespace

}  // namespace svc::test
