#include "tests/support/accounts_fixture.hpp"

/// Whoever has a good session or token is let in, whatever PostgreSQL knows of the tables: with
/// statistics of some tens of people it goes about its statements in another order than without.
namespace svc::test {
namespace {

class Statistics : public AccountsTest {
protected:
    /// Others, with a workspace each, and what PostgreSQL thinks of them.
    void crowd(int people) {
        const std::string n = std::to_string(people), they = "'Bob " + n + "'";
        ask("INSERT INTO users (id, email, email_key, email_verified, name)"
            " SELECT id, id::text, id::text, true, " +
            they + " FROM (SELECT gen_random_uuid() FROM generate_series(1, " + n + ")) n (id)");
        ask("INSERT INTO orgs (id, name, slug, created_by, last_edited_by)"
            " SELECT gen_random_uuid(), name, id::text, id, id FROM users WHERE name = " +
            they);
        ask("INSERT INTO memberships (org_id, user_id, id, role)"
            " SELECT id, created_by, gen_random_uuid(), 'owner' FROM orgs WHERE name = " +
            they);
        ask("INSERT INTO principals (org_id, id, type, name)"
            " SELECT id, created_by, 'user', name FROM orgs WHERE name = " +
            they);
        ask("INSERT INTO passwords (user_id, hash) SELECT id, 'none' FROM users WHERE name = " +
            they);
        ask("INSERT INTO sessions (id, user_id, auth_method, active_org_id, expires_at)"
            " SELECT gen_random_uuid(), created_by, 'password', id, now() + interval '1 day'"
            " FROM orgs WHERE name = " +
            they);
        ask("INSERT INTO tokens (org_id, id, digest, kind, name, role, owner_user_id, hint,"
            " created_by, last_edited_by)"
            " SELECT id, gen_random_uuid(), sha256(id::text::bytea), 'integration', 'Key',"
            " 'member', created_by, 'x', created_by, created_by FROM orgs WHERE name = " +
            they);
        ask("ANALYZE");
    }
};

TEST_F(Statistics, GoodSessionsAndTokensAreGoodForManyToo) {
    Client ada = person("ada@example.com");
    const auto org = expect(201, ada.post("/v1/orgs", json::value{{"name", "Acme"}})).text("/id");
    for (const int more : {10, 30, 60, 100}) {
        crowd(more);
        EXPECT_EQ(ada.get("/v1/me").status, 200) << more;
        EXPECT_EQ(ada.get("/v1/me").text("/active_org_id"), org) << more;
        EXPECT_EQ(ada.get("/v1/me/memberships").text("/results/0/org_id"), org) << more;
        EXPECT_EQ(ada.get("/v1/orgs").text("/results/0/role"), "owner") << more;
        Client fresh = client();
        EXPECT_EQ(log_in(fresh, "ada@example.com").status, 200) << more;
        EXPECT_EQ(fresh.get("/v1/me").status, 200) << more;
        for (const char* kind : {"integration", "agent"}) {
            json::object what{{"kind", kind}, {"name", "Key"}, {"role", "member"}};
            if (*kind == 'a') what["agent"] = json::object{{"name", "Robot"}};
            Client bearer = client();
            bearer.token(expect(201, ada.post("/v1/tokens", json::value(what))).text("/token"));
            EXPECT_EQ(bearer.get("/v1/me").status, 200) << kind << ' ' << more;
            EXPECT_EQ(bearer.get("/v1/me").status, 200) << kind << ' ' << more << ", as before";
        }
    }
}

TEST_F(Statistics, APasswordIsHashedAnewForManyToo) {
    person("ada@example.com");
    crowd(60);
    const std::string hash =
        "SELECT hash FROM passwords JOIN users ON id = user_id WHERE email = 'ada@example.com'";
    const auto before = ask(hash);
    const Server dearer({.database_url = database, .settings = {"auth.password_passes=3"}});
    Client again = dearer.client();
    expect(200, log_in(again, "ada@example.com"));
    EXPECT_NE(ask(hash), before);
    expect(200, log_in("ada@example.com"));
}

}  // namespace
}  // namespace svc::test
