#include "svc/types.hpp"
#include "tests/support/database_role.hpp"
#include "tests/support/places.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

/// Two workspaces have a row each in every table that has workspaces. In a session of the server's
/// own role that acts for one of them the other's rows cannot be read, changed, taken over or added
/// to. What the tables are is read off the database, so new ones are covered as they come.
namespace svc::test {

namespace {

struct Column {
    std::string name, type;
    bool required = false, generated = false;
};
struct Table {
    std::string name;
    std::string org;  // the column that says whose a row is
    std::vector<Column> columns;

    std::string writable() const {
        std::string list;
        for (const Column& each : columns)
            if (!each.generated) (list += list.empty() ? "" : ", ") += each.name;
        return list;
    }
};

std::string quoted(const std::string& text) {
    return "'" + std::regex_replace(text, std::regex("'"), "''") + "'";
}

class Tenancy : public testing::Test {
protected:
    static void SetUpTestSuite() {
        url = Postgres::shared().empty_database();
        const TempFolder var("workboard-tenancy");
        const auto migrated = test::run(
            {in_build("bin/workboard"), "migrate", "--database-url", url, "--var", var.path()},
            {},
            source_folder()
        );
        if (migrated.code != 0) throw std::runtime_error(migrated.output);
        owner = std::make_unique<DatabaseRole>(Postgres::shared().superuser_url(url));
        server = std::make_unique<DatabaseRole>(url);
        tables = find_tables();
        // Rows without what they hang on: this is about policies, not about foreign keys.
        owner->must("SET session_replication_role = replica");
        for (const Table& each : tables)
            for (const auto& org : {a, b}) furnish(each, org);
    }
    static void TearDownTestSuite() {
        server.reset();
        owner.reset();
    }

    static std::vector<Table> find_tables() {
        std::vector<Table> all;
        const auto rows = owner->must(R"(
            SELECT c.relname,
                CASE WHEN c.relname = 'orgs' THEN 'id' ELSE 'org_id' END
            FROM pg_class c
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
              AND (c.relname = 'orgs' OR EXISTS (
                  SELECT FROM pg_attribute t WHERE t.attrelid = c.oid AND t.attname = 'org_id'))
            ORDER BY c.relname)");
        for (const auto& row : rows) all.push_back({row[0], row[1], columns_of(row[0])});
        return all;
    }
    static std::vector<Column> columns_of(const std::string& table) {
        std::vector<Column> all;
        const auto rows = owner->must(
            "SELECT attname, format_type(atttypid, atttypmod), attnotnull,"
            " attidentity <> '' OR attgenerated <> '' FROM pg_attribute WHERE attrelid = '" +
            table + "'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
        );
        for (const auto& row : rows) all.push_back({row[0], row[1], row[2] == "t", row[3] == "t"});
        return all;
    }

    /// What a CHECK of the table lets a column be: the first of the texts it names.
    static std::optional<std::string> word_for(const Table& table, const Column& column) {
        const auto checks = owner->must(
            "SELECT pg_get_constraintdef(c.oid) FROM pg_constraint c"
            " JOIN pg_attribute t ON t.attrelid = c.conrelid AND t.attnum = ANY (c.conkey)"
            " WHERE c.contype = 'c' AND c.conrelid = '" +
            table.name + "'::regclass AND t.attname = '" + column.name +
            "' ORDER BY array_length(c.conkey, 1), c.conname"
        );
        for (const auto& check : checks) {
            std::smatch word;
            if (std::regex_search(check[0], word, std::regex("'(\\w+)'::text"))) return word[1];
        }
        return std::nullopt;
    }
    static std::string value_for(const Table& table, const Column& column) {
        if (column.type == "uuid") return quoted(new_uuid().str());
        if (column.type == "text" || column.type.starts_with("character"))
            return quoted(word_for(table, column).value_or("KEY" + std::to_string(++made)));
        if (column.type == "bytea") return "sha256(" + quoted(new_uuid().str()) + "::bytea)";
        if (column.type == "boolean") return "true";
        if (column.type == "jsonb" || column.type == "json") return "'{}'";
        if (column.type.starts_with("timestamp") || column.type == "date") return "now()";
        if (column.type == "interval") return "'1 hour'";
        if (column.type == "inet") return "'192.0.2.1'";
        if (column.type.ends_with("[]")) return "'{}'";
        if (column.type == "tsvector") return "''";
        if (column.type == "xid8") return "'1'";
        return std::to_string(++made);  // a number
    }
    /// A row with all that has to be there; the first try that the table's checks let through.
    static void furnish(const Table& table, const std::string& org) {
        std::string problem;
        for (const bool everything : {false, true}) {
            std::string names, values;
            for (const Column& each : table.columns) {
                if (each.generated || (!each.required && !everything && each.name != table.org))
                    continue;
                (names += names.empty() ? "" : ", ") += each.name;
                (values += values.empty() ? "" : ", ") +=
                    each.name == table.org ? quoted(org) : value_for(table, each);
            }
            const auto out = owner->run(
                "INSERT INTO " + table.name + " (" + names + ") VALUES (" + values + ")"
            );
            if (out.state.empty()) return;
            problem += out.message;
        }
        ADD_FAILURE() << table.name << " has no row of " << org
                      << ", so nothing about it can be shown: " << problem;
    }

    static std::string acting_for(const std::string& org) {
        return "SELECT set_config('app.org_id', " + quoted(org) +
               ", true), set_config('app.user_id', " + quoted(new_uuid().str()) + ", true)";
    }
    static std::string where(const Table& table, const std::string& org) {
        return " WHERE " + table.org + " = " + quoted(org);
    }
    static std::size_t rows_of(const Table& table, const std::string& org) {
        return std::stoul(
            owner->must("SELECT count(*) FROM " + table.name + where(table, org))[0][0]
        );
    }

    static std::size_t count(
        const std::string& settings, const Table& table, const std::string& which
    ) {
        const auto seen = server->attempt(settings, "SELECT count(*) FROM " + table.name + which);
        if (!seen.state.empty()) throw std::runtime_error(seen.message);
        return std::stoul(seen.rows[0][0]);
    }

    // What is wrong with a table's walls, in the eyes of one that acts for `a`; nothing when they
    // hold.
    static std::string reading(const Table& table) {
        const auto theirs = count(acting_for(a), table, where(table, b));
        const auto others = count(acting_for(a), table, " WHERE " + table.org + " <> " + quoted(a));
        if (theirs == 0 && others == 0) return "";
        return table.name + ": rows of others are seen";
    }
    static std::string changing(const Table& table) {
        for (const std::string& sql :
             {"UPDATE " + table.name + " SET " + table.org + " = " + table.org + where(table, b),
              "DELETE FROM " + table.name + where(table, b)}) {
            const auto done = server->attempt(acting_for(a), sql);
            // A right that the role has given up altogether is as good as a policy.
            if (done.affected == 0 && (done.state.empty() || done.refused_by_policy())) continue;
            return sql + ": " + std::to_string(done.affected) + " rows, " + done.message;
        }
        return "";
    }
    static std::string giving_away(const Table& table) {
        const auto done = server->attempt(
            acting_for(a),
            "UPDATE " + table.name + " SET " + table.org + " = " + quoted(b) + where(table, a)
        );
        const bool nothing_to_change = done.state.empty() && done.affected == 0;
        if (done.refused_by_policy() || nothing_to_change) return "";
        return table.name + ": " + std::to_string(done.affected) + " rows given, " + done.message;
    }
    static std::string adding(const Table& table) {
        const auto row = owner->must(
            "SELECT to_json(t) FROM " + table.name + " t" + where(table, b) + " LIMIT 1"
        );
        if (row.empty()) return table.name + " has no row to add another time";
        const auto done = server->attempt(
            acting_for(a),
            "INSERT INTO " + table.name + " (" + table.writable() + ") SELECT " + table.writable() +
                " FROM json_populate_record(NULL::" + table.name + ", " + quoted(row[0][0]) + ")"
        );
        if (done.refused_by_policy()) return "";
        return table.name + ": a row is not refused for whose it is, but: " + done.message;
    }

    inline static std::string url;
    inline static const std::string a = new_uuid().str(), b = new_uuid().str();
    inline static std::unique_ptr<DatabaseRole> owner, server;
    inline static std::vector<Table> tables;
    inline static int made = 0;
};

TEST_F(Tenancy, EveryTableHasRowsOfBothWorkspaces) {
    ASSERT_GT(tables.size(), 15u) << "the tables are not found where they are expected";
    for (const Table& each : tables) {
        EXPECT_GT(rows_of(each, a), 0u) << each.name;
        EXPECT_GT(rows_of(each, b), 0u) << each.name;
    }
}

TEST_F(Tenancy, TheServersRoleIsBelowThePolicies) {
    const auto role =
        server->must("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user");
    EXPECT_EQ(role[0][0], "f");
    for (const Table& each : tables)
        EXPECT_EQ(
            server->must(
                "SELECT relrowsecurity AND relforcerowsecurity AND"
                " relowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)"
                " FROM pg_class WHERE oid = '" +
                each.name + "'::regclass"
            )[0][0],
            "t"
        ) << each.name
          << " is not the server's own, or its policies are not forced";
}

TEST_F(Tenancy, OnesOwnRowsAreSeen) {
    for (const Table& each : tables)
        EXPECT_EQ(count(acting_for(a), each, where(each, a)), rows_of(each, a)) << each.name;
}

TEST_F(Tenancy, OthersRowsAreNotSeen) {
    for (const Table& each : tables) EXPECT_EQ(reading(each), "");
}

TEST_F(Tenancy, NobodySeesAnything) {
    for (const Table& each : tables) EXPECT_EQ(count("SELECT 1", each, ""), 0u) << each.name;
}

TEST_F(Tenancy, OthersRowsAreNotChanged) {
    for (const Table& each : tables) EXPECT_EQ(changing(each), "");
}

TEST_F(Tenancy, OnesOwnRowsAreNotGivenAway) {
    for (const Table& each : tables) EXPECT_EQ(giving_away(each), "");
}

TEST_F(Tenancy, RowsAreNotAddedToOthers) {
    for (const Table& each : tables) EXPECT_EQ(adding(each), "");
}

// The walk sees a table that somebody forgot to wall off, and one whose wall has a hole.
TEST_F(Tenancy, AGapIsFound) {
    server->must("CREATE TABLE open_gap (org_id uuid PRIMARY KEY, note text NOT NULL)");
    server->must("CREATE TABLE half_gap (org_id uuid PRIMARY KEY, note text NOT NULL)");
    server->must("ALTER TABLE half_gap ENABLE ROW LEVEL SECURITY");
    server->must("ALTER TABLE half_gap FORCE ROW LEVEL SECURITY");
    server->must("CREATE POLICY by_org ON half_gap USING (org_id = svc_org()) WITH CHECK (true)");
    const Table open{"open_gap", "org_id", columns_of("open_gap")};
    const Table half{"half_gap", "org_id", columns_of("half_gap")};
    for (const Table& each : {open, half})
        for (const auto& org : {a, b}) furnish(each, org);
    EXPECT_NE(reading(open), "");
    EXPECT_NE(changing(open), "");
    EXPECT_NE(giving_away(open), "");
    EXPECT_EQ(reading(half), "");
    EXPECT_EQ(changing(half), "");
    EXPECT_NE(adding(half), "");
    server->must("DROP TABLE open_gap, half_gap");
}

// Where the server's database is its own, an index is asked for words before the policy is asked
// whose they are. It is asked all the same.
TEST_F(Tenancy, WordsOfOthersAreNotFound) {
    owner->must("ALTER FUNCTION ts_match_vq(tsvector, tsquery) LEAKPROOF");
    for (const std::string table : {"cards", "blocks", "comments"}) {
        const auto words = owner->must(
            "SELECT array_to_string(tsvector_to_array(words), ' & ') FROM " + table +
            " WHERE org_id = " + quoted(b)
        )[0][0];
        ASSERT_NE(words, "");
        const std::string find =
            "SELECT count(*) FROM " + table + " WHERE words @@ " + quoted(words) + "::tsquery";
        const std::string by_index = ", set_config('enable_seqscan', 'off', true)";
        std::string plan;
        const auto steps = server->attempt(acting_for(a) + by_index, "EXPLAIN " + find);
        for (const auto& step : steps.rows) plan += step[0] + "\n";
        EXPECT_NE(plan.find(table + "_by_words"), plan.npos) << plan;
        EXPECT_EQ(server->attempt(acting_for(a) + by_index, find).rows[0][0], "0") << table;
        EXPECT_EQ(server->attempt(acting_for(b) + by_index, find).rows[0][0], "1") << table;
    }
}

// A view shows what its reader may see, not what its owner may.
TEST_F(Tenancy, ViewsAskForTheirReader) {
    const auto open = server->must(R"(
        SELECT c.relname FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('v', 'm')
          AND NOT coalesce('security_invoker=true' = ANY (c.reloptions), false))");
    for (const auto& each : open) ADD_FAILURE() << each[0] << " is not security_invoker";
}

}  // namespace
}  // namespace svc::test
