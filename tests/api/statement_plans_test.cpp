#include "tests/rules/sql.hpp"
#include "tests/support/database_role.hpp"
#include "tests/support/postgres.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>

/// What the plans of the program's statements say of them, in a database that nobody has analyzed.
namespace svc::test {

namespace {

/// Written in SQL to be put in place of their calls; called, each is read and planned at every
/// execution.
const char* const meant_to_be_inlined[] = {
    "board_role", "card_is_open", "card_sort_key", "lower_role"};

/// The statement as text for PREPARE; nothing where the source has parts that are put together of
/// lists.
std::optional<std::string> preparable(const Statement& statement) {
    static const std::regex of_lists(R"(SVC_|BOOST_PP)");
    if (std::regex_search(statement.text, of_lists)) return std::nullopt;
    static const std::regex one(R"(^\s*(SELECT|INSERT|UPDATE|DELETE|WITH|\())");
    if (!std::regex_search(statement.text, one)) return std::nullopt;
    return statement.text;
}

int parameters_of(const std::string& text) {
    static const std::regex parameter(R"(\$(\d+))");
    int most = 0;
    for (std::sregex_iterator each(text.begin(), text.end(), parameter), end; each != end; ++each)
        most = std::max(most, std::stoi((*each)[1]));
    return most;
}

std::string nulls(int count) {
    std::string list;
    for (int i = 0; i < count; ++i) list += i ? ", NULL" : "NULL";
    return count ? "(" + list + ")" : "";
}

}  // namespace

TEST(StatementPlans, CallNoFunctionThatIsMeantToBePutInPlace) {
    DatabaseRole planner(Postgres::shared().superuser_url(Postgres::shared().fresh_database()));
    planner.must("SET plan_cache_mode = force_generic_plan");
    int planned = 0;
    std::set<std::string> names;
    for (const Statement& each : program_statements()) {
        const auto text = preparable(each);
        if (!text || !names.insert(each.name).second || each.file.starts_with("docs/")) continue;
        // Of some the parameters get their types from parts that are not read here.
        if (!planner.run("PREPARE one AS " + *text).state.empty()) continue;
        const Outcome explained =
            planner.run("EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE one" + nulls(parameters_of(*text)));
        planner.must("DEALLOCATE one");
        if (!explained.state.empty()) continue;
        const std::string& plan = explained.rows.at(0).at(0);
        ++planned;
        for (const char* function : meant_to_be_inlined)
            EXPECT_EQ(plan.find(std::string(function) + "("), plan.npos)
                << each.file << ": " << each.name << " calls " << function;
    }
    EXPECT_GT(planned, 250);
}

}  // namespace svc::test
