// Which block of an old text is which of a new one, by itself: no database.

#include "modules/content/parts/matching.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace svc::test {

using namespace svc::content;
using testing::ElementsAre;
using testing::Optional;

namespace {
Likeness like(const char* whole, const char* own = nullptr, int type = 0) {
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
        std::vector<Likeness> before, after;
        const auto fill = [&](std::vector<Likeness>& list) {
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

}  // namespace svc::test
