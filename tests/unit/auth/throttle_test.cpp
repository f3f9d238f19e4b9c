#include "tests/support/accounts_fixture.hpp"

namespace svc::test {
namespace {

constexpr const char* same_secret = "server.secret=a secret of at least thirty-two characters";

/// Behind a proxy, so that requests may come from anywhere.
class Throttle : public AccountsTest {
protected:
    Throttle()
        : AccountsTest(
              {"server.trusted_proxies=127.0.0.1",
               same_secret,
               "auth.log_ins=3",
               "auth.log_ins_from_one_place=5",
               "auth.mail_requests_from_one_place=2",
               "auth.sign_ups_from_one_place=2"}
          ) {}

    Reply from(const std::string& place, const std::string& path, const json::value& body) {
        return once("POST", path, body, {{"X-Forwarded-For", place}});
    }
    int guess(const std::string& place, const std::string& email) {
        return from(
                   place, "/v1/auth/login", {{"email", email}, {"password", other_password}}
        ).status;
    }
};

TEST_F(Throttle, OfAnAddressIsPerPlaceSoThatNobodyLocksAnotherOut) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(guess("203.0.113.1", "ada@example.com"), 401);
    EXPECT_EQ(guess("203.0.113.1", "ada@example.com"), 429);
    EXPECT_EQ(guess("203.0.113.2", "ada@example.com"), 401);
    EXPECT_EQ(guess("203.0.113.1", "eve@example.com"), 401);
}

TEST_F(Throttle, OfAPlaceIsOverAllAddresses) {
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(guess("203.0.113.1", "a" + std::to_string(i) + "@example.com"), 401);
    const auto refused = from(
        "203.0.113.1",
        "/v1/auth/login",
        {{"email", "new@example.com"}, {"password", other_password}}
    );
    EXPECT_EQ(
        expect(429, refused).text("/additional_data/rate_limit_reason"), "log_in_from_one_place"
    );
    EXPECT_EQ(guess("203.0.113.2", "new@example.com"), 401);
}

TEST_F(Throttle, TakesANetworkOfIpv6ForOnePlace) {
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(guess("2001:db8:0:1::" + std::to_string(i + 1), "ada@example.com"), 401);
    EXPECT_EQ(guess("2001:db8:0:1:ffff::9", "ada@example.com"), 429);
    EXPECT_EQ(guess("2001:db8:0:2::1", "ada@example.com"), 401);
}

TEST_F(Throttle, OfMailsAndSignUpsIsPerPlaceToo) {
    const auto ask_from = [&](const std::string& place) {
        return from(
                   place, "/v1/auth/password-reset/request", {{"email", "ada@example.com"}}
        ).status;
    };
    const auto join_from = [&](const std::string& place, const std::string& email) {
        return from(place, "/v1/auth/signup", {{"email", email}, {"password", password}}).status;
    };
    EXPECT_EQ(ask_from("203.0.113.1"), 204);
    EXPECT_EQ(ask_from("203.0.113.1"), 204);
    EXPECT_EQ(ask_from("203.0.113.1"), 429);
    EXPECT_EQ(ask_from("203.0.113.2"), 204);
    EXPECT_EQ(join_from("203.0.113.1", "a@example.com"), 201);
    EXPECT_EQ(join_from("203.0.113.1", "b@example.com"), 201);
    EXPECT_EQ(join_from("203.0.113.1", "c@example.com"), 429);
    EXPECT_EQ(join_from("203.0.113.2", "c@example.com"), 201);
}

TEST_F(Throttle, KeepsNoAddressInTheClear) {
    guess("203.0.113.1", "ada@example.com");
    const auto rows = ask("SELECT string_agg(encode(key, 'escape'), ' ') FROM rate_windows");
    EXPECT_THAT(rows, testing::Not(testing::HasSubstr("ada")));
    EXPECT_THAT(rows, testing::Not(testing::HasSubstr("203.0.113")));
}

TEST_F(Throttle, IsCountedByAllServersTogether) {
    const Server second({.database_url = database, .settings = {"auth.log_ins=3", same_secret}});
    const json::value body{{"email", "ada@example.com"}, {"password", other_password}};
    const auto guess_there = [&] {
        Client fresh = second.client();
        return fresh.post("/v1/auth/login", body).status;
    };
    EXPECT_EQ(guess_there(), 401);
    EXPECT_EQ(once("POST", "/v1/auth/login", body).status, 401);
    EXPECT_EQ(guess_there(), 401);
    EXPECT_EQ(once("POST", "/v1/auth/login", body).status, 429);
    EXPECT_EQ(guess_there(), 429);
}

TEST_F(Throttle, LetsThroughTheLimitHoweverManyGuessAtBothServersAtOnce) {
    const Server second({.database_url = database, .settings = {"auth.log_ins=3", same_secret}});
    const json::value body{{"email", "ada@example.com"}, {"password", other_password}};
    const auto replies = at_once(16, [&](int number) {
        if (number % 2 == 0) return once("POST", "/v1/auth/login", body);
        Client fresh = second.client();
        return fresh.post("/v1/auth/login", body);
    });
    EXPECT_EQ(count_status(replies, 401), 3);
    EXPECT_EQ(count_status(replies, 429), 13);
}

}  // namespace
}  // namespace svc::test
