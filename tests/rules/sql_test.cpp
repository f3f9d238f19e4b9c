#include "tests/rules/sql.hpp"

#include <gtest/gtest.h>

/// What lets the schema be distributed by workspace one day, and keeps workspaces apart today.
/// docs/decisions/0005-one-database-ready-to-be-many.md says why.
namespace svc::test {

namespace {

/// The small directory: who there is and what they belong to. These become reference tables, so
/// they may be keyed and asked by something else than the workspace.
const std::set<std::string> directory{
    "users", "sessions", "orgs", "memberships", "invitations", "tokens"};

/// What is read in one order over all workspaces: by the kernel, by whoever sends to webhooks, and
/// by the operator. A distributed table asks that keys hold the workspace, not that they begin with
/// it.
const std::set<std::string> ordered_over_all{
    "outbox",
    "events",
    "event_log",
    "event_chain",
    "jobs",
    "webhook_endpoints",
    "feedback_reports"};

bool changes_rows(const Words& words) {
    for (std::size_t at = 0; at < words.size(); ++at) {
        if (says(words, at, {"delete", "from"})) return true;
        const bool locks = at > 0 && (words[at - 1] == "for" || words[at - 1] == "key");
        const bool upsert = at > 0 && words[at - 1] == "do";
        if (words[at] == "update" && !locks && !upsert) return true;
    }
    return false;
}

/// The tables a statement reads or writes, once for every time it names one.
std::vector<std::string> tables_of(const Words& words) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at + 1 < words.size(); ++at) {
        const auto& word = words[at];
        if (word != "from" && word != "join" && word != "into" && word != "update" &&
            word != "using")
            continue;
        if (at > 0 && word == "update" && (words[at - 1] == "for" || words[at - 1] == "do"))
            continue;
        out.push_back(
            words[at + 1] == "only" && at + 2 < words.size() ? words[at + 2] : words[at + 1]
        );
    }
    return out;
}

bool is_tenant(const std::map<std::string, Table>& all, const std::string& name) {
    const auto found = all.find(name);
    return found != all.end() && found->second.has("org_id") && !directory.contains(name);
}

}  // namespace

// Under row-level security an index answers only for what is known to give nothing away, and
// coalesce() is not, unless it is a query of its own: `id = (SELECT coalesce(…))`. Without that
// every row of every workspace is looked at.
TEST(Sql, KeysAreComparedWithWhatIndexesMayAnswerFor) {
    for (const auto& each : program_statements())
        for (std::size_t at = 0; at + 2 < each.words.size(); ++at)
            for (const char* function : {"coalesce", "greatest", "least"})
                EXPECT_FALSE(
                    each.words[at].ends_with("id") && says(each.words, at + 1, {"=", function})
                ) << each.file
                  << ": " << each.name;
}

// What policies go by is set first, by a statement of its own. In which order one statement does
// its parts is the planner's choice, which changes with what it knows of the tables.
TEST(Sql, WhatPoliciesGoByIsNotSetWhileTablesAreRead) {
    const auto sets = [](const Statement& each) {
        static const std::regex set(R"(set_config\(\s*'app\.)");
        return each.text.find("set_config") != each.text.npos && std::regex_search(each.text, set);
    };
    std::set<std::string> setters;
    for (const auto& function : functions())
        for (const auto& step : function.steps) {
            if (!sets(step)) continue;
            setters.insert(function.name);
            EXPECT_TRUE(tables_of(step.words).empty())
                << function.file << ": " << function.name << " reads a table and sets in one step";
        }
    EXPECT_GT(setters.size(), 5u) << "the functions are not found where they are expected";
    for (const auto& each : program_statements()) {
        const auto calls = std::ranges::count_if(each.words, [&](const auto& word) {
            return setters.contains(word);
        });
        if (calls == 0 && !sets(each)) continue;
        EXPECT_LE(calls, 1) << each.file << ": " << each.name;
        for (const auto& table : tables_of(each.words))
            EXPECT_TRUE(setters.contains(table))
                << each.file << ": " << each.name << " reads " << table << " while it sets";
    }
}

// Whoever has no right to a row holds nobody up on it, and waits for nobody: what locks asks who it
// is, unless it passes by what is locked.
TEST(Sql, LocksAreForThoseWhoMay) {
    const std::set<std::string> others{
        // For administrators alone, which is asked before; or for the operator's commands.
        "agents.lock_agent",
        "webhooks.lock",
        "webhooks.lock_endpoint",
        "auth.find_person_of_command",
        "feedback.lock_report",
        "mail.requeue",
        "orgs.find_named",
        // The caller's own: account, tokens, workspace, lease.
        "agents.lock_token",
        "agents.look_at_budgets",
        "auth.lock_account",
        "auth.lock_preferences",
        "auth.oauth_lock_account",
        "boards.lock_stored_bytes",
        "notifications.lock_inbox",
        "oauth.lock_grant",
        "orgs.lock_entered",
        "orgs.lock_seats",
        "orgs.lock_self",
        "queue.named_lease",
        // In jobs, and on cards that are locked by then.
        "boards.lock_board_of_copy",
        "boards.take_board_copy",
        "jobs.lock_held",
        "orgs.lock_deleted",
        "boards.lock_cards_that_came_to_wait",
        "boards.lock_waiting_for_old_cards",
        "files.take_values",
        "notifications.lock_inboxes",
        "notifications.lock_inboxes_of",
        "queue.lock_rows",
        "queue.see_blockers",
        "webhooks.lock_active",
        "webhooks.lock_endpoints",
        "webhooks.lock_full",
        "webhooks.lock_leased",
        "webhooks.lock_removed",
        // Of files that are found to be the caller's own, or shown to the caller.
        "files.attach",
        "files.take_place",
        // Of a card that the caller was found to see, or in the job that copies its board.
        "content.hold_source",
    };
    for (const auto& each : program_statements()) {
        const auto& words = each.words;
        bool locks = false;
        for (std::size_t at = 0; at < words.size(); ++at)
            locks |= says(words, at, {"for", "update"}) || says(words, at, {"for", "share"}) ||
                     says(words, at, {"for", "no", "key", "update"}) ||
                     says(words, at, {"for", "key", "share"});
        if (!locks || says(words, {"skip", "locked"}) || says(words, {"board_role"})) continue;
        EXPECT_TRUE(others.contains(each.name)) << each.file << ": " << each.name;
    }
}

// Of tables that nobody analyzed the planner expects one row, and then compares every row with all
// that a parameter brings. Keys found one by one cost the same whatever it expects.
TEST(Sql, WhatAParameterBringsIsNotJoinedToWhatIsChanged) {
    for (const auto& each : program_statements())
        for (const char* set : {"json_to_recordset", "jsonb_to_recordset"})
            EXPECT_FALSE(says(each.words, {"update"}) && says(each.words, {"from", set}))
                << each.file << ": " << each.name;
}

TEST(Sql, WhatGoesRoundJoinsRowByRow) {
    int found = 0;
    for (const auto& each : program_statements())
        for (std::size_t from = 0; from + 2 < each.words.size(); ++from) {
            if (!says(each.words, from + 1, {"as", "("})) continue;
            const std::string name = each.words[from];
            for (std::size_t at = from + 3, open = 1; open > 0 && at + 3 < each.words.size();
                 ++at) {
                if (each.words[at] == "(") ++open;
                if (each.words[at] == ")") --open;
                if (!says(each.words, at, {"from", name})) continue;
                ++found;
                const bool alias = each.words[at + 2] != "join" && each.words[at + 2] != "cross";
                EXPECT_NE(each.words[at + (alias ? 3 : 2)], "join")
                    << each.file << ": " << each.name << " joins " << name
                    << " otherwise than by CROSS JOIN LATERAL (… OFFSET 0)";
            }
        }
    EXPECT_GT(found, 3) << "the statements are not found where they are expected";
}

TEST(Sql, EveryStatementHasANameOfItsModulesOwn) {
    std::map<std::string, std::string> seen;
    const auto all = program_statements();
    ASSERT_GT(all.size(), 20u) << "the statements are not found where they are expected";
    for (const auto& each : all) {
        const auto dot = each.name.find('.');
        ASSERT_NE(dot, std::string::npos) << each.file << ": " << each.name;
        const auto module = each.name.substr(0, dot);
        const bool at_home = each.file.starts_with("modules/" + module + "/") ||
                             each.file.starts_with("plugins/" + module + "/") ||
                             each.file.starts_with("docs/examples/" + module + "/") ||
                             each.file.starts_with("kernel/");
        EXPECT_TRUE(at_home) << each.name << " stands in " << each.file;
        EXPECT_TRUE(seen.emplace(each.name, each.file).second)
            << each.name << " is in " << each.file << " and in " << seen[each.name];
    }
}

TEST(Sql, EveryStatementOnTenantTablesNamesTheWorkspace) {
    const auto all = tables();
    auto statements = program_statements();
    std::set<std::string> shapes;  // views show tenant tables and count as one
    for (auto& view : views()) {
        shapes.insert(view.name);
        statements.push_back(std::move(view));
    }
    for (const auto& each : statements) {
        ASSERT_FALSE(each.words.empty()) << each.name << " of " << each.file << " was not found";
        // Which of all workspaces' jobs are due, and how many there are.
        if (each.file.starts_with("kernel/") && says(each.words, {"jobs"})) continue;
        const auto named = tables_of(each.words);
        const auto tenants = std::ranges::count_if(named, [&](const auto& name) {
            return is_tenant(all, name) || shapes.contains(name);
        });
        EXPECT_GE(std::ranges::count(each.words, "org_id"), tenants)
            << each.name << " touches " << tenants
            << " tenant tables; each needs its org_id in the condition or the values";
    }
}

TEST(Sql, NothingVolatileDecidesAChange) {
    for (const auto& each : program_statements()) {
        for (const std::string_view word : {"clock_timestamp", "gen_random_uuid", "timeofday"})
            EXPECT_FALSE(says(each.words, {word})) << each.name << " uses " << word;
        if (!changes_rows(each.words)) continue;
        for (const std::string_view word : {"random", "nextval", "pg_sleep", "setval"})
            EXPECT_FALSE(says(each.words, {word, "("})) << each.name << " uses " << word;
    }
}

TEST(Sql, EveryTenantTableIsKeyedByTheWorkspaceFirst) {
    for (const auto& [name, table] : tables()) {
        if (!table.has("org_id") || directory.contains(name)) continue;
        ASSERT_FALSE(table.primary_key.empty()) << name << " in " << table.file;
        if (ordered_over_all.contains(name)) {
            EXPECT_EQ(std::ranges::count(table.primary_key, "org_id"), 1) << name;
            continue;
        }
        EXPECT_EQ(table.primary_key.front(), "org_id") << name << " in " << table.file;
    }
}

TEST(Sql, EveryTableWithAWorkspaceHasForcedRowSecurity) {
    int seen = 0;
    for (const auto& [name, table] : tables()) {
        if (!table.has("org_id") && !directory.contains(name)) continue;
        ++seen;
        EXPECT_TRUE(table.row_security) << name << " in " << table.file;
        EXPECT_TRUE(table.forced) << name << " in " << table.file;
        EXPECT_TRUE(table.policy) << name << " in " << table.file;
    }
    EXPECT_GT(seen, 8);
}

TEST(Sql, IndexesAndForeignKeysOfTenantTablesBeginWithTheWorkspace) {
    const auto all = tables();
    for (const auto& file : migrations()) {
        for (const auto& statement : statements_of(file)) {
            const auto& words = statement.words;
            for (std::size_t at = 0; at + 2 < words.size(); ++at) {
                const bool index = words[at] == "on" && words[0] == "create" &&
                                   (words[1] == "index" || words[2] == "index");
                if (index && ordered_over_all.contains(words[at + 1])) break;
                if (index && is_tenant(all, words[at + 1])) {
                    const auto open = std::ranges::find(words, "(") - words.begin();
                    EXPECT_EQ(names_at(words, static_cast<std::size_t>(open)).front(), "org_id")
                        << file.path << ":" << statement.text;
                    break;
                }
                if (!says(words, at, {"foreign", "key", "("})) continue;
                if (!says(words, 0, {"alter", "table"}) || !is_tenant(all, words[2])) continue;
                EXPECT_EQ(names_at(words, at + 2).front(), "org_id")
                    << file.path << ":" << statement.text;
            }
        }
    }
}

// A distributed table takes foreign keys only once it is distributed.
TEST(Sql, ForeignKeysComeInAStepAfterTheTable) {
    const auto all = tables();
    for (const auto& file : migrations()) {
        for (const auto& statement : statements_of(file)) {
            const auto& words = statement.words;
            if (!says(words, 0, {"create", "table"}) || !is_tenant(all, words[2])) continue;
            EXPECT_FALSE(says(words, {"references"})) << file.path << ": " << words[2];
        }
    }
}

TEST(Sql, MigrationsAreNumberedWithoutGaps) {
    std::map<std::string, std::vector<std::string>> folders;
    for (const auto& file : migrations())
        folders[fs::path(file.path).parent_path().string()].push_back(file.name());
    ASSERT_FALSE(folders.empty());
    for (const auto& [folder, names] : folders) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto number = std::to_string(10000 + i + 1).substr(1);
            EXPECT_TRUE(names[i].starts_with(number + "_")) << folder << "/" << names[i];
        }
    }
}

}  // namespace svc::test
