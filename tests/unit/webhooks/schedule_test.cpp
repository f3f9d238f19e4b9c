#include "modules/webhooks/lib/schedule.hpp"
#include "modules/webhooks/lib/line.hpp"
#include "modules/webhooks/lib/signature.hpp"

#include <gmock/gmock.h>

namespace svc::test {
namespace {

using namespace std::chrono_literals;
using namespace webhooks;
using std::chrono::milliseconds;

TEST(DeliverySchedule, HasTenPausesThatDifferByAFifth) {
    const std::vector<milliseconds> pauses{5s, 30s, 5min, 30min, 2h, 5h, 10h, 14h, 20h, 24h};
    for (std::size_t i = 0; i < pauses.size(); ++i) {
        const auto retries = static_cast<std::int64_t>(i);
        EXPECT_EQ(pause_after(retries, std::nullopt, 0.5), pauses[i]);
        EXPECT_EQ(pause_after(retries, std::nullopt, 0), pauses[i] * 8 / 10);
        EXPECT_LE(*pause_after(retries, std::nullopt, 0.999), pauses[i] * 12 / 10);
    }
    EXPECT_FALSE(pause_after(10, std::nullopt, 0.5)) << "then it is abandoned";
}

TEST(DeliverySchedule, AnEndpointMayAskForAnHourAtMost) {
    EXPECT_EQ(pause_after(0, 600s, 0.5), milliseconds(600s));
    EXPECT_EQ(pause_after(0, 24h, 0.5), milliseconds(1h));
    EXPECT_EQ(pause_after(2, 1s, 0.5), milliseconds(5min)) << "never less than without";
}

TEST(DeliverySchedule, TheBreakerOpensWithTheFifthFailureAndRestsLongerAndLonger) {
    for (int failures = 0; failures < 5; ++failures)
        EXPECT_EQ(breaker_pause(failures, 0.5), 0ms) << failures;
    EXPECT_EQ(breaker_pause(5, 0.5), 30s);
    EXPECT_EQ(breaker_pause(6, 0.5), 60s);
    EXPECT_EQ(breaker_pause(8, 0.5), 240s);
    for (const int failures : {9, 10, 1'000'000}) EXPECT_EQ(breaker_pause(failures, 0.5), 300s);
}

TEST(DeliverySchedule, IsGoneMeansDaysAndSeveralFailures) {
    EXPECT_FALSE(is_gone(4, 240h, 120h));
    EXPECT_FALSE(is_gone(50, 119h, 120h));
    EXPECT_TRUE(is_gone(5, 120h, 120h));
    EXPECT_EQ(alerts_due(23h), 0);
    EXPECT_EQ(alerts_due(24h), 1);
    EXPECT_EQ(alerts_due(72h), 2);
}

TEST(DeliverySchedule, AnEndpointGetsOneAtATimeUntilItHasTakenSomething) {
    Line line;
    line.open = true;
    EXPECT_EQ(line.limit(), 1);
    line.settle({}, {.status = 204}, 0.5);
    EXPECT_EQ(line.limit(), 4);
    line.settle({}, {.status = 500}, 0.5);
    EXPECT_EQ(line.limit(), 1);
    for (int i = 0; i < 4; ++i) line.settle({}, {.error = "no answer in time"}, 0.5);
    EXPECT_EQ(line.limit(), 0) << "it is left alone";
    line.settle({}, {.status = 200}, 0.5);
    EXPECT_EQ(line.limit(), 4);
}

TEST(DeliverySchedule, OfADeliveryTheLatestTenAttemptsAreKept) {
    Line line;
    Pending delivery;
    for (int i = 0; i < 10; ++i) {
        const auto attempt = line.settle(delivery, {.status = 302}, 0.5);
        EXPECT_EQ(attempt.status, DeliveryStatus::failed);
        delivery = {
            .attempt_count = attempt.attempt_count,
            .retries = attempt.retries,
            .attempts = attempt.attempts};
    }
    const auto last = line.settle(delivery, {.status = 302}, 0.5);
    EXPECT_EQ(last.status, DeliveryStatus::abandoned);
    EXPECT_FALSE(last.next_after);
    ASSERT_EQ(last.attempts.size(), 10u);
    EXPECT_EQ(last.attempts.front().number, 2);
    EXPECT_EQ(last.attempts.back().number, 11);
    EXPECT_EQ(last.attempts.back().error, "answered 302; redirects are not followed");
}

TEST(DeliverySchedule, OnlySuccessesAreSuccesses) {
    for (const int status : {100, 199, 300, 301, 304, 400, 404, 410, 429, 500, 503})
        EXPECT_EQ(Line{}.settle({}, {.status = status}, 0.5).status, DeliveryStatus::failed)
            << status;
    for (const int status : {200, 201, 202, 204, 299})
        EXPECT_EQ(Line{}.settle({}, {.status = status}, 0.5).status, DeliveryStatus::succeeded)
            << status;
}

TEST(DeliveryText, ExcerptsAreTextWhateverCame) {
    EXPECT_EQ(excerpt_of("ok\n", 10), "ok\n");
    EXPECT_EQ(excerpt_of(std::string_view("a\0b\x7F", 4), 10), "a b ");
    EXPECT_EQ(excerpt_of("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 2), "\xC3\xA9\xE2\x82\xAC");
    EXPECT_EQ(excerpt_of("\xC0\x80\xED\xA0\x80\xF4\x90\x80\x80\xE2\x82", 20), "???????????");
    EXPECT_EQ(excerpt_of("abc", 0), "");
}

// The example of the Standard Webhooks specification's own libraries, and a second computation.
TEST(DeliverySignature, IsWhatOthersCompute) {
    EXPECT_EQ(
        standard_signature(
            {"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1614265330,
            R"({"test": 2432232314})"
        ),
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    );
    // printf '1700000000.{}' | openssl dgst -sha256 -hmac whsec_key
    EXPECT_EQ(
        signature({"whsec_key"}, 1700000000, "{}"),
        "t=1700000000,v1=bfdd020b0e5c78488e2eb7c57161338519524f24714a6ba86c4224c4b6981a9d"
    );
    EXPECT_THAT(
        signature({"a", "b"}, 5, ""), testing::MatchesRegex("t=5,v1=[0-9a-f]{64},v1=[0-9a-f]{64}")
    );
}

// Secrets were base64url once; those that are in use are what they were.
TEST(DeliverySignature, TakesSecretsInEitherAlphabetForTheSameKey) {
    for (const char* secret :
         {"whsec_CzBVep_E6Q4zWH2ix-wRNluApcrvFDleg6jN8hc8YYY",
          "whsec_CzBVep/E6Q4zWH2ix+wRNluApcrvFDleg6jN8hc8YYY="})
        EXPECT_EQ(
            standard_signature({secret}, "msg_1", 1700000000, "{}"),
            "v1,OAbCcHKuCyucUdZAbCHQOwG0fBqSUHoDsKAhzPS19rI="
        ) << secret;
}

}  // namespace
}  // namespace svc::test
