#include "modules/agents/lib/budget_lease.hpp"

#include "svc/failure.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

/// An account by itself, against a bank of the test's own.
namespace svc::agents {

namespace {

/// What the database holds of one agent, without a database. Shared by as many accounts as there
/// are servers.
class Vault final : public BudgetStore {
public:
    Drawn draw(const Uuid&, const Uuid&, const Demand& demand) override {
        const std::lock_guard lock(mutex_);
        ++draws;
        if (broken) throw std::runtime_error("no database");
        Drawn drawn;
        for (std::size_t i = 0; i < limits; ++i) {
            auto& part = drawn.parts[i];
            part.limit = limit[i];
            part.ends = Clock::now() + lasts;
            part.granted = {window, 0};
            if (demand.returned[i].window == window) taken[i] -= demand.returned[i].count;
            if (!limit[i]) continue;
            part.left = *limit[i] - taken[i];
            if (demand.at_least[i]) part.granted.count = share(part.left, *demand.at_least[i]);
            part.left -= part.granted.count;
            taken[i] += part.granted.count;
        }
        if (const auto then = std::exchange(meanwhile, nullptr)) then();
        return drawn;
    }
    bool exceeded(const Uuid&, const Uuid&, const Exceeded& what) noexcept override {
        const std::lock_guard lock(mutex_);
        exceedings.emplace_back(what.limit, what.window);
        return noting;
    }
    void next_window() {
        const std::lock_guard lock(mutex_);
        ++window;
        taken = {};
    }

    PerLimit<std::optional<std::int64_t>> limit;
    PerLimit<std::int64_t> taken{};
    std::int64_t window = 1;
    std::chrono::milliseconds lasts{std::chrono::hours(1)};
    std::atomic<int> draws{0};
    std::atomic<bool> broken{false};
    std::atomic<bool> noting{true};
    std::vector<std::pair<Limit, std::int64_t>> exceedings;
    std::function<void()> meanwhile;  ///< what happens before the answer arrives

private:
    std::mutex mutex_;
};

constexpr Budgets::Cost request{.requests = 1}, a_write{.requests = 1, .writes = 1};

bool takes(BudgetLease& account, Vault& vault, const Budgets::Cost& cost = request) {
    try {
        account.take(cost, vault);
        return true;
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.status(), 429);
        return false;
    }
}

std::string emitted(const BudgetLease& account, std::string_view name) {
    Budgets::Headers headers;
    account.report(headers);
    for (const auto& [each, value] : headers)
        if (each == name) return value;
    return "none";
}

struct Accounts : testing::Test {
    void know(std::int64_t minute) {
        vault.limit[0] = minute;
        for (BudgetLease* each : {&one, &other}) each->know({.requests_per_minute = minute});
    }
    Vault vault;
    BudgetLease one{new_uuid(), new_uuid()}, other{new_uuid(), new_uuid()};
};

}  // namespace

TEST(Share, IsLargeFarFromTheEndAndOneCloseToIt) {
    EXPECT_EQ(share(1'000'000, 1), 512);
    EXPECT_EQ(share(800, 1), 100);
    EXPECT_EQ(share(10, 1), 1);
    EXPECT_EQ(share(10, 4), 4);
    EXPECT_EQ(share(1, 4), 1);
    EXPECT_EQ(share(0, 1), 0);
    EXPECT_EQ(share(-3, 1), 0);
}

TEST_F(Accounts, ThatNobodyHasToldOfALimitAskFirst) {
    // As after a pause, when the account was forgotten and the caller is still known.
    vault.limit[0] = 3;
    int through = 0;
    for (int i = 0; i < 10; ++i) through += takes(one, vault);
    EXPECT_EQ(through, 3);
}

TEST_F(Accounts, ThatNobodyHasToldOfALimitLetNothingThroughUnasked) {
    vault.broken = true;
    EXPECT_THROW(one.take(request, vault), std::runtime_error);
    EXPECT_EQ(one.used().requests, 0);
}

TEST_F(Accounts, ThatHaveNoLimitAskOnceAtMost) {
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(takes(one, vault, a_write));
    EXPECT_EQ(vault.draws, 1);
}

TEST_F(Accounts, WithoutALimitAskNobody) {
    one.know({});
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(takes(one, vault, a_write));
    one.tend(vault);
    EXPECT_EQ(vault.draws, 0);
    EXPECT_EQ(emitted(one, "X-RateLimit-Limit"), "none");
    EXPECT_EQ(one.used().requests, 1000);
}

// A server forgets accounts that are idle, but not who their callers are.
TEST_F(Accounts, ThatNobodyHasToldAboutAskBeforeTheFirstRequest) {
    vault.limit[0] = 2;
    int through = 0;
    for (int i = 0; i < 10; ++i) through += takes(one, vault);
    EXPECT_EQ(through, 2);
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(takes(other, vault, {.writes = 1}));
}

TEST_F(Accounts, TakeNothingBackThatWasLetThroughBeforeTheLimit) {
    one.know({});
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(takes(one, vault));  // under way
    for (const std::int64_t limit : {3, 4}) {
        know(limit);
        int through = 0;
        while (takes(one, vault)) ++through;
        EXPECT_EQ(through, limit - (limit == 4 ? 3 : 0));
        for (int i = 0; i < 5; ++i) one.give_back(request);
        EXPECT_FALSE(takes(one, vault)) << limit;
    }
}

TEST_F(Accounts, TakeNothingBackThatALargerLimitLetThrough) {
    know(10);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(takes(one, vault));
    know(3);
    EXPECT_FALSE(takes(one, vault));
    for (int i = 0; i < 5; ++i) one.give_back(request);
    EXPECT_FALSE(takes(one, vault));
}

TEST_F(Accounts, LetThroughWhatTheLimitAllowsAndNoMore) {
    know(10);
    int through = 0;
    for (int i = 0; i < 30; ++i) through += takes(one, vault);
    EXPECT_EQ(through, 10);
    EXPECT_EQ(one.used().requests, 10);
}

TEST_F(Accounts, NeverLetThroughMoreTogetherThanTheLimit) {
    for (const std::int64_t limit : {1, 7, 10, 100, 1000}) {
        vault.next_window();
        vault.draws = 0;
        BudgetLease left{new_uuid(), new_uuid()}, right{new_uuid(), new_uuid()};
        vault.limit[0] = limit;
        for (BudgetLease* each : {&left, &right}) each->know({.requests_per_minute = limit});
        std::atomic<std::int64_t> through{0};
        std::vector<std::future<void>> running;
        for (int thread = 0; thread < 8; ++thread)
            running.push_back(std::async(std::launch::async, [&, thread] {
                BudgetLease& account = thread % 2 ? left : right;
                for (int i = 0; i < 200; ++i) through += takes(account, vault);
            }));
        for (auto& each : running) each.get();
        EXPECT_LE(through, limit);
        // What one refused while the other had it in hand.
        EXPECT_GE(through, limit - std::max<std::int64_t>(limit / 8, 1)) << limit;
    }
}

TEST_F(Accounts, SeldomAskWhileThereIsMuchLeft) {
    know(1'000'000);
    EXPECT_TRUE(takes(one, vault));
    EXPECT_EQ(vault.draws, 1);
    int asked_in_between = 0;
    for (int i = 0; i < 5000; ++i) {
        const int before = vault.draws;
        EXPECT_TRUE(takes(one, vault));
        asked_in_between += vault.draws - before;
        if (i % 100 == 0) one.tend(vault);  // as the ledger does beside the requests
    }
    EXPECT_EQ(asked_in_between, 0);
    EXPECT_LE(vault.draws, 25);
}

TEST_F(Accounts, AskOnceASecondWhenNothingIsLeft) {
    know(3);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(takes(one, vault));
    EXPECT_FALSE(takes(one, vault));
    const int draws = vault.draws;
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(takes(one, vault));
    EXPECT_EQ(vault.draws, draws);
}

TEST_F(Accounts, BeginAnewWithTheNextWindow) {
    vault.lasts = std::chrono::milliseconds(50);
    know(2);
    EXPECT_TRUE(takes(one, vault));
    EXPECT_TRUE(takes(one, vault));
    EXPECT_FALSE(takes(one, vault));
    vault.next_window();
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    EXPECT_TRUE(takes(one, vault));
    EXPECT_TRUE(takes(one, vault));
    EXPECT_FALSE(takes(one, vault));
}

TEST_F(Accounts, DrawForTheNextWindowWithoutARequest) {
    vault.lasts = std::chrono::milliseconds(50);
    know(100);
    EXPECT_TRUE(takes(one, vault));
    vault.next_window();
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    vault.lasts = std::chrono::hours(1);
    one.tend(vault);
    const int draws = vault.draws;
    EXPECT_TRUE(takes(one, vault));
    EXPECT_EQ(vault.draws, draws);
}

TEST_F(Accounts, GiveBackAWriteThatCameToNothing) {
    vault.limit[2] = 1;
    one.know({.daily_writes = 1});
    EXPECT_TRUE(takes(one, vault, a_write));
    EXPECT_FALSE(takes(one, vault, a_write));
    one.give_back({.writes = 1});
    EXPECT_TRUE(takes(one, vault, a_write));
    EXPECT_TRUE(takes(one, vault)) << "requests have no limit";
    const auto used = one.used();
    EXPECT_EQ(used.writes, 1);
    EXPECT_EQ(used.requests, 3);
}

TEST_F(Accounts, TakeAllOrNothing) {
    vault.limit[0] = 5;
    vault.limit[2] = 0;
    one.know({.requests_per_minute = 5, .daily_writes = 0});
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(takes(one, vault, a_write));
    int through = 0;
    for (int i = 0; i < 10; ++i) through += takes(one, vault);
    EXPECT_EQ(through, 5);
}

TEST_F(Accounts, FollowALowerLimitAtOnce) {
    know(800);
    EXPECT_TRUE(takes(one, vault));
    know(1);
    EXPECT_FALSE(takes(one, vault)) << "one is used already, and what was in hand is void";
    EXPECT_EQ(vault.taken[0], 1);
}

TEST_F(Accounts, FollowALowerLimitThatIsSetWhileTheyDraw) {
    know(800);
    vault.meanwhile = [&] {
        vault.limit[0] = 2;
        one.know({.requests_per_minute = 2});
    };
    int through = 0;
    for (int i = 0; i < 20; ++i) through += takes(one, vault);
    EXPECT_EQ(through, 2);
    EXPECT_EQ(vault.taken[0], 2) << "what was drawn in vain went back";
}

TEST_F(Accounts, GiveNothingOfTheLastWindowBackIntoTheNext) {
    vault.lasts = std::chrono::milliseconds(50);
    know(1);
    EXPECT_TRUE(takes(one, vault));
    vault.next_window();
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    vault.lasts = std::chrono::hours(1);
    EXPECT_TRUE(takes(one, vault));
    one.give_back(request);  // the first
    EXPECT_FALSE(takes(one, vault));
}

TEST_F(Accounts, GiveBackWhatIsInHandWhenTheyClose) {
    know(800);
    EXPECT_TRUE(takes(one, vault));
    EXPECT_EQ(vault.taken[0], 100);
    one.close(vault);
    EXPECT_EQ(vault.taken[0], 1);
}

TEST_F(Accounts, SayWhatIsLeftOfTheClosestLimit) {
    vault.limit = {100, 1000, 5};
    one.know({.requests_per_minute = 100, .requests_per_day = 1000, .daily_writes = 5});
    EXPECT_TRUE(takes(one, vault));
    EXPECT_EQ(emitted(one, "X-RateLimit-Limit"), "100");
    EXPECT_EQ(emitted(one, "X-RateLimit-Remaining"), "99");
    EXPECT_TRUE(takes(one, vault, a_write));
    EXPECT_EQ(emitted(one, "X-RateLimit-Limit"), "5");
    EXPECT_EQ(emitted(one, "X-RateLimit-Remaining"), "4");
    const auto reset = std::stoll(emitted(one, "X-RateLimit-Reset"));
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(
                         std::chrono::system_clock::now().time_since_epoch()
    )
                         .count();
    EXPECT_NEAR(static_cast<double>(reset - now), 3600, 5);
}

TEST_F(Accounts, TellOfTheFirstRefusalInAWindowAlone) {
    know(2);
    for (int i = 0; i < 6; ++i) takes(one, vault);
    ASSERT_EQ(vault.exceedings.size(), 1U);
    EXPECT_EQ(vault.exceedings.front(), std::pair(Limit::minute, std::int64_t{1}));
}

TEST_F(Accounts, TellOfARefusalAgainWhenItCouldNotBeNoted) {
    know(1);
    vault.noting = false;
    for (int i = 0; i < 3; ++i) takes(one, vault);
    EXPECT_EQ(vault.exceedings.size(), 2U);
    vault.noting = true;
    for (int i = 0; i < 3; ++i) takes(one, vault);
    EXPECT_EQ(vault.exceedings.size(), 3U);
}

TEST_F(Accounts, GoOnOnceTheBankIsThereAgain) {
    know(10);
    vault.broken = true;
    EXPECT_THROW(one.take(request, vault), std::runtime_error);
    vault.broken = false;
    int through = 0;
    for (int i = 0; i < 20; ++i) through += takes(one, vault);
    EXPECT_EQ(through, 10);
}

}  // namespace svc::agents
