#include "events/gaps.hpp"

#include <gmock/gmock.h>

namespace svc::test {

namespace {

using events::Gaps;
using events::IdRange;
using events::Running;
using testing::ElementsAre;
using testing::IsEmpty;

/// Rows 1 to 10 were met, but for 4, 5 and 8, before transaction 100 began.
Gaps some() {
    Gaps gaps;
    gaps.meet({1, 2, 3, 6, 7, 9, 10});
    gaps.name_youngest(100);
    return gaps;
}

}  // namespace

TEST(Running, SaysWhoHasEnded) {
    const Running running("10:20:10,14");
    EXPECT_TRUE(running.ended(9));
    EXPECT_FALSE(running.ended(10));
    EXPECT_TRUE(running.ended(12));
    EXPECT_FALSE(running.ended(20));
    EXPECT_THAT(*running.before(14), ElementsAre(10));
    EXPECT_FALSE(running.before(21)) << "20 may run, and is not named";
    EXPECT_THAT(*Running("20:20:").before(20), IsEmpty());
    EXPECT_THROW(Running("x"), std::invalid_argument);
}

TEST(Gaps, AreWhatIsMissingBelowTheHighest) {
    Gaps gaps = some();
    EXPECT_EQ(gaps.high_water(), 10);
    EXPECT_EQ(gaps.low_water(), 3);
    EXPECT_THAT(gaps.youngest(32), ElementsAre(IdRange{4, 5}, IdRange{8, 8}));
    gaps.found(4);
    gaps.found(8);
    EXPECT_THAT(gaps.youngest(32), ElementsAre(IdRange{5, 5}));
    EXPECT_EQ(gaps.low_water(), 4);
    gaps.found(5);
    EXPECT_TRUE(gaps.empty());
    EXPECT_EQ(gaps.low_water(), 10);
}

TEST(Gaps, AreForgottenWhenNobodyCanFillThemAnyMore) {
    Gaps gaps = some();
    gaps.youngest(32);
    gaps.settle(Running("90:101:90"));
    EXPECT_FALSE(gaps.empty()) << "90 is older than 100";
    gaps.youngest(32);
    gaps.settle(Running("103:104:103"));
    EXPECT_TRUE(gaps.empty()) << "103 began after all of the ids were drawn";
    EXPECT_EQ(gaps.low_water(), 10);
}

// An id may be drawn by a transaction that no snapshot names yet: it is younger than all that have
// ended, and older than the one that the gap is judged by.
TEST(Gaps, WaitForTransactionsThatNoSnapshotNames) {
    Gaps gaps = some();
    gaps.youngest(32);
    gaps.settle(Running("95:95:"));
    EXPECT_EQ(gaps.low_water(), 3);
}

TEST(Gaps, OfALongTransactionAreLeftAloneUntilItEnds) {
    Gaps gaps = some();
    gaps.youngest(32);
    gaps.settle(Running("90:101:90"));
    EXPECT_THAT(gaps.youngest(1), IsEmpty()) << "more than are looked into at once";
    EXPECT_THAT(gaps.due(Running("90:150:90,120,130")), IsEmpty());
    gaps.youngest(1);
    EXPECT_THAT(gaps.due(Running("120:151:120,130")), ElementsAre(IdRange{4, 5}, IdRange{8, 8}));
    gaps.settle(Running("120:151:120,130"));
    EXPECT_TRUE(gaps.empty());
}

TEST(Gaps, ThatWereNotLookedIntoAreDue) {
    Gaps gaps = some();
    EXPECT_THAT(gaps.youngest(1), IsEmpty());
    EXPECT_THAT(gaps.due(Running("90:101:90")), ElementsAre(IdRange{4, 5}, IdRange{8, 8}));
}

TEST(Gaps, OfOneTransactionAreOneGeneration) {
    Gaps gaps = some();
    for (std::int64_t id = 12; id < 400; id += 2) {  // one rolled back in front of each
        gaps.meet({id});
        gaps.name_youngest(100 + id);
        gaps.youngest(32);
        gaps.due(Running("90:1000:90"));
        gaps.settle(Running("90:1000:90"));
    }
    EXPECT_EQ(gaps.size(), 196u);
    EXPECT_THAT(gaps.youngest(32), IsEmpty());
    EXPECT_THAT(gaps.due(Running("90:1000:90")), IsEmpty());
    gaps.youngest(32);
    EXPECT_EQ(gaps.due(Running("1000:1000:")).size(), 196u);
    gaps.settle(Running("1000:1000:"));
    EXPECT_TRUE(gaps.empty());
}

TEST(Gaps, AJumpOfTheSequenceIsOneRange) {
    Gaps gaps(0, 0, {}, 1);
    gaps.meet({1, 2'000'000'000'000});
    EXPECT_EQ(gaps.size(), 1u);
    gaps.found(1'000'000);
    EXPECT_EQ(gaps.size(), 2u);
}

TEST(Gaps, AreFullWhenTheyAreTooMany) {
    Gaps gaps(0, 0, {}, 1, 100);
    for (std::int64_t id = 2; id < 200; id += 2) gaps.meet({id});
    EXPECT_FALSE(gaps.full());
    gaps.meet({200});
    EXPECT_TRUE(gaps.full());
    gaps.found(1);
    EXPECT_FALSE(gaps.full());
}

}  // namespace svc::test
