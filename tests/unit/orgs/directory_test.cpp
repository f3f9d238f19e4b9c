#include "svc/types.hpp"
#include "tests/support/database_role.hpp"
#include "tests/support/places.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/program.hpp"

#include <gtest/gtest.h>

/// What the server's own role may do to people, seats, sessions, passwords and tokens: less than it
/// may see of them.
namespace svc::test {

namespace {

class DirectoryPolicies : public testing::Test {
protected:
    static void SetUpTestSuite() {
        url = Postgres::shared().empty_database();
        const TempFolder var("workboard-directory");
        const auto migrated = test::run(
            {in_build("bin/workboard"), "migrate", "--database-url", url, "--var", var.path()},
            {},
            source_folder()
        );
        if (migrated.code != 0) throw std::runtime_error(migrated.output);
        server = std::make_unique<DatabaseRole>(url);
        DatabaseRole owner(Postgres::shared().superuser_url(url));
        owner.must(
            "INSERT INTO orgs (id, name, slug, created_by, last_edited_by) VALUES ('" + org +
            "', 'Acme', 'acme', '" + ada + "', '" + ada + "')"
        );
        for (const auto& [id, name] : {std::pair(ada, "ada"), std::pair(bob, "bob")}) {
            const std::string key = std::string(name) + "@example.com";
            owner.must(
                "INSERT INTO users (id, email, email_key, email_verified) VALUES ('" + id + "', '" +
                key + "', '" + key + "', true)"
            );
            owner.must(
                "INSERT INTO memberships (org_id, user_id, id, role) VALUES ('" + org + "', '" +
                id + "', '" + id + "', 'member')"
            );
            owner.must("INSERT INTO passwords (user_id, hash) VALUES ('" + id + "', 'x')");
            owner.must(
                "INSERT INTO sessions (id, user_id, auth_method, expires_at) VALUES ('" + id +
                "', '" + id + "', 'password', now() + interval '1 day')"
            );
            owner.must(
                "INSERT INTO identities (issuer, subject, user_id) VALUES ('https://id', '" +
                std::string(name) + "', '" + id + "')"
            );
        }
        owner.must(
            "INSERT INTO tokens (org_id, id, digest, kind, name, role, owner_user_id, hint,"
            " created_by, last_edited_by) VALUES ('" +
            org + "', '" + bob + "', sha256('bob'), 'integration', 'Bob', 'member', '" + bob +
            "', '', '" + bob + "', '" + bob + "')"
        );
    }
    static void TearDownTestSuite() { server.reset(); }

    struct As {
        std::string org{}, user{}, credential{};
    };
    static Outcome attempt(const As& who, const std::string& sql) {
        return server->attempt(
            "SELECT set_config('app.org_id', '" + who.org +
                "', true), set_config('app.user_id', '" + who.user +
                "', true), set_config('app.credential', '" + who.credential + "', true)",
            sql
        );
    }
    /// The row is seen, and neither changed nor deleted.
    static void only_seen(
        const As& who, const std::string& table, const std::string& where, const std::string& change
    ) {
        const auto seen = attempt(who, "SELECT FROM " + table + " WHERE " + where);
        EXPECT_EQ(seen.rows.size(), 1u) << table << " " << where << " " << seen.message;
        for (const auto& sql :
             {"UPDATE " + table + " SET " + change + " WHERE " + where,
              "DELETE FROM " + table + " WHERE " + where}) {
            const auto done = attempt(who, sql);
            EXPECT_EQ(done.affected, 0u) << sql;
            EXPECT_TRUE(done.state.empty() || done.refused_by_policy()) << sql << done.message;
        }
    }
    static std::size_t changed(const As& who, const std::string& sql) {
        const auto done = attempt(who, sql);
        EXPECT_EQ(done.message, "") << sql;
        return done.affected;
    }
    static std::string is(const std::string& column, const std::string& value) {
        return column + " = '" + value + "'";
    }

    inline static std::string url;
    inline static const std::string org = new_uuid().str(), ada = new_uuid().str(),
                                    bob = new_uuid().str();
    inline static std::unique_ptr<DatabaseRole> server;
};

TEST_F(DirectoryPolicies, AColleagueIsSeenAndNotChanged) {
    only_seen({.org = org, .user = ada}, "users", is("id", bob), "name = 'Mallory'");
    EXPECT_EQ(changed({.user = bob}, "UPDATE users SET name = 'Bob' WHERE " + is("id", bob)), 1u);
}

// A person goes with everything that is theirs, in every workspace.
TEST_F(DirectoryPolicies, NobodyDeletesPeople) {
    for (const As& who : {As{org, ada}, As{org, bob}, As{.credential = "bob@example.com"}})
        EXPECT_EQ(changed(who, "DELETE FROM users"), 0u);
}

TEST_F(DirectoryPolicies, OnesOwnSeatElsewhereIsSeenAndNotChanged) {
    only_seen({.user = bob}, "memberships", is("user_id", bob), "role = 'owner'");
    EXPECT_EQ(
        changed({.org = org}, "UPDATE memberships SET role = 'viewer' WHERE " + is("user_id", bob)),
        1u
    );
}

TEST_F(DirectoryPolicies, ATokenIsSeenByItsBearerAndNotChanged) {
    const auto digest = server->must("SELECT encode(sha256('bob'), 'hex')")[0][0];
    only_seen({.credential = digest}, "tokens", is("id", bob), "role = 'admin'");
    EXPECT_EQ(changed({.org = org}, "DELETE FROM tokens WHERE " + is("id", bob)), 1u);
}

TEST_F(DirectoryPolicies, APasswordIsSeenByItsAddressAndNotChanged) {
    const As presenter{.credential = "bob@example.com"};
    only_seen(presenter, "passwords", is("user_id", bob), "hash = 'y'");
    EXPECT_EQ(attempt(presenter, "SELECT FROM passwords FOR SHARE").rows.size(), 1u);
    EXPECT_EQ(changed({.user = bob}, "UPDATE passwords SET hash = 'y'"), 1u);
    EXPECT_EQ(attempt({.org = org, .user = ada}, "SELECT FROM passwords").rows.size(), 1u);
}

TEST_F(DirectoryPolicies, AnIdentityIsSeenByWhomTheProviderVouchesForAndNotChanged) {
    only_seen({.credential = "https://id bob"}, "identities", is("subject", "bob"), "email = 'x'");
}

TEST_F(DirectoryPolicies, ASessionIsEndedByWhoShowsItAndKept) {
    const As shower{.credential = bob};
    EXPECT_EQ(changed(shower, "UPDATE sessions SET revoked_at = now()"), 1u);
    EXPECT_EQ(changed(shower, "DELETE FROM sessions"), 0u);
    EXPECT_TRUE(attempt(
                    shower,
                    "UPDATE sessions SET user_id = '" + ada + "', id = '" + new_uuid().str() + "'"
    )
                    .refused_by_policy());
}

// A policy for every command admits to a DELETE, which has no new row to check, whatever it shows.
TEST_F(DirectoryPolicies, WhatShowsMoreThanItLetsWriteIsForReadingAlone) {
    const auto loose = server->must(R"(
        SELECT tablename, policyname FROM pg_policies
        WHERE schemaname = 'public' AND cmd = 'ALL' AND with_check IS NOT NULL
          AND qual IS DISTINCT FROM with_check)");
    for (const auto& each : loose) ADD_FAILURE() << each[0] << ": " << each[1];
}

}  // namespace
}  // namespace svc::test
