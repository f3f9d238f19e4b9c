#include "modules/lib/slow_work/slow_work.hpp"

#include "core/kernel_impl.hpp"
#include "tests/support/bare_call.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <semaphore>
#include <thread>

namespace svc {
namespace {

/// A call that leaves its handler when it has to wait, as one that is parked does.
class WaitingCall final : public test::BareCall {
public:
    struct Left {};

    void wait_for_any(std::vector<std::string>, std::chrono::seconds, Awaited) override {
        throw Left();
    }
};

struct SlowWorks : testing::Test {
    Kernel kernel{std::make_unique<Kernel::Impl>()};
    SlowWork work{kernel, 1, 3};

    template <class Result>
    std::optional<Result> look(WaitingCall& call, std::function<Result()> does) {
        try {
            return work.result_of<Result>(call, [&] { return does; });
        } catch (const WaitingCall::Left&) {
            return std::nullopt;
        }
    }
    /// Runs the handler again until it gets through, as a parked call is.
    template <class Result>
    Result wait(WaitingCall& call, std::function<Result()> does) {
        for (int tries = 0; tries < 2000; ++tries) {
            if (auto result = look<Result>(call, does)) return *result;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        throw std::runtime_error("it never came");
    }
};

}  // namespace

TEST_F(SlowWorks, AResultIsTheCallsThatAskedThoughRequestsAreOne) {
    WaitingCall first, second;
    look<std::string>(first, [] { return std::string("hash of A"); });
    look<std::string>(second, [] { return std::string("hash of B"); });
    EXPECT_EQ(wait<std::string>(second, {}), "hash of B");
    EXPECT_EQ(wait<std::string>(first, {}), "hash of A");
    EXPECT_EQ(wait<std::string>(first, {}), "hash of A")
        << "run again, after its transaction failed";
}

TEST_F(SlowWorks, WhatACallLeftBehindIsNobodyElses) {
    {
        WaitingCall refused;
        EXPECT_EQ(wait<std::string>(refused, [] { return std::string("hash of A"); }), "hash of A");
    }
    WaitingCall next;
    EXPECT_EQ(wait<bool>(next, [] { return true; }), true) << "of another type, too";
}

TEST_F(SlowWorks, WorkThatNobodyWaitsForAnyMoreIsNotDoneAndTakesNoPlace) {
    std::binary_semaphore begun{0}, go_on{0};
    WaitingCall busy;
    look<int>(busy, [&] {
        begun.release();
        go_on.acquire();
        return 1;
    });
    begun.acquire();
    std::atomic<int> done{0};
    for (int each = 0; each < 20; ++each) {
        WaitingCall gone;
        look<int>(gone, [&] { return ++done; });
    }
    WaitingCall waits;
    EXPECT_NO_THROW(look<int>(waits, [] { return 7; })) << "the queue is not full";
    go_on.release();
    EXPECT_EQ(wait<int>(waits, {}), 7);
    EXPECT_EQ(done, 0);
}

TEST_F(SlowWorks, BeyondTheQueueIsA503) {
    std::binary_semaphore go_on{0};
    std::deque<WaitingCall> calls(5);
    look<int>(calls[0], [&] { return go_on.acquire(), 1; });
    while (work.waiting() > 0) std::this_thread::yield();
    for (std::size_t each = 1; each < 4; ++each) look<int>(calls[each], [] { return 1; });
    EXPECT_THROW(look<int>(calls[4], [] { return 1; }), Failure);
    go_on.release();
    EXPECT_EQ(wait<int>(calls[3], {}), 1);
}

}  // namespace svc
