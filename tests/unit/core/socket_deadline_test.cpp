#include "svc/socket_deadline.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <thread>
#include <vector>

namespace svc {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class SocketDeadlines : public testing::Test {
protected:
    SocketDeadlines() { ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_); }
    ~SocketDeadlines() override {
        for (const int each : ends_) ::close(each);
    }
    static std::ptrdiff_t threads() {
        const std::filesystem::directory_iterator all("/proc/self/task");
        return std::distance(begin(all), end(all));
    }
    int ends_[2]{};
    char byte_ = 0;
};

TEST_F(SocketDeadlines, EndAReadThatWouldWaitForever) {
    const auto begun = Clock::now();
    const SocketDeadline deadline(ends_[0], begun + 50ms);
    EXPECT_EQ(::recv(ends_[0], &byte_, 1, 0), 0);
    EXPECT_GE(Clock::now() - begun, 50ms);
    EXPECT_TRUE(deadline.passed());
}

TEST_F(SocketDeadlines, LeaveTheSocketAloneBeforeTheirTime) {
    {
        const SocketDeadline deadline(ends_[0], Clock::now() + 1h);
        EXPECT_FALSE(deadline.passed());
    }
    EXPECT_EQ(::send(ends_[1], "x", 1, 0), 1);
    EXPECT_EQ(::recv(ends_[0], &byte_, 1, 0), 1);
}

TEST_F(SocketDeadlines, NeverEndWhatHasTakenTheNumberOfAClosedSocket) {
    const int number = ends_[0];
    const SocketDeadline deadline(number, Clock::now() + 50ms);
    int others[2];
    ::close(number);
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, others), 0);
    ends_[0] = others[0];
    ASSERT_EQ(others[0], number) << "the lowest free number is taken";
    while (!deadline.passed()) ::usleep(1000);
    EXPECT_EQ(::send(others[1], "x", 1, 0), 1);
    EXPECT_EQ(::recv(others[0], &byte_, 1, 0), 1);
    ::close(others[1]);
}

TEST_F(SocketDeadlines, AreLookedAfterByOneThread) {
    const SocketDeadline first(ends_[0], Clock::now() + 1h);
    const auto before = threads();
    std::deque<SocketDeadline> many;
    for (int i = 0; i < 400; ++i) many.emplace_back(ends_[0], Clock::now() + 1h);
    EXPECT_EQ(threads(), before);
}

TEST_F(SocketDeadlines, PassInTheirOrderWhicheverIsSetFirst) {
    const SocketDeadline late(ends_[0], Clock::now() + 1h);
    int others[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, others), 0);
    {
        const SocketDeadline soon(others[0], Clock::now() + 30ms);
        EXPECT_EQ(::recv(others[0], &byte_, 1, 0), 0);
        EXPECT_TRUE(soon.passed());
    }
    EXPECT_FALSE(late.passed());
    for (const int each : others) ::close(each);
}

TEST_F(SocketDeadlines, EndAtTheMomentWhenTheyPass) {
    std::vector<std::thread> all;
    for (int i = 0; i < 4; ++i)
        all.emplace_back([] {
            for (int round = 0; round < 300; ++round) {
                int pair[2];
                if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) continue;
                {
                    const SocketDeadline now(pair[0], Clock::now() + std::chrono::microseconds(50));
                    ::usleep(static_cast<unsigned>(round % 120));
                }
                ::close(pair[0]);
                ::close(pair[1]);
            }
        });
    for (auto& each : all) each.join();
}

}  // namespace
}  // namespace svc
