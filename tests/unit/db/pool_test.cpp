#include "tests/unit/db/fixture.hpp"

namespace svc::db {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class PoolTest : public SharedDatabaseTest {
protected:
    /// Holds a connection until it is destroyed.
    static std::unique_ptr<Tx> hold(Database& db) {
        auto tx = db.begin(Tx::Mode::read);
        tx->one<Number>(count_notes);
        return tx;
    }
};

TEST_F(PoolTest, ConnectionsAreOpenedAsTheyAreNeededAndKept) {
    EXPECT_EQ(1, database->load().connections);
    {
        const auto one = hold(*database), two = hold(*database);
        EXPECT_EQ(2, database->load().connections);
        EXPECT_EQ(2, database->load().busy);
    }
    EXPECT_EQ(2, database->load().connections);
    EXPECT_EQ(0, database->load().busy);
}

TEST_F(PoolTest, TheOneUsedLastIsTakenFirst) {
    constexpr Sql who{"test.who", "SELECT pg_backend_pid() AS number"};
    { const auto one = hold(*database), two = hold(*database), three = hold(*database); }
    std::set<std::int64_t> used;
    for (int i = 0; i < 5; ++i)
        database->transact(Tx::Mode::read, [&](Tx& tx) {
            used.insert(tx.one<Number>(who)->number);
        });
    EXPECT_EQ(1, used.size());
}

TEST_F(PoolTest, NoConnectionIsTakenBeforeItIsNeeded) {
    const auto tx = database->begin(Tx::Mode::write);
    tx->set_scope(org, user);
    tx->queue(list_notes);
    EXPECT_EQ(0, database->load().busy);
}

TEST_F(PoolTest, AnExhaustedPoolWaitsAndThenIsA503) {
    Settings settings;
    settings.url = url;
    settings.pool = 2;
    settings.pool_wait = 200ms;
    const auto small = open(settings);
    const auto one = hold(*small), two = hold(*small);
    const auto since = Clock::now();
    EXPECT_EQ(Fault::unavailable, fault_of([&] { hold(*small); }));
    EXPECT_GE(Clock::now() - since, 200ms);
    EXPECT_EQ(2, small->load().connections);
    EXPECT_GE(small->load().wait_seconds, 0.2);
    EXPECT_EQ(0, small->load().waiting);
}

TEST_F(PoolTest, WhoWaitsGetsTheFirstThatComesBackAndInOrder) {
    Settings settings;
    settings.url = url;
    settings.pool = 1;
    settings.pool_wait = 30s;
    const auto small = open(settings);
    auto held = hold(*small);
    std::mutex mutex;
    std::vector<int> order;
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
        threads.emplace_back([&, number] {
            const auto mine = hold(*small);
            const std::lock_guard lock(mutex);
            order.push_back(number);
        });
        while (small->load().waiting <= number) std::this_thread::sleep_for(1ms);
    }
    held.reset();
    for (auto& thread : threads) thread.join();
    EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3));
}

TEST_F(PoolTest, ManyThreadsShareFewConnections) {
    Settings settings;
    settings.url = url;
    settings.pool = 3;
    settings.pool_wait = 60s;
    const auto small = open(settings);
    const Note note = store(*small, "counted");
    constexpr int threads = 12, rounds = 50;
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
        all.emplace_back([&] {
            for (int round = 0; round < rounds; ++round)
                small->transact(Tx::Mode::write, [&](Tx& tx) {
                    tx.set_scope(org, user);
                    tx.run(touch_note, org, note.id);
                });
        });
    for (auto& thread : all) thread.join();
    EXPECT_EQ(1 + threads * rounds, find(*small, note.id)->version);
    EXPECT_LE(small->load().connections, 3);
    EXPECT_EQ(0, small->load().busy);
}

TEST_F(PoolTest, AClosedDatabaseRefusesAndWakesThoseWhoWait) {
    Settings settings;
    settings.url = url;
    settings.pool = 1;
    settings.pool_wait = 60s;
    const auto small = open(settings);
    {
        const auto held = hold(*small);
        std::thread waiting([&] { EXPECT_EQ(Fault::unavailable, fault_of([&] { hold(*small); })); }
        );
        while (small->load().waiting == 0) std::this_thread::sleep_for(1ms);
        small->close();
        waiting.join();
        EXPECT_EQ(1, small->load().connections) << "what is in use is let finish";
    }
    EXPECT_EQ(0, small->load().connections);
    EXPECT_EQ(Fault::unavailable, fault_of([&] { hold(*small); }));
}

TEST_F(PoolTest, TheLoadCounts) {
    const auto before = database->load();
    database->transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(org, user);
        tx.all<Note>(list_notes);
        tx.all<Note>(list_notes);
    });
    const auto after = database->load();
    EXPECT_EQ(before.round_trips + 2, after.round_trips);
    EXPECT_GE(after.statements, before.statements + 4);
    EXPECT_EQ(before.prepared + 2, after.prepared) << "the workspace's and the list's";
}

}  // namespace
}  // namespace svc::db
