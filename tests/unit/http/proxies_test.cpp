#include "http/proxies.hpp"
#include "tests/unit/http/http_fixture.hpp"

/// Whose word counts about where a request came from.
namespace svc::http::test {

namespace {

std::string whence(HttpFixture& fixture, std::string_view headers) {
    const auto reply = fixture.client().ask(get("/whence", headers));
    return reply ? reply->body : "(no answer)";
}

Settings trusting(std::vector<std::string> proxies) {
    Settings settings;
    settings.trusted_proxies = std::move(proxies);
    return settings;
}

}  // namespace

TEST(Proxies, NobodyIsBelievedByDefault) {
    HttpFixture fixture;
    EXPECT_EQ(
        whence(fixture, "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n"),
        "127.0.0.1 plain"
    );
}

TEST(Proxies, ATrustedOneIsBelieved) {
    HttpFixture fixture(trusting({"127.0.0.1"}));
    EXPECT_EQ(
        whence(fixture, "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n"),
        "203.0.113.9 secure"
    );
    EXPECT_EQ(whence(fixture, ""), "127.0.0.1 plain");
    EXPECT_EQ(whence(fixture, "X-Forwarded-For: 2001:db8::9\r\n"), "2001:db8::9 plain");
}

TEST(Proxies, AnotherOneIsNot) {
    HttpFixture fixture(trusting({"127.0.0.2", "10.0.0.0/8"}));
    EXPECT_EQ(whence(fixture, "X-Forwarded-For: 203.0.113.9\r\n"), "127.0.0.1 plain");
}

TEST(Proxies, TheRightmostUntrustedAddressWins) {
    HttpFixture fixture(trusting({"127.0.0.0/8", "10.1.0.0/16", "fd00::/8"}));
    EXPECT_EQ(
        whence(fixture, "X-Forwarded-For: 198.51.100.1, 203.0.113.9, 10.1.2.3\r\n"),
        "203.0.113.9 plain"
    );
    EXPECT_EQ(
        whence(
            fixture, "X-Forwarded-For: 198.51.100.1, 203.0.113.9\r\nX-Forwarded-For: fd12::1\r\n"
        ),
        "203.0.113.9 plain"
    );
    EXPECT_EQ(whence(fixture, "X-Forwarded-For: 198.51.100.1, 10.2.0.1\r\n"), "10.2.0.1 plain");
    EXPECT_EQ(whence(fixture, "X-Forwarded-For: 10.1.0.9, 10.1.0.1\r\n"), "10.1.0.9 plain");
}

TEST(Proxies, NothingBehindNonsenseIsBelieved) {
    HttpFixture fixture(trusting({"127.0.0.1", "10.0.0.0/8"}));
    EXPECT_EQ(whence(fixture, "X-Forwarded-For: 203.0.113.9, unknown\r\n"), "127.0.0.1 plain");
    EXPECT_EQ(whence(fixture, "X-Forwarded-For: 203.0.113.9, <b>, 10.0.0.7\r\n"), "10.0.0.7 plain");
}

TEST(Proxies, PortsAreLeftOut) {
    HttpFixture fixture(trusting({"127.0.0.1"}));
    EXPECT_EQ(whence(fixture, "X-Forwarded-For: 203.0.113.9:4711\r\n"), "203.0.113.9 plain");
    EXPECT_EQ(whence(fixture, "X-Forwarded-For: [2001:db8::9]:4711\r\n"), "2001:db8::9 plain");
}

TEST(Proxies, BlocksOfBothKindsMatchToTheBit) {
    const std::vector<std::string> all{"10.20.16.0/20", "2001:db8:40::/42", "::1", "0.0.0.0/32"};
    const http::Proxies proxies(all);
    const auto trusts = [&](std::string_view text) {
        return proxies.trusts(*Address::parse(text));
    };
    EXPECT_TRUE(trusts("10.20.16.0"));
    EXPECT_TRUE(trusts("10.20.31.255"));
    EXPECT_FALSE(trusts("10.20.32.0"));
    EXPECT_FALSE(trusts("10.20.15.255"));
    EXPECT_TRUE(trusts("::ffff:10.20.16.1")) << "the mapped form is the same address";
    EXPECT_TRUE(trusts("2001:db8:7f:ffff::1"));
    EXPECT_FALSE(trusts("2001:db8:80::1"));
    EXPECT_TRUE(trusts("::1"));
    EXPECT_FALSE(trusts("::2"));
}

TEST(Proxies, NonsenseInTheSettingsIsNamed) {
    for (const std::string bad :
         {"10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0/8", "proxy", "1.2.3.4/-1", "1.2.3.4/8x"}) {
        const std::vector<std::string> all{bad};
        try {
            const http::Proxies proxies(all);
            FAIL() << bad;
        } catch (const std::runtime_error& problem) {
            EXPECT_NE(std::string(problem.what()).find(bad), std::string::npos);
        }
    }
}

}  // namespace svc::http::test
