#include "svc/throttle.hpp"

#include <gtest/gtest.h>

namespace svc {
namespace {

TEST(Throttle, LetsSoManyThroughInAMinute) {
    using namespace std::chrono_literals;
    Throttle throttle(2);
    const auto start = Throttle::Clock::now();
    EXPECT_FALSE(throttle.take("a", "1", start));
    EXPECT_FALSE(throttle.take("a", "1", start)) << "the same request, run again";
    EXPECT_FALSE(throttle.take("a", "2", start + 10s));
    EXPECT_EQ(throttle.take("a", "3", start + 20s), 40);
    EXPECT_FALSE(throttle.take("b", "4", start + 20s));
    EXPECT_FALSE(throttle.take("a", "5", start + 60s));
}

TEST(Throttle, CountsByNetworksOfIpv6AndAddressesOfIpv4) {
    EXPECT_EQ(network_of("203.0.113.7"), "203.0.113.7");
    EXPECT_EQ(network_of("::ffff:203.0.113.7"), "::ffff:203.0.113.7");
    EXPECT_EQ(network_of("2001:db8:1:2:3::4"), "2001:db8:1:2::/64");
    EXPECT_EQ(network_of("2001:db8:1:2:ffff::"), network_of("2001:db8:1:2::1"));
    EXPECT_NE(network_of("2001:db8:1:3::1"), network_of("2001:db8:1:2::1"));
}

}  // namespace
}  // namespace svc
