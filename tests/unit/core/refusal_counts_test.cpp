#include "core/refusal_counts.hpp"

#include <gtest/gtest.h>

namespace svc::core {
namespace {

using Clock = RefusalCounts::Clock;

struct Refusals : testing::Test {
    Refusals() {
        ada.id = new_uuid();
        ada.org_id = new_uuid();
    }
    int alone(const Caller& caller, std::string_view operation, int times) {
        int count = 0;
        for (int i = 0; i < times; ++i)
            count += counts.alone(caller, operation, "restricted_resource", "No.", now);
        return count;
    }
    RefusalCounts counts;
    Caller ada;
    Clock::time_point now = Clock::now();
};

TEST_F(Refusals, HaveAnEntryEachUntilThereAreMany) {
    EXPECT_EQ(alone(ada, "delete_org", RefusalCounts::most_alone), RefusalCounts::most_alone);
    EXPECT_TRUE(counts.take(now).empty());
    EXPECT_EQ(alone(ada, "delete_org", 35), RefusalCounts::most_alone) << "a new window";
    const auto rest = counts.take(now);
    ASSERT_EQ(rest.size(), 1u);
    EXPECT_EQ(rest[0].count, 35 - RefusalCounts::most_alone);
    EXPECT_EQ(rest[0].operation, "delete_org");
    EXPECT_EQ(rest[0].caller.id, ada.id);
    EXPECT_EQ(rest[0].message, "No.");
    EXPECT_TRUE(counts.take(now).empty());
}

TEST_F(Refusals, AreCountedUntilTheirWindowEnds) {
    alone(ada, "delete_org", 100);
    EXPECT_TRUE(counts.take(now - std::chrono::seconds(1)).empty());
    now += RefusalCounts::longest;
    EXPECT_EQ(alone(ada, "delete_org", 100), 0);
    const auto rest = counts.take(now - RefusalCounts::longest);
    ASSERT_EQ(rest.size(), 1u);
    EXPECT_EQ(rest[0].count, 200 - RefusalCounts::most_alone);
}

TEST_F(Refusals, OfOthersAndOfOtherThingsCountForThemselves) {
    Caller bob = ada, elsewhere = ada;
    bob.id = new_uuid();
    elsewhere.org_id = new_uuid();
    alone(ada, "delete_org", 100);
    for (const auto& [caller, operation] :
         {std::pair(ada, "update_org"),
          std::pair(bob, "delete_org"),
          std::pair(elsewhere, "delete_org")})
        EXPECT_EQ(alone(caller, operation, 20), RefusalCounts::most_alone);
    EXPECT_EQ(counts.take(now).size(), 4u);
}

}  // namespace
}  // namespace svc::core
