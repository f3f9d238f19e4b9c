#include "tests/support/database_role.hpp"
#include "tests/unit/agents/agents_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class TokenChanges : public AgentsTest {
protected:
    static std::string rotation(const std::string& token) {
        return "/v1/tokens/" + token + ":rotate";
    }
    Reply integration(Client& owner, const char* role = "member") {
        return expect(
            201,
            owner.post(
                "/v1/tokens", json::value{{"kind", "integration"}, {"name", "x"}, {"role", role}}
            )
        );
    }
};

TEST_F(TokenChanges, RotatingGivesAnotherSecretAndEndsTheOld) {
    const auto made = make_token(make_agent(), "viewer");
    Client old = with(made);
    expect(200, old.get("/v1/me"));
    const auto rotated = expect(200, ada.post(rotation(made.text("/id"))));
    EXPECT_EQ(rotated.text("/id"), made.text("/id"));
    EXPECT_THAT(rotated.text("/token"), testing::MatchesRegex("svc_[0-9A-Za-z]{43}"));
    EXPECT_NE(rotated.text("/token"), made.text("/token"));
    EXPECT_NE(rotated.text("/hint"), made.text("/hint"));
    EXPECT_EQ(rotated.text("/role"), "viewer");
    EXPECT_EQ(rotated.text("/agent_id"), made.text("/agent_id"));
    EXPECT_EQ(rotated.text("/version"), "2");
    expect(401, old.get("/v1/me"));
    Client fresh = with(rotated);
    expect(200, fresh.get("/v1/me"));
    const auto list = expect(200, ada.get("/v1/tokens"));
    EXPECT_THAT(list.body, Not(HasSubstr(rotated.text("/token"))));
    EXPECT_EQ(list.text("/results/0/hint"), rotated.text("/hint"));
    ASSERT_TRUE(becomes("SELECT count(*) FROM events WHERE kind = 'token.rotated'", "1"));
    EXPECT_EQ(
        ask("SELECT count(*) FROM events e WHERE e::text LIKE '%" + rotated.text("/token") + "%'"),
        "0"
    );
}

TEST_F(TokenChanges, RotatedInUseEveryRequestIsTheOldOneOrRefused) {
    const auto made = make_token(make_agent());
    std::atomic<bool> answered{false};
    std::atomic<int> good{0}, good_after{0};
    auto users = std::async(std::launch::async, [&] {
        return at_once(4, [&](int) {
            Client old = with(made);
            for (;;) {
                const bool after = answered;
                const auto reply = old.get("/v1/me");
                if (reply.status == 401) return reply;
                ++good;
                if (after) ++good_after;
            }
        });
    });
    while (good < 50) std::this_thread::yield();
    const auto rotated = expect(200, ada.post(rotation(made.text("/id"))));
    answered = true;
    EXPECT_EQ(count_status(users.get(), 401), 4);
    EXPECT_EQ(good_after, 0);
    Client fresh = with(rotated);
    expect(200, fresh.get("/v1/me"));
}

// What a request finds out about a token may be found out while the token ends; it is not to be
// taken for good from then on.
TEST_F(TokenChanges, RotatedWhileItIsLookedUpTheOldSecretIsRefused) {
    const auto made = make_token(make_agent());
    DatabaseRole rotation(Postgres::shared().superuser_url(database));
    rotation.must("BEGIN");
    rotation.must("LOCK TABLE principals IN ACCESS EXCLUSIVE MODE");
    auto meanwhile = std::async(std::launch::async, [&] { return with(made).get("/v1/me"); });
    ASSERT_TRUE(becomes(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        " AND query LIKE '%token_caller%' AND datname = current_database()",
        "1"
    ));
    rotation.must("UPDATE tokens SET digest = sha256('another')");
    rotation.must("UPDATE orgs SET security_epoch = security_epoch + 1");
    rotation.must("COMMIT");
    meanwhile.get();
    EXPECT_EQ(with(made).get("/v1/me").status, 401);
}

TEST_F(TokenChanges, RotatedAtOnceOneSecretIsGood) {
    const auto id = make_token(make_agent()).text("/id");
    const auto rotated = at_once(6, [&](int) {
        Client each = ada;
        return each.post(rotation(id));
    });
    int good = 0;
    for (const auto& each : rotated) {
        ASSERT_EQ(each.status, 200) << each.body;
        Client with_it = with(each);
        good += with_it.get("/v1/me").status == 200;
    }
    EXPECT_EQ(good, 1);
    EXPECT_EQ(expect(200, ada.get("/v1/tokens")).text("/results/0/version"), "7");
}

TEST_F(TokenChanges, WhatIsOverIsNotRotated) {
    const auto revoked = make_token(make_agent()).text("/id");
    expect(204, ada.send("DELETE", "/v1/tokens/" + revoked));
    const auto refused = expect(409, ada.post(rotation(revoked)));
    EXPECT_EQ(refused.text("/additional_data/reason"), "token_revoked");
    const auto expired = make_token(make_agent()).text("/id");
    ask("UPDATE tokens SET expires_at = now() - interval '1 second' WHERE id = '" + expired +
        "' RETURNING id");
    EXPECT_EQ(
        expect(409, ada.post(rotation(expired))).text("/additional_data/reason"), "token_expired"
    );
    expect(404, ada.post(rotation(nowhere)));
}

TEST_F(TokenChanges, NobodyGetsTheSecretOfAnotherPersonsToken) {
    Client bob = member("bob@example.com", "admin");
    const auto hers = integration(ada).text("/id"), his = integration(bob).text("/id");
    expect(403, bob.post(rotation(hers)));
    expect(403, ada.post(rotation(his)));
    expect(200, ada.post(rotation(hers)));
    expect(204, ada.send("DELETE", "/v1/tokens/" + his));  // but an admin may end it
    Client carl = member("carl@example.com", "member");
    const auto foreign = expect(404, carl.post(rotation(hers)));
    EXPECT_EQ(without_ids(foreign), without_ids(expect(404, carl.post(rotation(nowhere)))));
}

TEST_F(TokenChanges, NoTokenGetsTheSecretOfAStrongerOne) {
    const auto strong = integration(ada, "admin"), weak = integration(ada, "viewer");
    Client program = with(weak);
    expect(403, program.post(rotation(strong.text("/id"))));
    const auto again = expect(200, program.post(rotation(weak.text("/id"))));
    expect(401, program.get("/v1/me"));
    EXPECT_EQ(with(again).get("/v1/me").text("/role"), "viewer");
}

TEST_F(TokenChanges, AnAgentLooksAfterItsOwn) {
    const auto agent = make_agent();
    const auto own = make_token(agent), others = make_token(make_agent());
    Client robot = with(own);
    EXPECT_EQ(expect(200, robot.get("/v1/tokens")).json().at("results").as_array().size(), 1u);
    expect(404, robot.post(rotation(others.text("/id"))));
    const auto rotated = expect(200, robot.post(rotation(own.text("/id"))));
    expect(200, with(rotated).get("/v1/me"));
    EXPECT_EQ(
        expect(200, ada.get("/v1/tokens?agent_id=" + agent)).json().at("results").as_array().size(),
        1u
    );
}

TEST_F(TokenChanges, WhoeverIsGivenTheSecretIsItsCeilingFromThenOn) {
    Client bob = member("bob@example.com", "admin");
    const auto user = bob.get("/v1/me").text("/id");
    const auto made = make_token(make_agent({{"role", "admin"}}), "admin");
    const auto rotated = expect(200, bob.post(rotation(made.text("/id"))));
    EXPECT_EQ(rotated.text("/owner_user_id"), user);
    EXPECT_EQ(rotated.text("/effective_role"), "admin");
    Client robot = with(rotated);
    EXPECT_EQ(robot.get("/v1/me").text("/role"), "admin");
    expect(200, send(ada, "PATCH", "/v1/orgs/" + org + "/members/" + user, {{"role", "viewer"}}));
    EXPECT_EQ(robot.get("/v1/me").text("/role"), "viewer");
    EXPECT_EQ(expect(200, ada.get("/v1/tokens")).text("/results/0/effective_role"), "viewer");
    expect(204, ada.send("DELETE", "/v1/orgs/" + org + "/members/" + user));
    expect(401, robot.get("/v1/me"));
}

TEST_F(TokenChanges, TheOwnerOfTheAgentIsACeilingToo) {
    Client bob = member("bob@example.com", "admin");
    const auto user = bob.get("/v1/me").text("/id");
    const auto agent =
        expect(
            201, bob.post("/v1/agents", json::value{{"name", "Bob's"}, {"role", "admin"}})
        ).text("/id");
    Client robot = acting_as(agent, "admin");  // a token of Ada's
    EXPECT_EQ(robot.get("/v1/me").text("/role"), "admin");
    expect(200, send(ada, "PATCH", "/v1/orgs/" + org + "/members/" + user, {{"role", "viewer"}}));
    EXPECT_EQ(robot.get("/v1/me").text("/role"), "viewer");
    EXPECT_EQ(expect(200, ada.get("/v1/tokens")).text("/results/0/effective_role"), "viewer");
    expect(204, ada.send("DELETE", "/v1/orgs/" + org + "/members/" + user));
    EXPECT_EQ(robot.get("/v1/me").text("/role"), "admin") << "it is Ada's word alone now";
}

TEST_F(TokenChanges, ATokenMakesNoneThatOutlivesIt) {
    const auto then = Timestamp{Timestamp::now().micros + 3'600'000'000};
    const auto later = Timestamp{then.micros + 3'600'000'000};
    const auto maker = expect(
        201,
        ada.post(
            "/v1/tokens",
            json::value{{"kind", "integration"}, {"name", "x"}, {"expires_at", then.str()}}
        )
    );
    Client program = with(maker);
    for (const json::value& asked : {json::value(nullptr), json::value(later.str())}) {
        json::object body{{"kind", "integration"}, {"name", "y"}};
        if (asked.is_string()) body["expires_at"] = asked;
        const auto made = expect(201, program.post("/v1/tokens", json::value(body)));
        EXPECT_EQ(made.text("/expires_at"), maker.text("/expires_at"));
    }
    EXPECT_EQ(integration(ada).text("/expires_at"), "null") << "a session is no token";
}

TEST_F(TokenChanges, ATokenForAnAgentThatIsJustLeavingIsNotFound) {
    const auto agent = make_agent();
    DatabaseRole leaving(Postgres::shared().superuser_url(database));
    leaving.must("BEGIN");
    leaving.must("DELETE FROM agents");
    auto made = std::async(std::launch::async, [&] {
        return ada.post(
            "/v1/tokens", json::value{{"kind", "agent"}, {"name", "x"}, {"agent_id", agent}}
        );
    });
    ASSERT_TRUE(becomes(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        " AND pid <> pg_backend_pid() AND datname = current_database()",
        "1"
    ));
    leaving.must("COMMIT");
    EXPECT_EQ(made.get().status, 404);
    EXPECT_EQ(ask("SELECT count(*) FROM tokens"), "0");
}

TEST_F(TokenChanges, ExpectAVersionWhenTheyAreToldTo) {
    const auto id = make_token(make_agent()).text("/id");
    EXPECT_EQ(ada.send("DELETE", "/v1/tokens/" + id, {}, {{"If-Match", "\"4\""}}).status, 412);
    EXPECT_EQ(ada.send("DELETE", "/v1/tokens/" + id, {}, {{"If-Match", "\"1\""}}).status, 204);
}

}  // namespace
}  // namespace svc::test
