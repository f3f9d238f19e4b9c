#include "svc/types.hpp"

#include <gtest/gtest.h>

namespace svc::test {
namespace {

/// Another file has a struct of this name, in which the member is elsewhere.
struct Twin {
    std::int64_t before = 2;
    std::int64_t member = 3;
};
SVC_RECORD(Twin, (before), (member));

}  // namespace

TEST(Twins, AStructOfTwoMembersKnowsItsOwn) {
    Twin twin;
    EXPECT_EQ(record_of<Twin>().find("member")->in(&twin), &twin.member);
    EXPECT_EQ(to_json(twin), R"({"before":2,"member":3})");
}

}  // namespace svc::test
