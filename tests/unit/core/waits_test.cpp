#include "core/waits.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>

namespace svc::core {
namespace {

using namespace std::chrono_literals;

/// Something that counts how often it was resumed.
struct Waiter {
    std::counting_semaphore<1000> resumed{0};
    auto resume() {
        return [this] { resumed.release(); };
    }
    bool within(std::chrono::milliseconds time) { return resumed.try_acquire_for(time); }
};

TEST(Waits, AWakeResumesEveryWaiterOfTheTopicAndNoOther) {
    Waits waits;
    Waiter first, second, other;
    const auto until = Waits::Clock::now() + 60s;
    waits.park({"a", until}, waits.ticket(), first.resume());
    waits.park({"a", until}, waits.ticket(), second.resume());
    waits.park({"b", until}, waits.ticket(), other.resume());
    waits.wake("a");
    EXPECT_TRUE(first.within(500ms));
    EXPECT_TRUE(second.within(500ms));
    EXPECT_FALSE(other.within(100ms));
    EXPECT_EQ(waits.waiting(), 1u);
}

TEST(Waits, AWakeBetweenTheLookAndTheParkIsNotLost) {
    Waits waits;
    Waiter waiter;
    const auto ticket = waits.ticket();
    waits.wake("a");
    waits.park({"a", Waits::Clock::now() + 60s}, ticket, waiter.resume());
    EXPECT_TRUE(waiter.within(100ms));
}

TEST(Waits, ResumesWhenTheTimeIsOver) {
    Waits waits;
    Waiter waiter;
    waits.park({"a", Waits::Clock::now() + 50ms}, waits.ticket(), waiter.resume());
    EXPECT_TRUE(waiter.within(700ms));
    EXPECT_EQ(waits.waiting(), 0u);
}

TEST(Waits, LooksAboutOnceASecondEvenIfNobodyWakes) {
    Waits waits;
    Waiter waiter;
    waits.park({"a", Waits::Clock::now() + 60s}, waits.ticket(), waiter.resume());
    EXPECT_FALSE(waiter.within(500ms));
    EXPECT_TRUE(waiter.within(5s));
}

TEST(Waits, NoWaiterIsLostOrResumedTwiceUnderManyWakes) {
    Waits waits;
    constexpr int threads = 8, rounds = 400;
    std::atomic<int> resumed = 0;
    std::vector<std::thread> crowd;
    for (int t = 0; t < threads; ++t)
        crowd.emplace_back([&, topic = "topic" + std::to_string(t % 3)] {
            for (int i = 0; i < rounds; ++i) {
                waits.park({topic, Waits::Clock::now() + 200ms}, waits.ticket(), [&] {
                    ++resumed;
                });
                if (i % 3 == 0) waits.wake(topic);
            }
        });
    for (auto& each : crowd) each.join();
    for (int i = 0; i < 200 && waits.waiting() > 0; ++i) std::this_thread::sleep_for(20ms);
    EXPECT_EQ(waits.waiting(), 0u);
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(resumed, threads * rounds);
}

}  // namespace
}  // namespace svc::core
