// Many who wait for cards at once: what they cost everybody else, who gets a card, and when.

#include "tests/support/eventually.hpp"
#include "tests/support/metric.hpp"
#include "tests/support/timing.hpp"
#include "tests/unit/queue/queue_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <thread>

namespace svc::test {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

double metric(const QueueFixture& fixture, const std::string& name) {
    return metric_of(fixture.server, name);
}

/// Claims that wait, each on a connection of its own.
class Crowd {
public:
    Crowd(QueueFixture& fixture, std::size_t size, int seconds) : fixture_(fixture) {
        const auto request = fixture.client.request(
            "POST",
            fixture.claim_path(),
            json::serialize(json::value{{"wait_seconds", seconds}}),
            {{"Content-Type", "application/json"}}
        );
        const auto before = metric(fixture, "calls_waiting");
        while (connections_.size() < size) {
            // No more at a time than a server lets wait for a worker.
            for (int each = 0; each < 100 && connections_.size() < size; ++each)
                connections_.emplace_back(fixture.server.port(), 60s).write(request);
            const auto all = before + static_cast<double>(connections_.size());
            if (!eventually([&] { return metric(fixture_, "calls_waiting") >= all; })) break;
        }
    }
    std::size_t waiting() const {
        return static_cast<std::size_t>(metric(fixture_, "calls_waiting"));
    }
    void hang_up() { connections_.clear(); }

private:
    QueueFixture& fixture_;
    std::deque<Connection> connections_;
};

constexpr int reads = 300;

/// What the server does while there are some small reads, in microseconds of processor time for
/// each: how long they take depends on what else the machine does.
std::int64_t quiet_read(QueueFixture& fixture) {
    const auto took = process_time(fixture.server.pid(), [&] {
        for (int each = 0; each < reads; ++each) expect(200, fixture.client.get("/v1/me"));
    });
    return std::chrono::duration_cast<std::chrono::microseconds>(took).count() / reads;
}

}  // namespace

TEST(Crowd, TwoThousandWhoWaitSlowNobodyDown) {
    QueueFixture fixture({"server.waits_per_principal=5000"});
    const auto before = quiet_read(fixture);
    Crowd crowd(fixture, 2000, 45);
    ASSERT_TRUE(eventually([&] { return crowd.waiting() == 2000; })) << crowd.waiting();
    const auto resumed = metric(fixture, "calls_resumed_total");
    const auto during = quiet_read(fixture);
    std::this_thread::sleep_for(3s);
    EXPECT_LE(metric(fixture, "calls_resumed_total") - resumed, 20)
        << "they all look again and again";
    const auto later = quiet_read(fixture);
    RecordProperty("quiet_us", static_cast<int>(before));
    RecordProperty("with_2000_us", static_cast<int>(std::min(during, later)));
    EXPECT_LE(std::min(during, later), 2 * before + 200) << during << " and " << later;
}

TEST(Crowd, ACardWakesOneOrTwoAndNotAll) {
    QueueFixture fixture;
    Crowd crowd(fixture, 300, 40);
    const auto resumed = metric(fixture, "calls_resumed_total");
    for (std::size_t each = 0; each < 10; ++each) {
        fixture.card(std::to_string(each));
        EXPECT_TRUE(eventually([&] { return crowd.waiting() == 299 - each; }));
    }
    // Each card calls its worker, the one behind it, and one more when the event comes by.
    EXPECT_LE(metric(fixture, "calls_resumed_total") - resumed, 60);
}

TEST(Crowd, CardsThatComeTogetherAllFindSomebody) {
    QueueFixture fixture;
    Crowd crowd(fixture, 60, 40);
    std::vector<std::thread> makers;
    for (int maker = 0; maker < 4; ++maker)
        makers.emplace_back([&] {
            Client client = fixture.client;
            const json::value card{{"column_id", fixture.queue}, {"title", "Card"}};
            for (int each = 0; each < 10; ++each)
                expect(
                    201,
                    client.post("/v1/boards/" + fixture.board + "/cards", json::serialize(card))
                );
        });
    for (auto& each : makers) each.join();
    EXPECT_TRUE(eventually([&] { return crowd.waiting() == 20; })) << crowd.waiting();
    std::this_thread::sleep_for(300ms);  // those who are looking just now are not waiting either
    EXPECT_TRUE(eventually([&] { return crowd.waiting() == 20; })) << crowd.waiting();
    EXPECT_FALSE(fixture.claim().json().at("claimed").as_bool());
}

TEST(Crowd, WhoeverHasGoneGetsNoLease) {
    QueueFixture fixture;
    for (int round = 0; round < 5; ++round) {
        Crowd gone(fixture, 20, 40);
        gone.hang_up();
        std::this_thread::sleep_for(100ms);
        const auto made = fixture.card();
        const auto claim = fixture.claim(10);
        EXPECT_EQ(claim.text("/card/id"), made.text("/id"));
        EXPECT_TRUE(eventually([&] { return gone.waiting() == 0; }, 10s)) << "seats are kept";
    }
}

TEST(Crowd, ACallerHasSoManySeatsAndTheNextIsToldToComeBack) {
    QueueFixture fixture({"server.waits_per_principal=3"});
    Crowd crowd(fixture, 3, 40);
    const auto from = Clock::now();
    const auto reply = fixture.claim(20);
    EXPECT_LT(Clock::now() - from, 15s) << "it waited";
    EXPECT_FALSE(reply.json().at("claimed").as_bool());
    EXPECT_GE(reply.json().at("retry_after_seconds").as_int64(), 1);
    EXPECT_TRUE(eventually([&] { return crowd.waiting() == 3; })) << crowd.waiting();

    Client other = fixture.server.client();
    other.token(fixture.workspace.mint("agent", "Other"));
    std::thread waits([&] {
        const auto body = json::serialize(json::value{{"wait_seconds", 20}});
        EXPECT_TRUE(
            expect(200, other.post(fixture.claim_path(), body)).json().at("claimed").as_bool()
        );
    });
    EXPECT_TRUE(eventually([&] { return crowd.waiting() == 4; }));
    for (int each = 0; each < 4; ++each) fixture.card();
    waits.join();
}

TEST(Crowd, WorkersOfAnotherServerHearOfACardAtOnce) {
    QueueFixture fixture;
    Server second({.database_url = fixture.database});
    Client there = second.client();
    there.token(fixture.workspace.mint("agent", "Elsewhere"));
    Clock::duration quickest = 1h;
    for (int each = 0; each < 5; ++each) {
        Clock::time_point answered;
        std::thread waits([&] {
            const auto body = json::serialize(json::value{{"wait_seconds", 20}});
            EXPECT_TRUE(
                expect(200, there.post(fixture.claim_path(), body)).json().at("claimed").as_bool()
            );
            answered = Clock::now();
        });
        std::this_thread::sleep_for(300ms);
        const auto made = Clock::now();
        fixture.card();
        waits.join();
        quickest = std::min(quickest, answered - made);
    }
    EXPECT_LT(quickest, 600ms) << "it was found by looking, not by hearing of it";
}

// Lines that look by themselves have their turn seldom when there are many: nobody depends on it.
TEST(Crowd, AmongManyLinesACardOfAnotherServerIsClaimedAtOnce) {
    QueueFixture fixture;
    Server second({.database_url = fixture.database});
    ASSERT_TRUE(eventually([&] { return metric_of(second, "bus_peers") == 1; }));
    constexpr int lines = 150;
    std::vector<std::string> columns;
    for (int each = 0; each < lines; ++each) {
        if (each % 50 == 0)
            fixture.board = expect(201, fixture.post("/v1/boards", {{"name", "Many"}})).text("/id");
        const auto made = expect(
            201,
            fixture.post(
                "/v1/boards/" + fixture.board + "/columns",
                {{"name", "Queue " + std::to_string(each)}, {"kind", "queue"}}
            )
        );
        columns.push_back("/v1/boards/" + fixture.board + "/columns/" + made.text("/id"));
    }
    std::deque<Connection> waits;
    for (const auto& each : columns)
        waits.emplace_back(second.port(), 60s)
            .write(fixture.client.request(
                "POST",
                each + ":claim-next",
                R"({"wait_seconds": 45})",
                {{"Content-Type", "application/json"}}
            ));
    ASSERT_TRUE(eventually([&] { return metric_of(second, "calls_waiting") == lines; }));
    std::vector<Clock::duration> took;
    for (std::size_t each = 0; each < 5; ++each) {
        const auto which = each * 29 + 1;
        const auto& column = columns[which];
        const auto slash = column.rfind('/');
        const auto made = Clock::now();
        expect(
            201,
            fixture.post(
                column.substr(0, column.find("/columns")) + "/cards",
                {{"column_id", column.substr(slash + 1)}, {"title", "Card"}}
            )
        );
        EXPECT_TRUE(expect(200, waits[which].read("POST")).json().at("claimed").as_bool());
        took.push_back(Clock::now() - made);
    }
    // These lines look more than a second apart.
    std::ranges::nth_element(took, took.begin() + 2);
    EXPECT_LT(took[2], 500ms) << "they were found by looking";
}

}  // namespace svc::test
