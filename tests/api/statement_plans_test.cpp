#include "tests/rules/sql.hpp"
#include "tests/support/database_role.hpp"
#include "tests/support/postgres.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

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

struct Planned {
    std::string file, name;
    boost::json::value plan;
};

/// Every statement that can be planned by itself, planned once for all values.
std::vector<Planned> plan_all() {
    DatabaseRole planner(Postgres::shared().superuser_url(Postgres::shared().fresh_database()));
    planner.must("SET plan_cache_mode = force_generic_plan");
    std::vector<Planned> out;
    std::set<std::string> names;
    for (const Statement& each : program_statements()) {
        const auto text = preparable(each);
        if (!text || !names.insert(each.name).second || each.file.starts_with("docs/")) continue;
        // Of some the parameters get their types from parts that are not read here.
        if (!planner.run("PREPARE one AS " + *text).state.empty()) continue;
        const Outcome explained =
            planner.run("EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE one" + nulls(parameters_of(*text)));
        planner.must("DEALLOCATE one");
        if (explained.state.empty())
            out.push_back({each.file, each.name, boost::json::parse(explained.rows.at(0).at(0))});
    }
    return out;
}

const std::vector<Planned>& all_plans() {
    static const std::vector<Planned> plans = plan_all();
    return plans;
}

/// The tables that are read from their beginning to their end somewhere in this plan.
void add_scanned(const boost::json::value& plan, std::set<std::string>& tables) {
    if (const auto* list = plan.if_array()) {
        for (const auto& each : *list) add_scanned(each, tables);
    } else if (const auto* node = plan.if_object()) {
        const auto* type = node->if_contains("Node Type");
        if (type && *type == "Seq Scan")
            tables.emplace(node->at("Relation Name").as_string().c_str());
        for (const auto& [key, value] : *node) add_scanned(value, tables);
    }
}

/// Tables that stay as small as the program makes them.
const std::set<std::string> few_rows{
    "event_consumers",
    "event_position",
    "kernel_migrations",
    "pg_authid",
    "pg_database",
    "presence_servers",
    "server_key"
};

/// What looks for work in all workspaces, by a timer, a job or at the start. In a table that nobody
/// has counted yet this seems cheaper than an index.
const std::set<std::string> of_jobs{
    "agents.agents_seen",
    "agents.find_token_anywhere",
    "agents.owners_seen",
    "agents.tokens_seen",
    "auth.sweep_sessions",
    "auth.sweep_sign_ups",
    "automations.find_old_runs",
    "boards.workspaces_that_grew",
    "boards.workspaces_to_count",
    "boards.workspaces_with_changed_counts",
    "boards.workspaces_with_old_trash",
    "content.workspaces_with_old_trash",
    "events.read_missing_ids",
    "files.orphaned_workspaces",
    "files.workspaces_to_sweep",
    "files.workspaces_with_unused",
    "jobs.make_ready",
    "kernel.idempotency_orgs",
    "kernel.sweep_rate_windows",
    "live.workspaces_with_gone_servers",
    "mail.orgs_with_old",
    "mcp.workspaces_with_old_messages",
    "notifications.boards_with_due_cards",
    "notifications.drop_expired",
    "notifications.orgs_with_digests",
    "notifications.orgs_with_old",
    "notifications.orgs_with_work",
    "oauth.forget_old_clients",
    "oauth.forget_unused_clients",
    "oauth.workspaces_with_unused_codes",
    "orgs.claim_address_keys",
    "orgs.invitations_to_key",
    "orgs.members_seen",
    "orgs.people_to_key",
    "orgs.people_with_keys",
    "queue.workspaces_with_depths",
    "queue.workspaces_with_expired",
    "queue.workspaces_with_outcomes",
    "webhooks.find_due_endpoints",
    "webhooks.find_to_drop",
    "webhooks.load_subscriptions",
    "webhooks.load_subscriptions_of",
};
/// What an operator asks for, and /metrics.
const std::set<std::string> of_operators{
    "auth.find_person_of_command",
    "automations.list_disabled",
    "cli.count_jobs",
    "feedback.count_responses",
    "feedback.list_all",
    "feedback.list_with_status",
    "files.kept_objects",
    "mail.count_mails",
    "orgs.all",
    "queue.count_overdue",
    "queue.count_states",
};
/// What requests ask for and is not by key yet, as long as its tables are not counted.
const std::set<std::string> not_by_key_yet{
    "auth.person", "auth.user_of_session", "orgs.list_users"
};

}  // namespace

TEST(StatementPlans, CallNoFunctionThatIsMeantToBePutInPlace) {
    EXPECT_GT(all_plans().size(), 250u);
    for (const Planned& each : all_plans()) {
        const auto plan = boost::json::serialize(each.plan);
        for (const char* function : meant_to_be_inlined)
            EXPECT_EQ(plan.find(std::string(function) + "("), plan.npos)
                << each.file << ": " << each.name << " calls " << function;
    }
}

TEST(StatementPlans, GoThroughNoTableThatGrows) {
    for (const Planned& each : all_plans()) {
        std::set<std::string> tables;
        add_scanned(each.plan, tables);
        for (const auto& table : tables) {
            const bool known = of_jobs.contains(each.name) || of_operators.contains(each.name) ||
                               not_by_key_yet.contains(each.name);
            if (known || few_rows.contains(table)) continue;
            ADD_FAILURE() << each.file << ": " << each.name << " reads all of " << table;
        }
    }
}

}  // namespace svc::test
