#include "svc/types.hpp"

#include <gtest/gtest.h>

namespace svc::test {
namespace {

/// Another file has a struct of this name, in which the member is elsewhere.
struct Twin {
    std::int64_t member = 1;
};
SVC_RECORD(Twin, (member));

}  // namespace

TEST(Twins, AStructOfOneMemberKnowsItsOwn) {
    Twin twin;
    twin.member = 7;
    EXPECT_EQ(record_of<Twin>().find("member")->in(&twin), &twin.member);
    EXPECT_EQ(to_json(twin), R"({"member":7})");
}

}  // namespace svc::test
