#include "svc/order_key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>
#include <thread>

namespace svc::boards {

namespace {

using Keys = std::vector<OrderKey>;

OrderKey none() { return {}; }

bool rises(const auto& keys) {
    return std::ranges::adjacent_find(keys, std::ranges::greater_equal{}) == keys.end();
}

/// Puts a key between the neighbours of `index`, as a drop on a board does.
void insert_at(auto& keys, std::size_t index, std::uint64_t random_bits) {
    const OrderKey below = index > 0 ? keys[index - 1] : none();
    const OrderKey above = index < keys.size() ? keys[index] : none();
    const auto at = keys.begin() + static_cast<std::ptrdiff_t>(index);
    keys.insert(at, OrderKey::between(below, above, random_bits));
}

std::size_t longest(const auto& keys) {
    return std::ranges::max(keys, {}, [](const OrderKey& key) { return key.str().size(); })
        .str()
        .size();
}

}  // namespace

TEST(OrderKey, RandomInsertsKeepTheOrder) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 20; ++round) {
        Keys keys;
        for (int i = 0; i < 500; ++i) insert_at(keys, random() % (keys.size() + 1), random());
        ASSERT_TRUE(rises(keys)) << "round " << round;
    }
}

TEST(OrderKey, AThousandInsertsBelowOneCardStayShort) {
    std::mt19937_64 random(1);
    Keys keys;
    for (int i = 0; i < 2; ++i) insert_at(keys, keys.size(), random());
    for (int i = 0; i < 1000; ++i) insert_at(keys, 1, random());
    EXPECT_TRUE(rises(keys));
    EXPECT_LT(longest(keys), 260U);
}

TEST(OrderKey, AThousandInsertsAboveOneCardStayShort) {
    std::mt19937_64 random(2);
    Keys keys;
    for (int i = 0; i < 2; ++i) insert_at(keys, keys.size(), random());
    for (int i = 0; i < 1000; ++i) insert_at(keys, keys.size() - 1, random());
    EXPECT_TRUE(rises(keys));
    EXPECT_LT(longest(keys), 260U);
}

TEST(OrderKey, AppendingAndPrependingDoesNotLengthenKeys) {
    std::mt19937_64 random(3);
    std::deque<OrderKey> keys;
    for (int i = 0; i < 20'000; ++i) insert_at(keys, i % 2 ? keys.size() : 0, random());
    EXPECT_TRUE(rises(keys));
    EXPECT_EQ(longest(keys), 8U);
}

TEST(OrderKey, ThereIsRoomBetweenAnyTwoEvenWithTheSameChance) {
    // The worst case for collisions: every draw is the same.
    for (const std::uint64_t random_bits : {std::uint64_t{0}, ~std::uint64_t{0}}) {
        Keys keys;
        for (int i = 0; i < 300; ++i) insert_at(keys, keys.size() / 2, random_bits);
        for (int i = 0; i < 300; ++i) insert_at(keys, 0, random_bits);
        EXPECT_TRUE(rises(keys));
    }
}

TEST(OrderKey, TheEndsOfTheScaleStillTakeKeys) {
    std::mt19937_64 random(4);
    OrderKey low("00000001"), high("zzzzzzzz");
    for (int i = 0; i < 200; ++i) {
        const OrderKey lower = OrderKey::between(none(), low, random());
        const OrderKey higher = OrderKey::between(high, none(), random());
        ASSERT_LT(lower, low);
        ASSERT_GT(higher, high);
        low = lower, high = higher;
    }
}

TEST(OrderKey, ANeighbourWithATailIsRespectedOnBothSides) {
    const OrderKey a("V0000000"), b("V0000000001"), c("V0000001");
    for (std::uint64_t random_bits = 0; random_bits < 200; ++random_bits) {
        const OrderKey first = OrderKey::between(a, b, random_bits);
        const OrderKey second = OrderKey::between(b, c, random_bits);
        ASSERT_TRUE(a < first && first < b) << first.str();
        ASSERT_TRUE(b < second && second < c) << second.str();
    }
}

TEST(OrderKey, NoKeyEndsInAZeroBehindItsHead) {
    // Nothing would fit between "x" and "x0".
    std::mt19937_64 random(5);
    Keys keys;
    for (int i = 0; i < 3000; ++i) insert_at(keys, random() % 3 * keys.size() / 3, random());
    for (const OrderKey& key : keys)
        ASSERT_FALSE(key.str().size() > 8 && key.str().ends_with('0')) << key.str();
}

TEST(OrderKey, TheNumberShownRisesWithTheKey) {
    std::mt19937_64 random(6);
    Keys keys;
    for (int i = 0; i < 1000; ++i) insert_at(keys, random() % (keys.size() + 1), random());
    for (std::size_t i = 1; i < keys.size(); ++i) ASSERT_LE(keys[i - 1].head(), keys[i].head());
    EXPECT_LT(keys.back().head(), std::int64_t{1} << 53) << "a double could not hold it";
}

TEST(OrderKey, SpreadFillsAGapEvenlyOrSaysThatThereIsNoRoom) {
    const OrderKey low("V0000000Zz"), high("V0010000");
    const Keys keys = OrderKey::spread(low, high, 1000);
    ASSERT_EQ(keys.size(), 1000U);
    EXPECT_TRUE(rises(keys));
    EXPECT_GT(keys.front(), low);
    EXPECT_LT(keys.back(), high);
    EXPECT_EQ(longest(keys), 8U);
    for (std::size_t i = 1; i < keys.size(); ++i)
        ASSERT_GE(keys[i].head() - keys[i - 1].head(), 16);
    EXPECT_TRUE(OrderKey::spread(low, high, 1'000'000).empty());
    EXPECT_TRUE(OrderKey::spread(OrderKey("V0000000"), OrderKey("V0000000A"), 1).empty());
}

TEST(OrderKey, SpreadLeavesRoomAtOpenEnds) {
    const OrderKey low("V0000000"), high("V0010000");
    for (const auto& keys :
         {OrderKey::spread(none(), none(), 100'000),
          OrderKey::spread(low, none(), 100'000),
          OrderKey::spread(none(), high, 100'000)}) {
        ASSERT_EQ(keys.size(), 100'000U);
        EXPECT_TRUE(rises(keys));
        EXPECT_EQ(longest(keys), 8U);
        EXPECT_EQ(OrderKey::last(keys.back(), 1).str().size(), 8U);
        EXPECT_EQ(OrderKey::between(none(), keys.front(), 1).str().size(), 8U);
    }
    EXPECT_GT(OrderKey::spread(low, none(), 3).front(), low);
    EXPECT_LT(OrderKey::spread(none(), high, 3).back(), high);
}

TEST(OrderKey, ByTimeEachIsAboveThoseBeforeAndAboveWhatStandsBelow) {
    std::mt19937_64 random(7);
    std::vector<Keys> given(4);
    std::vector<std::thread> threads;
    for (Keys& keys : given)
        threads.emplace_back([&keys, seed = random()] {
            std::mt19937_64 own(seed);
            for (int i = 0; i < 5000; ++i) keys.push_back(OrderKey::last_by_time(own()));
        });
    for (auto& each : threads) each.join();
    std::set<OrderKey> all;
    for (const Keys& keys : given) {
        EXPECT_TRUE(rises(keys));
        all.insert(keys.begin(), keys.end());
    }
    EXPECT_EQ(all.size(), 20'000U);

    OrderKey dragged = OrderKey::last(*all.rbegin(), 1);
    for (int i = 0; i < 1000; ++i) {
        const OrderKey next = OrderKey::last_by_time(random(), dragged);
        ASSERT_GT(next, dragged);
        ASSERT_LT(next, dragged.end_of_moment()) << "the end of a column does not run away";
        dragged = next;
    }
    EXPECT_LT(OrderKey::last_by_time(1), dragged) << "other columns do not follow it";
}

TEST(OrderKey, BetweenRefusesNeighboursInTheWrongOrder) {
    EXPECT_THROW(
        OrderKey::between(OrderKey("V0000001"), OrderKey("V0000001"), 0), std::logic_error
    );
    EXPECT_THROW(
        OrderKey::between(OrderKey("V0000002"), OrderKey("V0000001"), 0), std::logic_error
    );
}

}  // namespace svc::boards
