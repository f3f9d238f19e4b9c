#include "tests/support/in_process_server.hpp"

#include <gtest/gtest.h>

/// The judgement of a caller's role on a board.
namespace svc::test {

namespace {

/// Everything that board_role() may be given; nulls included.
const std::string all_that_may_be =
    "unnest(ARRAY[NULL, '00000000-0000-0000-0000-000000000001']::uuid[]) caller,"
    " unnest(ARRAY[NULL, 'person', 'token', 'agent']) kind,"
    " unnest(ARRAY[NULL, 'viewer', 'member', 'admin', 'owner']) role,"
    " unnest(ARRAY[NULL, 'org', 'private']) visibility,"
    " unnest(ARRAY[NULL, '00000000-0000-0000-0000-000000000001',"
    "  '00000000-0000-0000-0000-000000000002']::uuid[]) maker,"
    " unnest(ARRAY[NULL, 'viewer', 'editor']) granted,"
    " unnest(ARRAY[NULL, true, false]) limited";

/// What it says, in the order in which people would say it.
const std::string in_words =
    "CASE WHEN limited AND granted IS NULL THEN NULL"
    " WHEN maker = caller AND role <> 'viewer' AND limited IS NOT TRUE THEN 'admin'"
    " WHEN granted IS NOT NULL THEN CASE"
    "  WHEN role IN ('owner', 'admin') AND kind <> 'agent' THEN 'admin'"
    "  WHEN role = 'viewer' AND kind <> 'person' THEN 'viewer' ELSE granted END"
    " WHEN role IN ('owner', 'admin') THEN 'admin'"
    " WHEN visibility = 'org' THEN CASE role WHEN 'member' THEN 'editor' ELSE 'viewer' END END";

const std::string asked = "board_role(caller, kind, role, visibility, maker, granted, limited)";

}  // namespace

TEST(BoardRole, IsWhatItSaysInAllCases) {
    EXPECT_EQ(
        in_process().run(
            "SELECT count(*) || ' cases, ' || count(*) FILTER (WHERE " + asked +
            " IS DISTINCT FROM " + in_words + ") || ' others' FROM " + all_that_may_be
        ),
        "3240 cases, 0 others"
    );
}

// Whoever calls it with a query for `limited` gets its body in place, and no call.
TEST(BoardRole, IsPutInPlaceOfItsCalls) {
    const std::string plan = in_process().run(
        "EXPLAIN (VERBOSE, FORMAT JSON) SELECT board_role(b.created_by, 'agent', 'member',"
        " b.visibility, b.created_by, g.role, EXISTS (SELECT FROM board_grants x WHERE x.org_id ="
        " b.org_id)) FROM boards b LEFT JOIN board_grants g ON g.org_id = b.org_id"
    );
    EXPECT_EQ(plan.find("board_role("), std::string::npos) << plan;
    EXPECT_NE(plan.find("CASE"), std::string::npos) << plan;
}

}  // namespace svc::test
