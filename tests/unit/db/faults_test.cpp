#include "tests/support/postgres_proxy.hpp"
#include "tests/unit/db/fixture.hpp"

namespace svc::db {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Cut = test::PostgresProxy::Fault;

constexpr Sql backend{"test.backend", "SELECT pg_backend_pid() AS number"};

// ------------------------------------------------------------ a backend that is killed

class KilledBackendTest : public SharedDatabaseTest {
protected:
    void kill_all() const {
        postgres.run(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE usename = 'workboard' AND datname = current_database()",
            url
        );
    }
};

TEST_F(KilledBackendTest, ConnectionsThatDiedIdleGoUnnoticed) {
    const Note note = store(*database, "x");
    kill_all();
    EXPECT_EQ(note, find(*database, note.id));
    kill_all();
    EXPECT_NO_THROW(store(*database, "a write, which cannot be repeated"));
    EXPECT_EQ(1, database->load().connections);
    EXPECT_EQ(2, database->load().reconnects);
}

TEST_F(KilledBackendTest, AReadIsRepeated) {
    const Note note = store(*database, "x");
    int runs = 0;
    database->transact(Tx::Mode::read, [&](Tx& tx) {
        ++runs;
        tx.set_scope(org, user);
        EXPECT_EQ(note, tx.one<Note>(get_note, org, note.id));
        if (runs == 1) kill_all();
        EXPECT_EQ(note, tx.one<Note>(get_note, org, note.id));
    });
    EXPECT_EQ(2, runs);
}

TEST_F(KilledBackendTest, AWriteInItsMiddleIsA503AndUndone) {
    const Uuid id = new_uuid();
    EXPECT_EQ(Fault::unavailable, fault_of([&] {
                  database->transact(Tx::Mode::write, [&](Tx& tx) {
                      tx.set_scope(org, user);
                      tx.run(add_note, org, id, "half");
                      kill_all();
                      tx.run(touch_note, org, id);
                  });
              }));
    EXPECT_FALSE(find(*database, id));
    EXPECT_EQ(0, database->load().busy);
}

TEST_F(KilledBackendTest, AStatementThatIsCutOffWhileItRunsIsMetWithTheSameRules) {
    std::atomic<bool> done{false};
    std::thread killer([&] {
        // Until the statement has begun there is nothing to cut off.
        while (!done) {
            postgres.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'workboard'"
                " AND datname = current_database() AND state = 'active'",
                url
            );
            std::this_thread::sleep_for(5ms);
        }
    });
    EXPECT_EQ(Fault::unavailable, fault_of([&] {
                  database->transact(Tx::Mode::write, [](Tx& tx) { tx.one<Word>(nap, 4.0); });
              }));
    done = true;
    killer.join();
    EXPECT_NO_THROW(store(*database, "afterwards"));
}

TEST_F(KilledBackendTest, OneLossMakesAllIdleConnectionsSuspect) {
    {
        std::vector<std::unique_ptr<Tx>> all;
        for (int i = 0; i < 4; ++i) {
            all.push_back(database->begin(Tx::Mode::read));
            all.back()->one<Number>(backend);
        }
    }
    kill_all();
    // The first read may lose its connection and is repeated; no other read loses one.
    for (int i = 0; i < 8; ++i)
        database->transact(Tx::Mode::read, [](Tx& tx) { tx.one<Number>(backend); });
    EXPECT_LE(database->load().retries, 1);
}

// -------------------------------------------------- a connection that breaks on the way

class BrokenWireTest : public SharedDatabaseTest {
protected:
    test::PostgresProxy proxy{url};
    std::unique_ptr<Database> through = open(proxy.url(), 1);

    std::optional<Fault> write(const Uuid& id) {
        return fault_of([&] {
            through->transact(Tx::Mode::write, [&](Tx& tx) {
                tx.set_scope(org, user);
                tx.one<Note>(add_note, org, id, "note " + id.str());
                tx.queue(add_trace, org, id, "made");
            });
        });
    }
};

TEST_F(BrokenWireTest, ACutBeforeTheCommitIsA503AndNothingHappened) {
    const Uuid id = new_uuid();
    proxy.plan(Cut::cut_before, 2);
    EXPECT_EQ(Fault::unavailable, write(id));
    EXPECT_FALSE(find(*database, id));
    EXPECT_EQ(std::nullopt, write(id)) << "the next one goes through";
    EXPECT_TRUE(find(*database, id));
}

TEST_F(BrokenWireTest, ALostAnswerToTheCommitIsA503ThoughItHappened) {
    const Uuid id = new_uuid();
    proxy.plan(Cut::cut_after, 2);
    EXPECT_EQ(Fault::unavailable, write(id));
    EXPECT_TRUE(find(*database, id)) << "and was not done a second time, which would have failed";
}

TEST_F(BrokenWireTest, AReadWhoseAnswerIsLostIsRepeatedOnce) {
    const Note note = store(*database, "x");
    proxy.plan(Cut::cut_after, 1);
    EXPECT_EQ(note, find(*through, note.id));
    EXPECT_EQ(1, through->load().retries);
}

TEST_F(BrokenWireTest, AServerThatKeepsSilentCountsAsLost) {
    Settings settings;
    settings.url = proxy.url();
    settings.statement_timeout = 100ms;  // and five seconds' grace
    Database impatient(settings);
    const auto tx = impatient.begin(Tx::Mode::write);
    tx->run(Sql{"test.nothing", "SELECT 1"});
    proxy.plan(Cut::stall, 1);
    const auto since = Clock::now();
    EXPECT_EQ(Fault::unavailable, fault_of([&] { tx->run(Sql{"test.nothing", "SELECT 1"}); }));
    EXPECT_GE(Clock::now() - since, 5s);
    EXPECT_LT(Clock::now() - since, 20s);
}

TEST_F(BrokenWireTest, HealthSaysDownWhileTheServerKeepsSilent) {
    EXPECT_TRUE(through->reachable());
    proxy.plan(Cut::stall, 1);
    EXPECT_FALSE(through->reachable());
    EXPECT_TRUE(through->reachable());
}

TEST_F(BrokenWireTest, LargeValuesPassBothWays) {
    constexpr Sql read_only{"test.echo", "SELECT $1::text AS word"};
    const std::string large(3 << 20, 'x');
    through->transact(Tx::Mode::read, [&](Tx& tx) {
        auto one = tx.later<Word>(read_only, large);
        auto other = tx.later<Word>(read_only, large);
        EXPECT_EQ(large, one.one()->word);
        EXPECT_EQ(large, other.one()->word);
        EXPECT_EQ(1, tx.round_trips());
    });
}

// ----------------------------------------------------------------- the server's own end

class RestartTest : public DatabaseTest {
protected:
    test::Postgres own;
    const std::string url = own.fresh_database();
    std::unique_ptr<Database> database = open(url, 6);
};

TEST_F(RestartTest, ADatabaseThatIsDownIsA503AtOnce) {
    const Note note = store(*database, "x");
    own.stop();
    const auto since = Clock::now();
    EXPECT_EQ(Fault::unavailable, fault_of([&] { find(*database, note.id); }));
    EXPECT_EQ(Fault::unavailable, fault_of([&] { store(*database, "y"); }));
    EXPECT_FALSE(database->reachable());
    EXPECT_LT(Clock::now() - since, 5s);
    own.start();
    EXPECT_EQ(note, find(*database, note.id));
    EXPECT_TRUE(database->reachable());
    EXPECT_EQ(1, database->load().connections);
}

/// Works in several threads while the server goes and comes; nothing acknowledged may be missing,
/// nothing but 503 may be seen, and all must end well.
TEST_F(RestartTest, RestartsUnderLoadAreSurvived) {
    std::atomic<bool> done{false};
    std::atomic<int> refused{0}, other{0}, reads{0};
    std::mutex mutex;
    std::vector<Uuid> acknowledged;
    std::vector<std::thread> threads;
    for (int number = 0; number < 8; ++number)
        threads.emplace_back([&] {
            while (!done) try {
                    const Note note = store(*database, new_uuid().str());
                    {
                        const std::lock_guard lock(mutex);
                        acknowledged.push_back(note.id);
                    }
                    if (!find(*database, note.id)) ++other;
                    ++reads;
                } catch (const Failure& failure) {
                    failure.fault() == Fault::unavailable ? ++refused : ++other;
                    std::this_thread::sleep_for(1ms);
                } catch (const std::exception&) {
                    ++other;
                }
        });
    const auto wait_for_work = [&] {
        const int before = reads;
        const auto until = Clock::now() + 20s;
        while (reads < before + 50 && Clock::now() < until) std::this_thread::sleep_for(1ms);
        EXPECT_GE(reads, before + 50) << "work goes on";
    };
    wait_for_work();
    own.restart();
    wait_for_work();
    own.crash();
    std::this_thread::sleep_for(100ms);
    own.start();
    wait_for_work();
    done = true;
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(0, other);
    EXPECT_GT(refused, 0);
    EXPECT_LE(database->load().connections, 6);
    EXPECT_EQ(0, database->load().busy);
    // fsync is off, but a crash of the processes alone loses nothing that was written.
    for (const Uuid& id : acknowledged) EXPECT_TRUE(find(*database, id)) << id.str();
}

TEST_F(RestartTest, AServerThatStandsStillDoesNotHoldWorkersForEver) {
    const Note note = store(*database, "x");
    Settings settings;
    settings.url = url;
    settings.statement_timeout = 500ms;  // and five seconds' grace
    Database impatient(settings);
    impatient.open();
    own.pause();
    EXPECT_FALSE(impatient.reachable());
    EXPECT_EQ(Fault::unavailable, fault_of([&] {
                  impatient.transact(Tx::Mode::write, [](Tx& tx) { tx.one<Number>(backend); });
              }));
    own.resume();
    EXPECT_EQ(note, find(*database, note.id));
}

TEST_F(RestartTest, AServerThatTakesNoMoreConnectionsIsA503) {
    own.run("ALTER ROLE workboard CONNECTION LIMIT 1");
    const auto one = database->begin(Tx::Mode::read);
    one->one<Number>(backend);
    EXPECT_EQ(Fault::unavailable, fault_of([&] {
                  database->transact(Tx::Mode::read, [](Tx& tx) { tx.one<Number>(backend); });
              }));
    EXPECT_EQ(1, one->one<Number>(backend).has_value());
    own.run("ALTER ROLE workboard CONNECTION LIMIT -1");
    database->transact(Tx::Mode::read, [](Tx& tx) { tx.one<Number>(backend); });
}

TEST_F(RestartTest, AConnectionToAServerThatBecameAStandbyIsDropped) {
    Settings settings;
    settings.url = url;
    settings.pool = 1;
    const auto single = open(settings);
    store(*single, "before");
    const std::string name = own.run("SELECT current_database()", url);
    own.run("ALTER DATABASE " + name + " SET default_transaction_read_only = on");
    // As after a failover: what is open now still writes, what is opened anew is refused.
    constexpr Sql become{"test.become", "SET SESSION default_transaction_read_only = on"};
    single->transact(Tx::Mode::read, [&](Tx& tx) { tx.run(become); });
    EXPECT_EQ(Fault::unavailable, fault_of([&] { store(*single, "during"); }));
    EXPECT_EQ(Fault::unavailable, fault_of([&] { store(*single, "during"); }));
    own.run("ALTER DATABASE " + name + " RESET default_transaction_read_only");
    EXPECT_NO_THROW(store(*single, "after"));
}

}  // namespace
}  // namespace svc::db
