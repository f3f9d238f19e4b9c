#include "svc/rate_limit.hpp"

#include "core/rate_windows.hpp"
#include "tests/support/in_process_server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace svc::test {
namespace {

using namespace std::chrono_literals;

/// Runs `work` on so many threads, which begin at once; it is told its number.
template <class Work>
void on_threads(int count, const Work& work) {
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int number = 0; number < count; ++number)
        threads.emplace_back([&, number] {
            for (++ready; ready < count;) std::this_thread::yield();
            work(number);
        });
    for (auto& each : threads) each.join();
}

std::string header_of(const Failure& failure, std::string_view name) {
    for (const auto& [each, value] : failure.headers())
        if (each == name) return value;
    return "";
}

TEST(Networks, AreCountedByOfIpv6AndAddressesOfIpv4) {
    EXPECT_EQ(network_of("203.0.113.7"), "203.0.113.7");
    EXPECT_EQ(network_of("::ffff:203.0.113.7"), "::ffff:203.0.113.7");
    EXPECT_EQ(network_of("2001:db8:1:2:3::4"), "2001:db8:1:2::/64");
    EXPECT_EQ(network_of("2001:db8:1:2:ffff::"), network_of("2001:db8:1:2::1"));
    EXPECT_NE(network_of("2001:db8:1:3::1"), network_of("2001:db8:1:2::1"));
}

TEST(RateLimits, RefuseWithWhatTheClientHasToKnow) {
    const RateLimit limit{"feedback", 2, 1h};
    EXPECT_NO_THROW(limit.require({2, 3600}));
    try {
        limit.require({3, 61});
        FAIL() << "three are more than two";
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.status(), 429);
        EXPECT_STREQ(failure.what(), "Too many attempts; try again in 2 minutes.");
        EXPECT_EQ(header_of(failure, "Retry-After"), "61");
        const auto body = boost::json::parse(failure.body("id"));
        EXPECT_EQ(body.at("additional_data").at("rate_limit_reason"), "feedback");
    }
    try {
        limit.require({3, 60}, "Come back later.");
        FAIL() << "three are more than two";
    } catch (const Failure& failure) {
        EXPECT_STREQ(failure.what(), "Come back later.");
    }
}

// ---------------------------------------------------------------------------------- in memory

TEST(MemoryRateLimits, LetSoManyThroughInAWindow) {
    MemoryRateLimit limit({"test", 2, 60s});
    const auto start = MemoryRateLimit::Clock::now();
    EXPECT_TRUE(limit.allows(limit.count("a", "1", start)));
    EXPECT_TRUE(limit.allows(limit.count("a", "2", start + 10s)));
    const auto third = limit.count("a", "3", start + 20s);
    EXPECT_FALSE(limit.allows(third));
    EXPECT_EQ(third.count, 3);
    EXPECT_EQ(third.retry_after, 40);
    EXPECT_TRUE(limit.allows(limit.count("b", "4", start + 20s))) << "another key";
}

TEST(MemoryRateLimits, CountARequestThatIsRunAgainOnce) {
    MemoryRateLimit limit({"test", 1, 60s});
    const auto start = MemoryRateLimit::Clock::now();
    EXPECT_EQ(limit.count("a", "1", start).count, 1);
    EXPECT_EQ(limit.count("a", "1", start + 1s).count, 1);
    EXPECT_EQ(limit.count("a", "2", start + 2s).count, 2);
    EXPECT_EQ(limit.count("b", "", start).count, 1) << "one without an id counts too";
}

TEST(MemoryRateLimits, EndWindowsToTheTick) {
    MemoryRateLimit limit({"test", 1, 60s});
    const auto start = MemoryRateLimit::Clock::now();
    EXPECT_EQ(limit.count("a", "1", start).retry_after, 60);
    EXPECT_EQ(limit.count("a", "2", start + 59s).retry_after, 1);
    const auto last = limit.count("a", "3", start + 60s - 1ns);
    EXPECT_EQ(last.count, 3);
    EXPECT_EQ(last.retry_after, 1);
    const auto next = limit.count("a", "4", start + 60s);
    EXPECT_EQ(next.count, 1);
    EXPECT_EQ(next.retry_after, 60);
}

TEST(MemoryRateLimits, TakeThreadsInTheOrderTheyCome) {
    MemoryRateLimit limit({"test", 1, 60s});
    const auto start = MemoryRateLimit::Clock::now();
    limit.count("a", "1", start + 5s);
    EXPECT_EQ(limit.count("b", "2", start).retry_after, 60) << "it looked at the clock before";
    EXPECT_EQ(limit.count("b", "3", start + 64s).count, 2);
    EXPECT_EQ(limit.count("b", "4", start + 65s).count, 1);
}

TEST(MemoryRateLimits, HoldSoManyWindowsAndNoMore) {
    constexpr auto most = MemoryRateLimit::most_windows;
    MemoryRateLimit limit({"test", 1, 60s});
    const auto start = MemoryRateLimit::Clock::now();
    limit.count("first", "1", start);
    limit.count("second", "2", start);
    for (std::size_t i = 2; i < most; ++i) limit.count("key " + std::to_string(i), "3", start);
    EXPECT_EQ(limit.windows(), most);
    EXPECT_EQ(limit.count("first", "4", start).count, 2) << "there was room for all";
    limit.count("one too many", "5", start);
    EXPECT_EQ(limit.windows(), most);
    EXPECT_EQ(limit.count("second", "6", start).count, 2) << "only the oldest made room";
    EXPECT_EQ(limit.count("first", "7", start).count, 1);
    for (std::size_t i = 0; i < 2 * most; ++i) limit.count("more " + std::to_string(i), "8", start);
    EXPECT_EQ(limit.windows(), most);
    limit.count("alone", "9", start + 60s);
    EXPECT_EQ(limit.windows(), 1u) << "what has ended is kept no longer";
}

TEST(MemoryRateLimits, LetThroughTheLimitHoweverManyThreadsAsk) {
    MemoryRateLimit limit({"test", 1000, 1h});
    std::atomic<int> through{0}, of_others{0};
    on_threads(8, [&](int number) {
        const auto own = "own " + std::to_string(number);
        for (int i = 0; i < 500; ++i) {
            through += limit.allows(limit.count("shared", own + std::to_string(i)));
            of_others += limit.allows(limit.count(own, std::to_string(i)));
        }
    });
    EXPECT_EQ(through, 1000);
    EXPECT_EQ(of_others, 8 * 500);
}

// ------------------------------------------------------------------------------ in the database

constexpr Sql age{"test.age_windows", R"(
    UPDATE rate_windows SET opened_at = now() - $1::text::interval)"};
constexpr Sql present{"test.present", R"(
    SELECT WHERE set_config('app.credential', $1, true) IS NOT NULL)"};
constexpr Sql look{"test.look", R"(SELECT 1 AS one)"};

class DatabaseRateLimits : public testing::Test {
protected:
    DatabaseRateLimits() { here().run("DELETE FROM rate_windows"); }

    static InProcessServer& here() {
        static auto* const server = new InProcessServer("mail");
        return *server;
    }
    static Kernel& kernel() { return here().kernel(); }
    static DatabaseRateLimit limit_of(std::int64_t most, std::chrono::seconds window = 1h) {
        return {kernel(), {"test", most, window}};
    }
    static void transact(const std::function<void(Tx&)>& work) {
        kernel().transact(Tx::Mode::write, work);
    }
    static RateWindow count(const DatabaseRateLimit& limit, std::string_view key) {
        RateWindow window;
        transact([&](Tx& tx) { window = limit.count(tx, key).one_or_retry(); });
        return window;
    }
};

TEST_F(DatabaseRateLimits, LetSoManyThroughInAWindow) {
    const auto limit = limit_of(2);
    const auto first = count(limit, "a");
    EXPECT_EQ(first.count, 1);
    EXPECT_EQ(first.retry_after, 3600);
    EXPECT_TRUE(limit.allows(count(limit, "a")));
    EXPECT_FALSE(limit.allows(count(limit, "a")));
    EXPECT_EQ(count(limit, "b").count, 1) << "another key";
    const DatabaseRateLimit other(kernel(), {"other", 2, 1h});
    EXPECT_EQ(count(other, "a").count, 1) << "another limit";
}

// Within one transaction time stands still.
TEST_F(DatabaseRateLimits, EndWindowsToTheMicrosecond) {
    const auto limit = limit_of(1);
    transact([&](Tx& tx) {
        limit.count(tx, "a");
        tx.queue(age, "1000 seconds");
        EXPECT_EQ(limit.count(tx, "a").one_or_retry().retry_after, 2600);
        tx.queue(age, "1000.000001 seconds");
        EXPECT_EQ(limit.count(tx, "a").one_or_retry().retry_after, 2600);
        tx.queue(age, "3599.999999 seconds");
        const auto last = limit.count(tx, "a").one_or_retry();
        EXPECT_EQ(last.count, 4);
        EXPECT_EQ(last.retry_after, 1);
        tx.queue(age, "3600 seconds");
        const auto next = limit.count(tx, "a").one_or_retry();
        EXPECT_EQ(next.count, 1);
        EXPECT_EQ(next.retry_after, 3600);
        EXPECT_EQ(limit.count(tx, "a").one_or_retry().count, 2) << "the new one goes on";
    });
}

TEST_F(DatabaseRateLimits, GoByTheLengthThatIsSetNow) {
    count(limit_of(1, 1h), "a");
    transact([&](Tx& tx) {
        tx.queue(age, "2 minutes");
        EXPECT_EQ(limit_of(1, 3min).count(tx, "a").one_or_retry().retry_after, 60);
        EXPECT_EQ(limit_of(1, 1min).count(tx, "a").one_or_retry().count, 1);
    });
}

TEST_F(DatabaseRateLimits, TellNobodyToWaitForMoreThanAWindow) {
    const auto limit = limit_of(1);
    transact([&](Tx& early) {
        early.run(look);  // begins
        std::this_thread::sleep_for(1100ms);
        EXPECT_EQ(count(limit, "a").count, 1) << "a later one opens the window";
        const auto window = limit.count(early, "a").one_or_retry();
        EXPECT_EQ(window.count, 2);
        EXPECT_EQ(window.retry_after, 3600);
    });
}

TEST_F(DatabaseRateLimits, DoNotCountWhatIsRolledBack) {
    const auto limit = limit_of(1);
    EXPECT_THROW(
        transact([&](Tx& tx) {
            limit.require(limit.count(tx, "a").one_or_retry());
            limit.require(limit.count(tx, "a").one_or_retry());
        }),
        Failure
    );
    EXPECT_EQ(count(limit, "a").count, 1);
}

TEST_F(DatabaseRateLimits, RefundWhatDoesNotCountAfterAll) {
    const auto limit = limit_of(5);
    count(limit, "a");
    count(limit, "a");
    transact([&](Tx& tx) { limit.refund(tx, "a"); });
    EXPECT_EQ(count(limit, "a").count, 2);
    transact([&](Tx& tx) {
        for (int i = 0; i < 5; ++i) limit.refund(tx, "a");
        limit.refund(tx, "nobody");
    });
    EXPECT_EQ(count(limit, "a").count, 1) << "nobody saves up";
    EXPECT_EQ(here().run("SELECT count(*) FROM rate_windows"), "1");
}

TEST_F(DatabaseRateLimits, CountWhatTheTransactionPresentsLikeThatKey) {
    const auto limit = limit_of(5);
    const std::string address = "zoë@example.com";
    count(limit, address);
    transact([&](Tx& tx) {
        EXPECT_FALSE(limit.count_presented(tx).one()) << "nothing is presented";
        tx.queue(present, address);
        EXPECT_EQ(limit.count_presented(tx).one_or_retry().count, 2);
    });
    EXPECT_EQ(count(limit, address).count, 3);
}

TEST_F(DatabaseRateLimits, KeepNoKeyInTheClear) {
    const auto limit = limit_of(5);
    const std::string bytes("\0\xff any bytes", 12);
    EXPECT_EQ(count(limit, bytes).count, 1);
    EXPECT_EQ(count(limit, bytes).count, 2);
    EXPECT_EQ(count(limit, bytes.substr(0, 1)).count, 1) << "no byte ends a key";
    count(limit, "ada@example.com");
    EXPECT_EQ(
        here().run("SELECT count(*) FROM rate_windows WHERE position('ada'::bytea IN key) > 0"), "0"
    );
    EXPECT_EQ(
        here().run("SELECT count(*) FROM rate_windows WHERE key = sha256('ada@example.com')"), "0"
    ) << "whoever reads the table could guess";
}

TEST_F(DatabaseRateLimits, LetThroughTheLimitHoweverManyAsk) {
    const auto limit = limit_of(100);
    std::mutex mutex;
    std::multiset<std::int64_t> counts;
    on_threads(8, [&](int) {
        for (int i = 0; i < 40; ++i) {
            const auto window = count(limit, "shared");
            const std::scoped_lock lock(mutex);
            counts.insert(window.count);
        }
    });
    ASSERT_EQ(counts.size(), 320u);
    EXPECT_EQ(std::set(counts.begin(), counts.end()).size(), 320u) << "two had the same place";
    EXPECT_EQ(*counts.begin(), 1);
    EXPECT_EQ(*counts.rbegin(), 320);
}

TEST_F(DatabaseRateLimits, OpenANewWindowOnceHoweverManyAsk) {
    const auto limit = limit_of(1);
    for (int round = 0; round < 5; ++round) {
        count(limit, "shared");
        here().run("UPDATE rate_windows SET opened_at = now() - interval '1 hour'");
        std::atomic<int> through{0};
        on_threads(8, [&](int) { through += limit.allows(count(limit, "shared")); });
        EXPECT_EQ(through, 1);
        EXPECT_EQ(here().run("SELECT count FROM rate_windows"), "8");
    }
}

TEST_F(DatabaseRateLimits, AreSweptWithoutWaitingForAnybody) {
    auto& database = *kernel().impl().database;
    const auto limit = limit_of(1);
    for (const char* key : {"a", "b", "c"}) count(limit, key);
    core::sweep_rate_windows(database);
    EXPECT_EQ(here().run("SELECT count(*) FROM rate_windows"), "3") << "none of them has ended";
    here().run("UPDATE rate_windows SET opened_at = now() - interval '1 hour', ends_at = now()");
    transact([&](Tx& tx) {
        EXPECT_EQ(limit.count(tx, "b").one_or_retry().count, 1);
        core::sweep_rate_windows(database);
    });
    EXPECT_EQ(here().run("SELECT count(*) FROM rate_windows"), "1");
    EXPECT_EQ(count(limit, "b").count, 2) << "it was counted in, not swept";
}

}  // namespace
}  // namespace svc::test
