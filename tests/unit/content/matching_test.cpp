// Which block of an old text is which of a new one, by itself: no database.

#include "modules/content/lib/matching.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

namespace svc::test {

using namespace svc::content;
using testing::ElementsAre;
using testing::Optional;

namespace {
BlockSignature like(const char* whole, const char* own = nullptr, int type = 0) {
    return {whole, own ? own : whole, type};
}
}  // namespace

TEST(Matching, FindsWhatStayedWhatChangedAndWhatMoved) {
    EXPECT_THAT(
        matched({like("a"), like("b"), like("c")}, {like("a"), like("new"), like("c")}),
        ElementsAre(Optional(0U), Optional(1U), Optional(2U))
    );
    EXPECT_THAT(
        matched({like("a"), like("b", "b", 1), like("c")}, {like("a"), like("new"), like("c")}),
        ElementsAre(Optional(0U), std::nullopt, Optional(2U))
    );
    EXPECT_THAT(
        matched({like("a"), like("b"), like("c")}, {like("b"), like("c"), like("a")}),
        ElementsAre(Optional(1U), Optional(2U), Optional(0U))
    );
}

TEST(Matching, UsesEachOnceWhateverTheLists) {
    std::mt19937 engine(7);
    for (int round = 0; round < 500; ++round) {
        std::vector<BlockSignature> before, after;
        const auto fill = [&](std::vector<BlockSignature>& list) {
            for (int i = static_cast<int>(engine() % 12); i > 0; --i) {
                const std::string own = std::to_string(engine() % 5);
                list.push_back(
                    {own + std::to_string(engine() % 2), own, static_cast<int>(engine() % 3)}
                );
            }
        };
        fill(before);
        fill(after);
        const auto pairs = matched(before, after);
        ASSERT_EQ(pairs.size(), after.size());
        std::set<std::size_t> used;
        for (const auto& each : pairs) {
            if (!each) continue;
            ASSERT_LT(*each, before.size());
            ASSERT_TRUE(used.insert(*each).second);
        }
    }
}

TEST(Matching, TheMostThatRiseStayWhereTheyAre) {
    using Pairs = std::vector<std::optional<std::size_t>>;
    const auto rise = [](const Pairs& pairs) { return longest_rise(pairs); };
    EXPECT_THAT(rise({}), ElementsAre());
    EXPECT_THAT(rise({std::nullopt, std::nullopt}), ElementsAre(false, false));
    EXPECT_THAT(rise({1, 2, 3, 0}), ElementsAre(true, true, true, false));
    EXPECT_THAT(rise({3, std::nullopt, 0, 1}), ElementsAre(false, false, true, true));
    std::mt19937 engine(5);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::size_t> order(engine() % 9);
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::shuffle(order, engine);
        std::size_t most = 0;
        for (unsigned some = 0; some < 1U << order.size(); ++some) {
            std::vector<std::size_t> chosen;
            for (std::size_t i = 0; i < order.size(); ++i)
                if (some >> i & 1) chosen.push_back(order[i]);
            if (std::ranges::is_sorted(chosen)) most = std::max(most, chosen.size());
        }
        const auto found = rise(Pairs(order.begin(), order.end()));
        std::vector<std::size_t> stays;
        for (std::size_t i = 0; i < order.size(); ++i)
            if (found[i]) stays.push_back(order[i]);
        ASSERT_TRUE(std::ranges::is_sorted(stays));
        ASSERT_EQ(stays.size(), most);
    }
}

}  // namespace svc::test
