#include "tests/support/accounts_fixture.hpp"
#include "tests/support/eventually.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Tokens : public AccountsTest {
protected:
    Tokens() {
        ada = person("ada@example.com");
        org = expect(201, ada.post("/v1/orgs", json::value{{"name", "Acme"}})).text("/id");
    }

    Reply make(const json::value& body) { return ada.post("/v1/tokens", body); }
    Reply make_agent(const char* role = "member") {
        return expect(
            201,
            make(
                {{"kind", "agent"}, {"name", "Key"}, {"role", role}, {"agent", {{"name", "Robot"}}}}
            )
        );
    }
    Reply make_integration(const char* role = "member") {
        return expect(201, make({{"kind", "integration"}, {"name", "Importer"}, {"role", role}}));
    }
    Client with(const Reply& made) {
        Client bearer = client();
        bearer.token(made.text("/token"));
        return bearer;
    }
    /// What the operations that change people and agents do beside the change itself.
    void change(const std::string& sql) {
        ask("WITH changed AS (" + sql +
            " RETURNING 1) UPDATE orgs SET security_epoch = security_epoch + 1 RETURNING id");
    }
    /// Another member of the workspace.
    Client member(const std::string& email, const std::string& role) {
        Client made = person(email);
        const auto user = made.get("/v1/me").text("/id");
        ask("WITH named AS (INSERT INTO principals (org_id, id, type, name) VALUES ('" + org +
            "', '" + user +
            "', 'user', 'Bob')) INSERT INTO memberships (org_id, user_id, id, role)"
            " VALUES ('" +
            org + "', '" + user + "', '" + new_uuid().str() + "', '" + role + "') RETURNING id");
        made.always("X-Svc-Org", org);
        return made;
    }

    Client ada = client();
    std::string org;
};

// ---- making one

TEST_F(Tokens, OfAnIntegrationActsAsItsOwner) {
    const auto made = make_integration();
    EXPECT_EQ(made.text("/object"), "token");
    EXPECT_EQ(made.text("/kind"), "integration");
    EXPECT_EQ(made.text("/status"), "active");
    EXPECT_EQ(made.text("/role"), "member");
    EXPECT_EQ(made.text("/effective_role"), "member");
    EXPECT_EQ(made.text("/agent_id"), "null");
    EXPECT_EQ(made.text("/org_id"), org);
    EXPECT_THAT(made.text("/token"), testing::MatchesRegex("svc_[0-9A-Za-z]{43}"));
    const auto token = made.text("/token");
    EXPECT_EQ(made.text("/hint"), token.substr(0, 8) + "…" + token.substr(43));

    const auto who = expect(200, with(made).get("/v1/me"));
    EXPECT_EQ(who.text("/type"), "person");
    EXPECT_EQ(who.text("/id"), ada.get("/v1/me").text("/id"));
    EXPECT_EQ(who.text("/active_org_id"), org);
    EXPECT_EQ(who.text("/role"), "member");
}

TEST_F(Tokens, OfAnAgentActsAsTheAgent) {
    const auto made = make_agent();
    EXPECT_EQ(made.text("/kind"), "agent");
    const auto who = expect(200, with(made).get("/v1/me"));
    EXPECT_EQ(who.text("/type"), "bot");
    EXPECT_EQ(who.text("/id"), made.text("/agent_id"));
    EXPECT_EQ(who.text("/agent_id"), made.text("/agent_id"));
    EXPECT_EQ(who.text("/name"), "Robot");
    EXPECT_EQ(who.text("/email"), "null");
    EXPECT_EQ(who.text("/email_verified"), "false");
    EXPECT_EQ(who.text("/bot/workspace_id"), org);
    EXPECT_EQ(who.text("/bot/workspace_name"), "Acme");
    EXPECT_FALSE(who.json().as_object().contains("person"));
    EXPECT_EQ(who.text("/role"), "member");
}

TEST_F(Tokens, AnAgentMayHaveSeveral) {
    const auto first = make_agent();
    const auto second = expect(
        201, make({{"kind", "agent"}, {"name", "Spare"}, {"agent_id", first.text("/agent_id")}})
    );
    EXPECT_EQ(second.text("/agent_id"), first.text("/agent_id"));
    EXPECT_EQ(with(second).get("/v1/me").text("/name"), "Robot");
    EXPECT_EQ(ask("SELECT count(*) FROM agents"), "1");
}

TEST_F(Tokens, AreShownOnceAndKeptAsDigests) {
    const auto token = make_agent().text("/token");
    const auto list = expect(200, ada.get("/v1/tokens"));
    EXPECT_FALSE(list.json().at("results").at(0).as_object().contains("token"));
    EXPECT_THAT(list.body, Not(HasSubstr(token)));
    EXPECT_EQ(ask("SELECT count(*) FROM tokens WHERE digest = sha256('" + token + "')"), "1");
    for (const char* table : {"tokens", "event_log", "agents", "principals"})
        EXPECT_EQ(
            ask("SELECT count(*) FROM " + std::string(table) + " t WHERE t::text LIKE '%" + token +
                "%'"),
            "0"
        ) << table;
    EXPECT_THAT(server.output(), Not(HasSubstr(token)));
}

TEST_F(Tokens, AreToldOfWithoutTheirSecrets) {
    const auto made = make_agent();
    EXPECT_TRUE(eventually([&] { return ask("SELECT count(*) FROM events") == "3"; }));
    EXPECT_EQ(
        ask("SELECT string_agg(kind, ' ' ORDER BY sequence) FROM events"),
        "member.added agent.created token.created"
    );
    const auto envelope = ask("SELECT e::text FROM events e WHERE kind = 'token.created'");
    EXPECT_THAT(envelope, HasSubstr(made.text("/id")));
    EXPECT_THAT(envelope, Not(HasSubstr(made.text("/token"))));
}

TEST_F(Tokens, WrongCombinationsAreNamed) {
    const auto wrong = [&](const json::value& body) {
        return first_loc(expect(422, make(body))).at(1);
    };
    const auto id = make_agent().text("/agent_id");
    EXPECT_EQ(wrong({{"kind", "agent"}, {"name", "x"}}), "agent");
    EXPECT_EQ(
        wrong({{"kind", "agent"}, {"name", "x"}, {"agent_id", id}, {"agent", {{"name", "y"}}}}),
        "agent"
    );
    EXPECT_EQ(wrong({{"kind", "integration"}, {"name", "x"}, {"agent_id", id}}), "agent_id");
    EXPECT_EQ(wrong({{"kind", "integration"}, {"name", "x"}, {"agent", {{"name", "y"}}}}), "agent");
    EXPECT_EQ(wrong({{"kind", "integration"}, {"name", "x"}, {"role", "owner"}}), "role");
    EXPECT_EQ(
        wrong({{"kind", "integration"}, {"name", "x"}, {"expires_at", "2020-01-01T00:00:00Z"}}),
        "expires_at"
    );
    EXPECT_EQ(
        wrong({{"kind", "integration"}, {"name", "x"}, {"expires_at", "2120-01-01T00:00:00"}}),
        "expires_at"
    );
    EXPECT_EQ(
        expect(
            404,
            make(
                {{"kind", "agent"},
                 {"name", "x"},
                 {"agent_id", "0192f0c1-2d3e-7f40-8123-456789abcdef"}}
            )
        ).text("/code"),
        "object_not_found"
    );
}

// ---- who may

TEST_F(Tokens, OnlyAnAdminBringsAgents) {
    Client bob = member("bob@example.com", "member");
    const json::value agent{{"kind", "agent"}, {"name", "x"}, {"agent", {{"name", "y"}}}};
    expect(403, bob.post("/v1/tokens", agent));
    expect(201, bob.post("/v1/tokens", json::value{{"kind", "integration"}, {"name", "x"}}));
    change("UPDATE memberships SET role = 'admin' WHERE role = 'member'");
    expect(201, bob.post("/v1/tokens", agent));
}

TEST_F(Tokens, CannotGiveMoreThanTheyHave) {
    Client program = with(make_integration("member"));
    const auto ask_for = [&](const char* role) {
        return program.post(
            "/v1/tokens", json::value{{"kind", "integration"}, {"name", "x"}, {"role", role}}
        );
    };
    expect(201, ask_for("viewer"));
    expect(201, ask_for("member"));
    expect(403, ask_for("admin"));
}

TEST_F(Tokens, OfAnAgentMakeNone) {
    Client agent = with(make_agent("admin"));
    expect(403, agent.post("/v1/tokens", json::value{{"kind", "integration"}, {"name", "x"}}));
    expect(
        403,
        agent.post(
            "/v1/tokens",
            json::value{{"kind", "agent"}, {"name", "x"}, {"agent", {{"name", "Helper"}}}}
        )
    );
}

TEST_F(Tokens, AreSeenByTheirOwnersAndByAdmins) {
    make_agent();
    make_integration();
    Client bob = member("bob@example.com", "member");
    const auto his =
        expect(
            201, bob.post("/v1/tokens", json::value{{"kind", "integration"}, {"name", "Bob's"}})
        ).text("/id");
    const auto seen = [](const Reply& list) { return list.json().at("results").as_array().size(); };
    EXPECT_EQ(seen(expect(200, bob.get("/v1/tokens"))), 1u);
    EXPECT_EQ(seen(expect(200, ada.get("/v1/tokens"))), 3u);
    const auto hers = expect(200, ada.get("/v1/tokens")).text("/results/1/id");
    const auto foreign = expect(404, bob.send("DELETE", "/v1/tokens/" + hers));
    const auto absent =
        expect(404, bob.send("DELETE", "/v1/tokens/0192f0c1-2d3e-7f40-8123-456789abcdef"));
    EXPECT_EQ(without_ids(foreign), without_ids(absent));
    expect(204, ada.send("DELETE", "/v1/tokens/" + his));
}

// ---- what they are worth, at every moment

TEST_F(Tokens, AreWorthNoMoreThanTheirOwner) {
    Client program = with(make_integration("admin")), agent = with(make_agent("admin"));
    const auto role = [](Client& of) { return expect(200, of.get("/v1/me")).text("/role"); };
    EXPECT_EQ(role(program), "admin");
    EXPECT_EQ(role(agent), "admin");
    change("UPDATE memberships SET role = 'viewer'");
    EXPECT_EQ(role(program), "viewer");
    EXPECT_EQ(role(agent), "viewer");
    change("UPDATE memberships SET role = 'owner'");
    EXPECT_EQ(role(program), "admin");
    change("UPDATE agents SET role = 'member'");
    EXPECT_EQ(role(agent), "member");
    EXPECT_EQ(role(program), "admin");
    change("DELETE FROM memberships");
    expect(401, program.get("/v1/me"));
    expect(401, agent.get("/v1/me"));
}

TEST_F(Tokens, OfADisabledAgentAreRefusedAtOnce) {
    Client agent = with(make_agent());
    expect(200, agent.get("/v1/me"));
    change("UPDATE agents SET status = 'disabled'");
    expect(401, agent.get("/v1/me"));
    change("UPDATE agents SET status = 'active'");
    expect(200, agent.get("/v1/me"));
}

TEST_F(Tokens, ThatAreRevokedAreRefusedAtOnce) {
    const auto made = make_agent();
    Client agent = with(made);
    expect(200, agent.get("/v1/me"));
    expect(204, ada.send("DELETE", "/v1/tokens/" + made.text("/id")));
    EXPECT_EQ(expect(401, agent.get("/v1/me")).header("www-authenticate"), "Bearer");
    expect(204, ada.send("DELETE", "/v1/tokens/" + made.text("/id")));
    const auto list = expect(200, ada.get("/v1/tokens"));
    EXPECT_EQ(list.text("/results/0/status"), "revoked");
    EXPECT_NE(list.text("/results/0/revoked_at"), "null");
    EXPECT_EQ(list.text("/results/0/version"), "2");
}

TEST_F(Tokens, RevokedWhileInUseEndBetweenTwoRequests) {
    const auto made = make_integration();
    std::atomic<bool> revoked{false};
    std::atomic<int> good{0}, good_after{0};
    auto users = std::async(std::launch::async, [&] {
        return at_once(4, [&](int) {
            Client program = with(made);
            for (;;) {
                const bool after = revoked;
                const auto reply = program.get("/v1/me");
                if (reply.status == 401) return reply;
                ++good;
                if (after) ++good_after;
            }
        });
    });
    while (good < 50) std::this_thread::yield();
    expect(204, ada.send("DELETE", "/v1/tokens/" + made.text("/id")));
    revoked = true;
    EXPECT_EQ(count_status(users.get(), 401), 4);
    EXPECT_EQ(good_after, 0);
}

TEST_F(Tokens, RunOut) {
    const auto made = expect(
        201, make({{"kind", "integration"}, {"name", "x"}, {"expires_at", "2120-01-01T00:00:00Z"}})
    );
    EXPECT_EQ(made.text("/expires_at"), "2120-01-01T00:00:00.000Z");
    Client program = with(made);
    expect(200, program.get("/v1/me"));
    // As the passing of time would: nothing else changes.
    ask("UPDATE tokens SET expires_at = now() + interval '5 seconds' RETURNING id");
    change("UPDATE tokens SET name = name");
    expect(200, program.get("/v1/me"));
    EXPECT_TRUE(eventually([&] { return program.get("/v1/me").status == 401; }));
    EXPECT_EQ(expect(200, ada.get("/v1/tokens")).text("/results/0/status"), "expired");
}

TEST_F(Tokens, OfAWorkspaceInArrearsOnlyRead) {
    Client program = with(make_integration("admin"));
    expect(200, program.get("/v1/tokens"));
    ask("UPDATE orgs SET billing_state = 'past_due' RETURNING id");
    expect(200, program.get("/v1/tokens"));
    const auto refused = expect(
        402, program.post("/v1/tokens", json::value{{"kind", "integration"}, {"name", "x"}})
    );
    EXPECT_EQ(refused.text("/code"), "workspace_past_due");
    ask("UPDATE orgs SET billing_state = 'active' RETURNING id");
    expect(201, program.post("/v1/tokens", json::value{{"kind", "integration"}, {"name", "x"}}));
}

TEST_F(Tokens, ReachOneWorkspace) {
    const auto other =
        expect(201, ada.post("/v1/orgs", json::value{{"name", "Other"}})).text("/id");
    Client program = with(make_integration());
    expect(200, program.send("GET", "/v1/me", {}, {{"X-Svc-Org", org}}));
    const auto owned = expect(404, program.send("GET", "/v1/me", {}, {{"X-Svc-Org", other}}));
    const auto absent = expect(
        404,
        program.send("GET", "/v1/me", {}, {{"X-Svc-Org", "0192f0c1-2d3e-7f40-8123-456789abcdef"}})
    );
    EXPECT_EQ(without_ids(owned), without_ids(absent));
    expect(200, program.get("/v1/me"));
}

// ---- what is none

TEST_F(Tokens, NothingElseSignsIn) {
    const auto token = make_integration().text("/token");
    std::string mistyped = token;
    mistyped[20] = mistyped[20] == 'a' ? 'b' : 'a';
    for (const std::string& header :
         {"Bearer " + mistyped,
          "Bearer " + token + "x",
          std::string("Bearer"),
          std::string("Bearer "),
          "Basic " + token,
          token,
          std::string("Bearer svc_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZa33EDWO")}) {
        const auto refused =
            expect(401, once("GET", "/v1/me", nullptr, {{"Authorization", header}}));
        EXPECT_EQ(refused.text("/code"), "unauthorized") << header;
        EXPECT_EQ(refused.header("www-authenticate"), "Bearer");
    }
    expect(200, once("GET", "/v1/me", nullptr, {{"Authorization", "bearer " + token}}));
}

TEST_F(Tokens, CountBeforeCookies) {
    const auto token = make_integration().text("/token");
    const Headers both{
        {"Authorization", "Bearer " + token},
        {"Cookie", "svc_session=" + ada.cookie("svc_session")}};
    EXPECT_EQ(expect(200, once("GET", "/v1/me", nullptr, both)).text("/role"), "member");
    // And so need no CSRF token.
    expect(201, once("POST", "/v1/tokens", {{"kind", "integration"}, {"name", "x"}}, both));
}

TEST_F(Tokens, OncePresentedAreWrittenDownAsUsed) {
    const auto made = make_agent();
    EXPECT_EQ(expect(200, ada.get("/v1/tokens")).text("/results/0/last_used_at"), "null");
    expect(200, with(made).get("/v1/me"));
    EXPECT_EQ(server.end(SIGTERM), 0);  // which writes what was not written yet
    server.start();
    EXPECT_EQ(ask("SELECT count(*) FROM tokens WHERE last_used_at IS NOT NULL"), "1");
    EXPECT_EQ(ask("SELECT count(*) FROM agents WHERE last_active_at IS NOT NULL"), "1");
    EXPECT_EQ(ask("SELECT count(*) FROM sessions WHERE last_seen_at > created_time"), "1");
}

}  // namespace
}  // namespace svc::test
