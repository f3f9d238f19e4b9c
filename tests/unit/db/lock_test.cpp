#include "tests/support/postgres_proxy.hpp"
#include "tests/unit/db/fixture.hpp"

namespace svc::db {
namespace {

class LockTest : public SharedDatabaseTest {
protected:
    const std::int64_t key = 4711;
    void kill_all() const {
        postgres.run(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE usename = 'workboard' AND datname = current_database()",
            url
        );
    }
};

TEST_F(LockTest, OnlyOneHoldsIt) {
    const auto lock = database->try_lock(key);
    ASSERT_TRUE(lock);
    EXPECT_TRUE(lock->held());
    EXPECT_FALSE(database->try_lock(key));
    EXPECT_FALSE(open(url)->try_lock(key)) << "nor another server";
    EXPECT_TRUE(database->try_lock(key + 1));
}

TEST_F(LockTest, ItIsFreeAsSoonAsTheObjectIsGone) {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(database->try_lock(key)) << i;
}

TEST_F(LockTest, ItsConnectionIsNotOneOfThePools) {
    const auto lock = database->try_lock(key);
    EXPECT_EQ(1, database->load().connections);
    EXPECT_EQ(0, database->load().busy);
}

TEST_F(LockTest, WhoTriesAgainAndAgainDoesSoOverOneConnection) {
    test::PostgresProxy proxy(url);
    const auto other = open(proxy.url());
    const int before = proxy.connections();
    auto lock = database->try_lock(key);
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(other->try_lock(key));
    EXPECT_EQ(before + 1, proxy.connections());
    lock.reset();
    lock = other->try_lock(key);
    EXPECT_TRUE(lock);
    EXPECT_EQ(before + 1, proxy.connections());
    EXPECT_FALSE(other->try_lock(key)) << "that connection has the lock, so it takes another";
    EXPECT_EQ(before + 2, proxy.connections());
    EXPECT_FALSE(database->try_lock(key));
    kill_all();
    EXPECT_TRUE(database->try_lock(key)) << "nor over one that is lost";
}

TEST_F(LockTest, ItsTransactionsCommitAndRollBack) {
    const auto lock = database->try_lock(key);
    const Uuid kept = new_uuid(), dropped = new_uuid();
    {
        const auto tx = lock->begin();
        tx->set_scope(org, user);
        tx->run(add_note, org, kept, "kept");
        tx->commit();
    }
    {
        const auto tx = lock->begin();
        tx->set_scope(org, user);
        tx->run(add_note, org, dropped, "dropped");
    }
    EXPECT_TRUE(find(*database, kept));
    EXPECT_FALSE(find(*database, dropped));
    EXPECT_TRUE(lock->held());
}

TEST_F(LockTest, ALostConnectionLosesItForGood) {
    const auto lock = database->try_lock(key);
    ASSERT_TRUE(lock);
    kill_all();
    EXPECT_FALSE(lock->held());
    EXPECT_EQ(Fault::unavailable, fault_of([&] {
                  const auto tx = lock->begin();
                  tx->run(list_notes);
              }));
    EXPECT_FALSE(lock->held()) << "a connection made anew would not hold it";
    EXPECT_TRUE(database->try_lock(key));
}

TEST_F(LockTest, AConnectionLostInATransactionLosesItToo) {
    const auto lock = database->try_lock(key);
    EXPECT_EQ(Fault::unavailable, fault_of([&] {
                  const auto tx = lock->begin();
                  tx->run(list_notes);
                  kill_all();
                  tx->run(list_notes);
              }));
    EXPECT_FALSE(lock->held());
}

TEST_F(LockTest, WithoutADatabaseItIsA503) {
    Database nowhere({.url = "postgresql://workboard@/x?host=/nowhere"});
    EXPECT_EQ(Fault::unavailable, fault_of([&] { nowhere.try_lock(key); }));
}

}  // namespace
}  // namespace svc::db
