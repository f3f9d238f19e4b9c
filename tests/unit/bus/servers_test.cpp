#include "tests/unit/bus/cluster.hpp"

#include <future>

/// Whole servers on one database, as an operator runs them.
namespace svc::test {

namespace {

double usual_wake(Cluster& cluster, std::size_t waiting, int rounds) {
    std::vector<double> took;
    for (int i = 0; i < rounds; ++i) took.push_back(cluster.wake(waiting, 1));
    return median(took);
}

}  // namespace

// A card that is made on one follower, and a claim that waits on another one, or on the leader.
TEST(BusServers, AWaitingClaimHearsOfACardOnAnotherServerSoonerThanByPolling) {
    constexpr int rounds = 12;
    constexpr std::size_t leader = 0, follower = 2;
    double polling = 0;
    {
        Cluster cluster(by_polling(), 3);
        polling = usual_wake(cluster, follower, rounds);
        EXPECT_EQ(metric_of(*cluster.servers[0], "bus_connected"), 0);
    }
    const RedisServer redis;
    for (const Wakes& wakes : {by_postgres(), by_redis(redis.port())}) {
        Cluster cluster(wakes, 3);
        ASSERT_TRUE(cluster.all_know(2)) << wakes.name;
        const auto woken = usual_wake(cluster, follower, rounds);
        const auto on_leader = usual_wake(cluster, leader, rounds);
        std::printf(
            "%s: median %.1f ms on a follower, %.1f ms on the leader; by polling %.1f ms\n",
            wakes.name.c_str(),
            woken,
            on_leader,
            polling
        );
        EXPECT_LT(woken, polling / 2) << wakes.name;
        EXPECT_LT(on_leader, polling / 2) << wakes.name;
        EXPECT_GT(metric_of(*cluster.servers[2], "bus_received_total"), rounds);
    }
}

namespace {

void complete(Cluster& cluster, std::size_t on, const Reply& claim) {
    expect(
        200,
        cluster.clients[on].post(
            "/v1/leases/" + claim.text("/lease/id") + ":complete",
            json::value{{"lease_token", claim.text("/lease_token")}}
        )
    );
}

/// How soon after a pause of one second, at best, a claim gets the card that waits on the second
/// server, while the first is the only one to look for pauses that are over.
double end_of_pause(Wakes wakes) {
    Wakes looks = wakes;
    looks.settings.emplace_back("queue.sweep_milliseconds=50");
    wakes.settings.emplace_back("queue.sweep_milliseconds=60000");
    Cluster cluster({looks, wakes});
    if (wakes.name != "polling" && !cluster.all_know(1)) throw std::runtime_error("nobody there");
    cluster.card(0);
    std::vector<double> took;
    for (int i = 0; i < 5; ++i) {
        const auto claim = cluster.claim(1, 10);
        expect(
            200,
            cluster.clients[1].post(
                "/v1/leases/" + claim.text("/lease/id") + ":fail",
                json::value{
                    {"lease_token", claim.text("/lease_token")},
                    {"error", "It rains"},
                    {"retry_after_seconds", 1}
                }
            )
        );
        const auto over = std::chrono::steady_clock::now() + 1s;
        std::this_thread::sleep_for(500ms);  // those who wait look by themselves a second later
        const auto again = cluster.claim(1, 10);
        took.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - over)
                .count()
        );
        complete(cluster, 1, again);
        cluster.card(0);
    }
    return std::ranges::min(took);
}

}  // namespace

// It leaves no event, and needs none: whoever waits has been told when it comes.
TEST(BusServers, TheEndOfACardsPauseIsKnownOnEveryServer) {
    constexpr double soon = 250;  // those who look by themselves do so a second later
    auto looks = std::async(std::launch::async, [] { return end_of_pause(by_polling()); });
    const auto woken = end_of_pause(by_postgres());
    const auto polling = looks.get();
    std::printf("end of a pause: woken %.1f ms, by looking %.1f ms\n", woken, polling);
    EXPECT_LT(woken, soon);
    EXPECT_LT(polling, soon);
}

namespace {

/// How soon, at best, after an agent completed its only lease on the first server it gets its next
/// card on the second, where a claim of its waits.
double end_of_lease(const Wakes& wakes) {
    Cluster cluster(wakes, 2);
    if (wakes.name != "polling" && !cluster.all_know(1)) throw std::runtime_error("nobody there");
    for (int i = 0; i < 6; ++i) cluster.card(0);
    auto held = cluster.claim(0, 10);
    expect(
        200,
        cluster.workspace->client.send(
            "PATCH",
            "/v1/agents/" + held.text("/lease/holder/id"),
            R"({"budgets": {"max_leases": 1}})"
        )
    );
    std::vector<double> took;
    for (int i = 0; i < 5; ++i) {
        Reply next;
        std::chrono::steady_clock::time_point answered;
        std::thread waits([&] {
            next = cluster.claim(1, 10);
            answered = std::chrono::steady_clock::now();
        });
        std::this_thread::sleep_for(300ms);  // those who wait look by themselves a second later
        complete(cluster, 0, held);
        const auto completed = std::chrono::steady_clock::now();
        waits.join();
        took.push_back(std::chrono::duration<double, std::milli>(answered - completed).count());
        held = next;
    }
    return std::ranges::min(took);
}

}  // namespace

TEST(BusServers, AnAgentsLeaseThatEndsIsHeardOfOnEveryServer) {
    auto looks = std::async(std::launch::async, [] { return end_of_lease(by_polling()); });
    const auto woken = end_of_lease(by_postgres());
    const auto polling = looks.get();
    std::printf("end of an agent's lease: woken %.1f ms, by looking %.1f ms\n", woken, polling);
    EXPECT_LT(woken, polling / 2);
}

TEST(BusServers, NothingIsLostWhenRedisEndsInTheMiddle) {
    RedisServer redis;
    Cluster cluster(by_redis(redis.port()), 3);
    ASSERT_TRUE(cluster.all_know(2));
    constexpr int cards = 90;
    int claimed = 0;
    std::thread worker([&] {
        for (int misses = 0; claimed < cards && misses < 3;) {
            const auto claim = cluster.claim(2, 10);
            if (claim.json().at("claimed").as_bool()) ++claimed;
            else ++misses;
        }
    });
    for (int i = 0; i < cards; ++i) {
        if (i == cards / 3) redis.stop();
        if (i == 2 * cards / 3) redis.start();
        cluster.card(1);
    }
    worker.join();
    EXPECT_EQ(claimed, cards);
    ASSERT_TRUE(cluster.all_know(2));
    for (const auto& each : cluster.servers) EXPECT_GE(metric_of(*each, "bus_reconnects_total"), 1);
    EXPECT_LT(cluster.wake(2, 1), 5'000);
    EXPECT_TRUE(eventually([&] {
        const auto position = metric_of(*cluster.servers[0], "events_position");
        return std::ranges::all_of(cluster.servers, [&](const auto& each) {
            return metric_of(*each, "events_position") == position;
        });
    }));
}

TEST(BusServers, HearOfEachOtherAgainAfterARestartOfTheDatabase) {
    Postgres postgres;
    Cluster cluster(by_postgres(), 3, postgres);
    ASSERT_TRUE(cluster.all_know(2));
    postgres.restart();
    for (const auto& each : cluster.servers)
        ASSERT_TRUE(eventually([&] { return metric_of(*each, "bus_reconnects_total") >= 1; }));
    ASSERT_TRUE(cluster.all_know(2));
    for (const auto& each : cluster.servers)
        ASSERT_TRUE(eventually([&] { return each->client().get("/readyz").status == 200; }));
    for (const std::size_t waiting : {0U, 2U}) EXPECT_LT(cluster.wake(waiting, 1), 5'000);
}

TEST(BusServers, StartWithoutRedisAndWorkByPollingUntilItIsThere) {
    RedisServer redis;
    redis.stop();
    Cluster cluster(by_redis(redis.port()), 2);
    EXPECT_TRUE(cluster.none_is_connected());
    EXPECT_LT(cluster.wake(0, 1), 5'000);
    EXPECT_LT(cluster.wake(1, 0), 5'000);
    redis.start();
    EXPECT_TRUE(cluster.all_know(1));
    EXPECT_THAT(cluster.servers[0]->output(), testing::HasSubstr("by polling"));
}

// The same key, as in a copy of a database for trials.
TEST(BusServers, OfTwoDatabasesHearNothingOfEachOther) {
    const RedisServer redis;
    Cluster one(by_redis(redis.port()), 2), other(by_redis(redis.port()), 2);
    ASSERT_TRUE(one.all_know(1) && other.all_know(1));
    EXPECT_LT(one.wake(0, 1), 5'000);
    EXPECT_TRUE(one.all_know(1) && other.all_know(1));
    for (const auto& each : other.servers) EXPECT_EQ(metric_of(*each, "bus_rejected_total"), 0);
}

TEST(BusServers, GarbageOnTheChannelHoldsNobodyUp) {
    const RedisServer redis;
    Cluster cluster(by_redis(redis.port()), 2);
    ASSERT_TRUE(cluster.all_know(1));
    const auto channels = redis.ask({"PUBSUB", "CHANNELS", "workboard_*"});
    const auto channel = channels.substr(0, channels.find('\n'));
    ASSERT_THAT(channel, testing::StartsWith("workboard_"));
    redis.ask(
        {"EVAL",
         "for i = 1, 20000 do redis.call('PUBLISH', KEYS[1], 'events.committed ' .. i) end",
         "1",
         channel}
    );
    EXPECT_LT(cluster.wake(0, 1), 5'000);
    EXPECT_TRUE(eventually([&] {
        return metric_of(*cluster.servers[0], "bus_rejected_total") >= 1'000;
    }));
    EXPECT_EQ(metric_of(*cluster.servers[0], "bus_reconnects_total"), 0);
}

}  // namespace svc::test
