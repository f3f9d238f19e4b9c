#include "modules/boards/api/shapes.hpp"
#include "modules/queue/lib/alarms.hpp"
#include "modules/queue/lib/rows.hpp"
#include "modules/queue/lib/token.hpp"
#include "svc/encoding.hpp"
#include "tests/support/eventually.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace svc::queue {

namespace {

using boards::QueueState;
using std::chrono::milliseconds;

std::string as_bytea(const Sha256& digest) { return "\\x" + hex(digest); }

boards::Card card_at(std::string position, boards::Priority priority = {}) {
    boards::Card card;
    card.id = new_uuid();
    card.position = OrderKey(std::move(position));
    card.priority = priority;
    return card;
}

QueueRow failed_once() {
    QueueRow held;
    held.attempt = 1;
    held.max_attempts = 5;
    held.backoff_seconds = 30;
    held.backoff_max_seconds = 3600;
    held.now = *Timestamp::parse("2026-06-19T10:00:00Z");
    return held;
}

std::int64_t pause_after(std::int64_t attempt, std::uint64_t random_bits) {
    QueueRow held = failed_once();
    held.attempt = attempt;
    held.max_attempts = 100;
    const auto standing = after_failure(held, Retry::yes, std::nullopt, std::nullopt, random_bits);
    return (standing.available_at->micros - held.now.micros) / 1'000'000;
}

}  // namespace

// ------------------------------------------------------------------------------------ tokens

TEST(LeaseToken, SaysItsCardAndProvesItsSecret) {
    const Uuid card = new_uuid();
    const auto secret = LeaseToken::new_secret();
    const std::string text = LeaseToken(card, secret).str();
    EXPECT_EQ(text.size(), 46U);
    EXPECT_TRUE(text.starts_with("lt_"));
    const auto read = LeaseToken::parse(text);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->card(), card);
    EXPECT_TRUE(read->matches(as_bytea(LeaseToken::digest_of(secret))));
}

TEST(LeaseToken, AnotherSecretDoesNotMatch) {
    const Uuid card = new_uuid();
    const LeaseToken token(card, LeaseToken::new_secret());
    EXPECT_FALSE(token.matches(as_bytea(LeaseToken::digest_of(LeaseToken::new_secret()))));
    EXPECT_FALSE(token.matches(""));
    EXPECT_FALSE(token.matches("\\x"));
}

TEST(LeaseToken, WhatIsNotOneIsNotRead) {
    const std::string good = LeaseToken(new_uuid(), LeaseToken::new_secret()).str();
    for (const std::string& bad :
         {std::string(),
          std::string("lt_"),
          good.substr(3),
          good + "A",
          good.substr(0, 45),
          "tl_" + good.substr(3),
          good.substr(0, 20) + "!" + good.substr(21)})
        EXPECT_FALSE(LeaseToken::parse(bad)) << bad;
}

// ------------------------------------------------------------------------------------- order

TEST(QueueKey, TheMostUrgentGoesFirstThenTheTopmost) {
    using boards::Priority;
    const auto key = [](const char* position, Priority priority) {
        return key_of(boards::QueueOrder::priority, card_at(position, priority), {});
    };
    EXPECT_LT(key("V9", Priority::urgent), key("V1", Priority::high));
    EXPECT_LT(key("V1", Priority::low), key("V2", Priority::low));
    EXPECT_LT(key("V9", Priority::low), key("V1", Priority::none));
}

TEST(QueueKey, FirstInIsFirstOutWhateverThePriority) {
    const auto key = [](const char* entered, boards::Priority priority) {
        return key_of(
            boards::QueueOrder::fifo, card_at("V1", priority), *Timestamp::parse(entered)
        );
    };
    EXPECT_LT(
        key("2026-06-19T10:00:00.000001Z", boards::Priority::none),
        key("2026-06-19T10:00:00.000002Z", boards::Priority::urgent)
    );
}

TEST(QueueKey, TheEarliestDueGoesFirstAndTheUndatedLast) {
    const auto key = [](const char* due) {
        auto card = card_at("V1");
        if (*due) card.due = Moment::parse(due);
        return key_of(boards::QueueOrder::due, card, {});
    };
    EXPECT_LT(key("2026-06-19"), key("2026-06-19T00:00:01Z"));
    EXPECT_LT(key("2026-06-19T23:00:00-05:00"), key("2026-06-20T05:00:00Z"));
    EXPECT_LT(key("2999-12-31"), key(""));
}

// ------------------------------------------------------------------------------------- hints

TEST(Hints, AClaimBeginsWhereTheLastOneFoundACard) {
    Hints hints;
    const Uuid column = new_uuid();
    const auto now = Hints::Clock::now();
    EXPECT_EQ(hints.from(column, now), QueueKey::head());
    const QueueKey found{4, "V7", new_uuid()};
    hints.found(column, found);
    EXPECT_EQ(hints.from(column, now + milliseconds(10)), found);
    EXPECT_EQ(hints.from(new_uuid(), now), QueueKey::head()) << "another column's hint";
}

TEST(Hints, TheHeadIsLookedAtAgainAfterAWhile) {
    Hints hints;
    const Uuid column = new_uuid();
    const auto now = Hints::Clock::now();
    hints.from(column, now);
    hints.found(column, {4, "V7", new_uuid()});
    const auto later = now + Hints::trusted_for;
    EXPECT_EQ(hints.from(column, later), QueueKey::head());
    EXPECT_NE(hints.from(column, later + milliseconds(1)), QueueKey::head());
}

TEST(Hints, ACardThatBecameReadyBringsClaimsBackToTheHead) {
    Hints hints;
    const Uuid column = new_uuid();
    hints.from(column);
    hints.found(column, {4, "V7", new_uuid()});
    hints.reset(column);
    EXPECT_EQ(hints.from(column), QueueKey::head());
}

// ------------------------------------------------------------------------------------ pauses

TEST(AfterFailure, PausesDoubleUpToTheMost) {
    // With the highest draw the pause is whole, with the lowest half of it.
    const std::uint64_t highest = 15'000'000, lowest = 0;
    EXPECT_EQ(pause_after(1, highest), 30);
    EXPECT_EQ(pause_after(1, lowest), 15);
    EXPECT_EQ(pause_after(2, lowest), 30);
    EXPECT_EQ(pause_after(4, lowest), 120);
    EXPECT_EQ(pause_after(12, lowest), 1800);
    EXPECT_EQ(pause_after(99, lowest), 1800);
}

TEST(AfterFailure, TheLastTryExhaustsTheCard) {
    QueueRow held = failed_once();
    held.attempt = 5;
    const auto standing = after_failure(held, Retry::yes, std::nullopt, "no luck", 0);
    EXPECT_EQ(standing.state, QueueState::exhausted);
    EXPECT_EQ(standing.attempts, 5);
    EXPECT_EQ(standing.last_error, "no luck");
    EXPECT_FALSE(standing.available_at);
}

TEST(AfterFailure, WhatNeedNotBeTriedAgainIsExhaustedAtOnce) {
    const auto standing =
        after_failure(failed_once(), Retry::no, std::chrono::seconds(60), std::nullopt, 0);
    EXPECT_EQ(standing.state, QueueState::exhausted);
}

TEST(AfterFailure, AWorkerMayNameThePause) {
    const QueueRow held = failed_once();
    const auto standing = after_failure(held, Retry::yes, std::chrono::seconds(7), std::nullopt, 0);
    EXPECT_EQ(standing.state, QueueState::backoff);
    EXPECT_EQ(standing.available_at->micros - held.now.micros, 7'000'000);
}

TEST(AfterFailure, WithoutAPauseTheCardIsReadyAtOnce) {
    const auto standing =
        after_failure(failed_once(), Retry::yes, std::chrono::seconds(0), std::nullopt, 0);
    EXPECT_EQ(standing.state, QueueState::ready);
    EXPECT_FALSE(standing.available_at);
}

// ------------------------------------------------------------------------------------ alarms

namespace {

/// What rang, and when.
struct Bell {
    std::mutex mutex;
    std::vector<std::pair<Alarms::Place, Alarms::Clock::time_point>> rung;
    Alarms alarms{[this](const Alarms::Place& place) {
        const std::lock_guard lock(mutex);
        rung.emplace_back(place, Alarms::Clock::now());
        if (rung.size() == 1) throw std::runtime_error("is logged, and the others ring");
    }};

    std::vector<Alarms::Place> places() {
        const std::lock_guard lock(mutex);
        std::vector<Alarms::Place> places;
        for (const auto& [place, when] : rung) places.push_back(place);
        return places;
    }
};

}  // namespace

TEST(Alarms, RingInTheirOrderEachPlaceAtTheEarliestTimeAndOnce) {
    Bell bell;
    const Alarms::Place soon{new_uuid(), new_uuid()}, late{new_uuid(), new_uuid()}, all{new_uuid()};
    const auto from = Alarms::Clock::now();
    bell.alarms.set(late, milliseconds(2000));
    bell.alarms.set(soon, milliseconds(5000));
    bell.alarms.set(soon, milliseconds(100));
    bell.alarms.set(soon, milliseconds(300));  // known to be earlier
    bell.alarms.start();
    bell.alarms.set(all, milliseconds(200));
    test::eventually([&] { return bell.places().size() == 3; });
    bell.alarms.stop();
    EXPECT_EQ(bell.places(), (std::vector{soon, all, late}));
    EXPECT_GE(bell.rung.front().second - from, milliseconds(100));
}

TEST(Alarms, WhatIsOverAndNotDoneIsTriedAgainInAMomentAndNotAllTheTime) {
    std::atomic<int> rung{0};
    Alarms* own = nullptr;
    Alarms alarms([&](const Alarms::Place& place) {
        ++rung;
        own->set(place, milliseconds(-5));
    });
    own = &alarms;
    const auto from = Alarms::Clock::now();
    alarms.set({new_uuid()}, milliseconds(1));
    alarms.start();
    EXPECT_TRUE(test::eventually([&] { return rung >= 5; }));
    alarms.stop();
    EXPECT_LE(rung, (Alarms::Clock::now() - from) / milliseconds(50) + 1);
}

TEST(Alarms, AreBounded) {
    Bell bell;
    for (int i = 0; i < 12'000; ++i) bell.alarms.set({new_uuid()}, milliseconds(1));
    bell.alarms.start();
    test::eventually([&] { return bell.places().size() == 10'000; });
    bell.alarms.stop();
    EXPECT_EQ(bell.places().size(), 10'000U);
}

}  // namespace svc::queue
