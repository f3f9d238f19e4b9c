#include "core/wait_queue.hpp"

#include "tests/support/eventually.hpp"
#include "tests/support/timing.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <semaphore>
#include <vector>

namespace svc::core {
namespace {

using namespace std::chrono_literals;

/// A request that waits, and counts how often it was resumed.
struct Request {
    std::counting_semaphore<1000> resumed{0};
    std::atomic<bool> gone{false};
    std::optional<WaitQueue::Place> place{std::in_place};

    void park(
        WaitQueue& waits,
        const std::string& topic,
        std::chrono::milliseconds time = 60s,
        std::optional<std::uint64_t> ticket = {}
    ) {
        waits.park(
            *place,
            {{topic}, WaitQueue::Clock::now() + time},
            ticket ? *ticket : waits.ticket(),
            {.resume = [this] { resumed.release(); }, .gone = [this] { return gone.load(); }}
        );
    }
    void park_for(WaitQueue& waits, const std::vector<std::string>& topics) {
        waits.park(
            *place,
            {topics, WaitQueue::Clock::now() + 60s},
            waits.ticket(),
            {.resume = [this] { resumed.release(); }}
        );
    }
    bool within(std::chrono::milliseconds time) { return resumed.try_acquire_for(time); }
    /// It is answered, or nobody is there any more.
    void end() { place.reset(); }
};

/// Several that wait for one thing, in this order.
std::deque<Request> crowd(WaitQueue& waits, int size, const std::string& topic) {
    std::deque<Request> all;
    for (int each = 0; each < size; ++each) all.emplace_back().park(waits, topic);
    return all;
}

/// How many may look by themselves in that time, however slow the machine is.
std::uint64_t most_looks_since(WaitQueue::Clock::time_point begun) {
    const std::chrono::duration<double> gone_by = WaitQueue::Clock::now() - begun;
    return static_cast<std::uint64_t>(25 * gone_by.count());
}

}  // namespace

TEST(WaitQueue, AWakeResumesEveryWaiterOfTheTopicAndNoOther) {
    WaitQueue waits;
    Request first, second, other;
    first.park(waits, "a");
    second.park(waits, "a");
    other.park(waits, "b");
    waits.wake("a");
    EXPECT_TRUE(first.within(500ms));
    EXPECT_TRUE(second.within(500ms));
    EXPECT_FALSE(other.within(100ms));
    EXPECT_EQ(waits.load().waiting, 1u);
}

TEST(WaitQueue, OneThingWakesTheOneWhoHasWaitedLongest) {
    WaitQueue waits;
    auto all = crowd(waits, 50, "a");
    waits.wake_one("a");
    EXPECT_TRUE(all[0].within(0ms));
    all[0].park(waits, "a");  // in vain
    EXPECT_EQ(waits.load().resumed, 1u);
    waits.wake_one("a");
    EXPECT_TRUE(all[0].within(0ms)) << "it has lost its place";
    EXPECT_EQ(waits.load().waiting, 49u);
}

TEST(WaitQueue, TheNextIsCalledWhenItWasNotInVain) {
    WaitQueue waits;
    auto all = crowd(waits, 50, "a");
    waits.wake_one("a");
    for (int each = 0; each < 3; ++each) {
        EXPECT_TRUE(all[static_cast<std::size_t>(each)].within(0ms));
        all[static_cast<std::size_t>(each)].end();
    }
    EXPECT_TRUE(all[3].within(0ms));
    all[3].park(waits, "a");
    EXPECT_EQ(waits.load().resumed, 4u);
    EXPECT_EQ(waits.load().waiting, 47u);
}

TEST(WaitQueue, WhoeverHasGonePassesOnWhatHeWasCalledFor) {
    WaitQueue waits;
    auto all = crowd(waits, 3, "a");
    waits.wake_one("a");
    all[0].end();  // whatever became of it
    EXPECT_TRUE(all[1].within(0ms));
    waits.set({.most_running = 1});
    waits.wake_one("a");  // called, but none may run beside the other
    EXPECT_FALSE(all[2].within(20ms));
    Request late;
    late.park(waits, "a");
    all[2].end();  // gone before its turn
    all[1].park(waits, "a");
    EXPECT_TRUE(late.within(0ms));
}

TEST(WaitQueue, OnlySoManyRunAtATime) {
    WaitQueue waits;
    waits.set({.most_running = 4});
    auto all = crowd(waits, 100, "a");
    waits.wake("a");
    EXPECT_EQ(waits.load().running, 4u);
    EXPECT_EQ(waits.load().resumed, 4u);
    for (auto& each : all) {
        EXPECT_TRUE(each.within(100ms));
        EXPECT_LE(waits.load().running, 4u);
        each.end();
    }
    EXPECT_EQ(waits.load().resumed, 100u);
}

TEST(WaitQueue, ThoseWhoseTimeIsOverTogetherRunAFewAtATime) {
    WaitQueue waits;
    waits.set({.most_running = 2});
    std::deque<Request> all;
    for (int each = 0; each < 20; ++each) all.emplace_back().park(waits, "a", 50ms);
    EXPECT_TRUE(test::eventually([&] { return waits.load().running == 2u; }));
    for (auto& each : all) {
        EXPECT_TRUE(each.within(5s));
        EXPECT_LE(waits.load().running, 2u);
        each.end();
    }
    EXPECT_EQ(waits.load().running, 0u);
}

TEST(WaitQueue, ACrowdThatIsCalledTogetherHoldsUpNobodyElse) {
    WaitQueue waits;
    waits.set({.most_running = 1});
    auto all = crowd(waits, 500, "news");
    Request claim;
    claim.park(waits, "card");
    waits.wake("news");
    waits.wake_one("card");
    ASSERT_TRUE(all[0].within(0ms));
    all[0].end();
    EXPECT_TRUE(claim.within(0ms)) << "it is behind the crowd";
    claim.end();
    for (std::size_t each = 1; each < all.size(); ++each) {
        ASSERT_TRUE(all[each].within(0ms)) << each;
        all[each].end();
    }
}

// What it costs that wakes may be lost is the same however many wait.
TEST(WaitQueue, OfTenThousandLinesSoManyLookInASecond) {
    WaitQueue waits;
    waits.set({.most_running = 100'000});
    std::deque<Request> all;
    for (int each = 0; each < 10'000; ++each)
        all.emplace_back().park(waits, "topic " + std::to_string(each));
    std::this_thread::sleep_for(1'200ms);  // until they may
    const auto begun = WaitQueue::Clock::now();
    const auto before = waits.load().resumed;
    std::this_thread::sleep_for(2s);
    EXPECT_TRUE(svc::test::eventually([&] { return waits.load().resumed - before >= 20; }, 6s));
    const auto looked = waits.load().resumed - before;
    EXPECT_LE(looked, most_looks_since(begun) + 3);
    const auto spent = svc::test::processor_time([&] {
        for (std::size_t each = 9'000; each < 10'000; ++each) {
            waits.wake_one("topic " + std::to_string(each));
            EXPECT_TRUE(all[each].within(0ms)) << each;
        }
    });
    EXPECT_LT(spent, 500ms);
}

TEST(WaitQueue, NobodyLooksMeanwhileWhereWhoeverWakesIsSureTo) {
    WaitQueue waits;
    Request sure, other;
    waits.park(
        *sure.place,
        {{"news"}, WaitQueue::Clock::now() + 60s, true},
        waits.ticket(),
        {.resume = [&] { sure.resumed.release(); }}
    );
    other.park(waits, "card");
    EXPECT_TRUE(other.within(5s)) << "a lost wake is found";
    EXPECT_FALSE(sure.within(1'500ms));
    waits.wake("news");
    EXPECT_TRUE(sure.within(0ms));
}

TEST(WaitQueue, WhoeverWaitsForSeveralIsCalledOnceByAnyOfThem) {
    for (const char* topic : {"a", "b", "c"}) {
        WaitQueue waits;
        Request several;
        several.park_for(waits, {"a", "b", "c", "a"});
        EXPECT_EQ(waits.load().waiting, 1u);
        waits.wake("d");
        EXPECT_FALSE(several.within(0ms));
        waits.wake_one(topic);
        EXPECT_TRUE(several.within(0ms)) << topic;
        for (const char* each : {"a", "b", "c"}) waits.wake(each);
        EXPECT_EQ(waits.load().resumed, 1u);
        EXPECT_EQ(waits.load().waiting, 0u);
    }
}

TEST(WaitQueue, WhatOneOfSeveralLinesWasCalledForIsPassedOnInThatLine) {
    WaitQueue waits;
    Request several, in_a, in_b;
    several.park_for(waits, {"a", "b"});
    in_a.park(waits, "a");
    in_b.park(waits, "b");
    waits.wake_one("b");
    EXPECT_TRUE(several.within(0ms)) << "it has waited longest";
    several.end();
    EXPECT_TRUE(in_b.within(0ms));
    EXPECT_FALSE(in_a.within(20ms));
}

TEST(WaitQueue, WhoeverWaitsForSomethingElseByNowPassesOnWhatItWasCalledFor) {
    WaitQueue waits;
    Request first, second, other;
    first.park(waits, "a");
    second.park(waits, "a");
    other.park(waits, "b");
    waits.wake_one("a");
    ASSERT_TRUE(first.within(10s));
    const auto from = WaitQueue::Clock::now();
    first.park(waits, "b");
    EXPECT_TRUE(second.within(500ms));
    // Waiting for the same again, it was in vain for the others.
    second.park(waits, "a");
    EXPECT_LT(WaitQueue::Clock::now() - from, 500ms);
    EXPECT_FALSE(other.within(50ms));
}

TEST(WaitQueue, AWakeOfOneOfSeveralBetweenTheLookAndTheParkIsNotLost) {
    WaitQueue waits;
    Request several;
    const auto ticket = waits.ticket();
    waits.wake_one("b");
    waits.park(*several.place, {{"a", "b"}, WaitQueue::Clock::now() + 60s}, ticket, {.resume = [&] {
        several.resumed.release();
    }});
    EXPECT_TRUE(several.within(0ms));
}

TEST(WaitQueue, AWakeBetweenTheLookAndTheParkIsNotLost) {
    for (const char* topic : {"a", "a"}) {
        WaitQueue waits;
        Request request;
        const auto ticket = waits.ticket();
        waits.wake(topic);
        request.park(waits, topic, 60s, ticket);
        EXPECT_TRUE(request.within(0ms));
    }
}

TEST(WaitQueue, WhatIsPassedOnBetweenTheLookAndTheParkIsNotLost) {
    WaitQueue waits;
    Request gone, late;
    gone.park(waits, "a");
    waits.wake_one("a");
    const auto ticket = waits.ticket();  // it looks now, and the other still holds it
    gone.end();
    late.park(waits, "a", 60s, ticket);
    EXPECT_TRUE(late.within(0ms));
}

TEST(WaitQueue, ResumesWhenTheTimeIsOver) {
    const auto took = svc::test::quickest(4, 700ms, [] {
        WaitQueue waits;
        Request request;
        const auto parked = WaitQueue::Clock::now();
        request.park(waits, "a", 50ms);
        EXPECT_TRUE(request.within(10s));
        EXPECT_EQ(waits.load().waiting, 0u);
        return WaitQueue::Clock::now() - parked;
    });
    EXPECT_LT(took, 700ms) << "it was called to look, as one of each line is once a second";
}

TEST(WaitQueue, OneOfALineLooksAboutOnceASecondEvenIfNobodyWakes) {
    WaitQueue waits;
    const auto parked = WaitQueue::Clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(WaitQueue::Clock::now() - parked).count();
    };
    auto all = crowd(waits, 500, "a");
    std::this_thread::sleep_for(500ms);
    EXPECT_LE(static_cast<double>(waits.load().resumed), seconds());
    EXPECT_TRUE(all[0].within(5s));
    EXPECT_LE(static_cast<double>(waits.load().resumed), seconds());
    all[0].park(waits, "a");
    EXPECT_TRUE(all[1].within(5s)) << "each in its turn";
}

TEST(WaitQueue, AGlanceThatFindsSomethingCallsTheNext) {
    WaitQueue waits;
    auto all = crowd(waits, 3, "a");
    ASSERT_TRUE(all[0].within(5s));
    all[0].end();
    EXPECT_TRUE(all[1].within(100ms));
}

TEST(WaitQueue, TheGlancesOfManyLinesAreBounded) {
    WaitQueue waits;
    std::deque<Request> all;
    for (int each = 0; each < 1000; ++each)
        all.emplace_back().park(waits, "topic " + std::to_string(each));
    const auto begun = WaitQueue::Clock::now();
    const auto some_looked = [&] {
        for (int each = 0; each < 1000; ++each)
            if (auto& request = all[static_cast<std::size_t>(each)]; request.within(0ms))
                request.park(waits, "topic " + std::to_string(each));
        return WaitQueue::Clock::now() - begun > 3s && waits.load().resumed >= 10;
    };
    EXPECT_TRUE(svc::test::eventually(some_looked, 8s));
    const auto looks = waits.load().resumed;
    EXPECT_LE(looks, most_looks_since(begun));
}

TEST(WaitQueue, WhoeverHangsUpIsLetGoSoon) {
    WaitQueue waits;
    auto all = crowd(waits, 20, "a");
    all[7].gone = true;
    EXPECT_TRUE(all[7].within(3s));
}

TEST(WaitQueue, OnePrincipalHasSoManySeats) {
    WaitQueue waits;
    waits.set({.most_per_principal = 2});
    const Uuid ada = new_uuid(), bob = new_uuid();
    std::deque<Request> all(4);
    EXPECT_TRUE(waits.admit(*all[0].place, ada));
    EXPECT_TRUE(waits.admit(*all[1].place, ada));
    EXPECT_FALSE(waits.admit(*all[2].place, ada));
    EXPECT_TRUE(waits.admit(*all[2].place, bob));
    EXPECT_TRUE(waits.admit(*all[0].place, ada)) << "it has its seat";
    all[1].end();
    EXPECT_TRUE(waits.admit(*all[3].place, ada));
}

TEST(WaitQueue, AfterTheEndNobodyWaits) {
    WaitQueue waits;
    waits.set({.most_running = 2});
    auto all = crowd(waits, 20, "a");
    waits.close();
    for (auto& each : all) EXPECT_TRUE(each.within(0ms));
    Request late;
    late.park(waits, "a");
    EXPECT_TRUE(late.within(0ms));
}

TEST(WaitQueue, NothingIsLostUnderManyThreads) {
    WaitQueue waits;
    constexpr int threads = 8, rounds = 300;
    std::atomic<int> to_have{0}, had{0};
    std::vector<std::thread> crowd;
    for (int t = 0; t < threads; ++t)
        crowd.emplace_back([&] {
            for (int i = 0; i < rounds; ++i) {
                Request request;
                for (;;) {
                    const auto ticket = waits.ticket();
                    int left = to_have.load();
                    while (left > 0 && !to_have.compare_exchange_weak(left, left - 1)) {
                    }
                    if (left > 0) break;
                    request.park(waits, "a", 60s, ticket);
                    request.resumed.acquire();
                }
                ++had;
            }
        });
    const auto began = WaitQueue::Clock::now();
    for (int i = 0; i < threads * rounds; ++i) {
        ++to_have;
        waits.wake_one("a");
    }
    for (auto& each : crowd) each.join();
    EXPECT_EQ(had, threads * rounds);
    EXPECT_LT(WaitQueue::Clock::now() - began, 20s) << "glances alone have served them";
    EXPECT_EQ(waits.load().waiting, 0u);
    EXPECT_EQ(waits.load().running, 0u);
}

}  // namespace svc::core
