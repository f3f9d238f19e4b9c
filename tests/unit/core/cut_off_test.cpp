#include "svc/cut_off.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace svc {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class CutOffTest : public testing::Test {
protected:
    CutOffTest() { ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_); }
    ~CutOffTest() override {
        for (const int each : ends_) ::close(each);
    }
    int ends_[2]{};
    char byte_ = 0;
};

TEST_F(CutOffTest, EndsAReadThatWouldWaitForever) {
    const auto begun = Clock::now();
    const CutOff cut_off(ends_[0], begun + 50ms);
    EXPECT_EQ(::recv(ends_[0], &byte_, 1, 0), 0);
    EXPECT_GE(Clock::now() - begun, 50ms);
    EXPECT_TRUE(cut_off.happened());
}

TEST_F(CutOffTest, LeavesTheSocketAloneBeforeItsTime) {
    {
        const CutOff cut_off(ends_[0], Clock::now() + 1h);
        EXPECT_FALSE(cut_off.happened());
    }
    EXPECT_EQ(::send(ends_[1], "x", 1, 0), 1);
    EXPECT_EQ(::recv(ends_[0], &byte_, 1, 0), 1);
}

TEST_F(CutOffTest, NeverEndsWhatHasTakenTheNumberOfAClosedSocket) {
    const int number = ends_[0];
    const CutOff cut_off(number, Clock::now() + 50ms);
    int others[2];
    ::close(number);
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, others), 0);
    ends_[0] = others[0];
    ASSERT_EQ(others[0], number) << "the lowest free number is taken";
    while (!cut_off.happened()) ::usleep(1000);
    EXPECT_EQ(::send(others[1], "x", 1, 0), 1);
    EXPECT_EQ(::recv(others[0], &byte_, 1, 0), 1);
    ::close(others[1]);
}

}  // namespace
}  // namespace svc
