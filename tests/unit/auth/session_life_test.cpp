#include "tests/support/accounts_fixture.hpp"

#include <csignal>

namespace svc::test {
namespace {

constexpr const char* same_secret = "server.secret=a secret of at least thirty-two characters";

/// Sessions over the days. A server writes down who was seen every half minute, and when it stops.
class SessionLife : public AccountsTest {
protected:
    SessionLife() : AccountsTest({same_secret}) {}

    void use_and_stop() {
        expect(200, browser.get("/v1/me"));
        ASSERT_EQ(server.end(SIGTERM), 0);
    }
    std::string is(const std::string& condition) {
        return ask("SELECT " + condition + " FROM sessions");
    }

    Client browser = person("ada@example.com");
};

TEST_F(SessionLife, OneThatIsUsedLivesOn) {
    ask("UPDATE sessions SET expires_at = now() + interval '1 day', "
        "last_seen_at = now() - interval '29 days' RETURNING id");
    use_and_stop();
    EXPECT_EQ(is("expires_at > now() + interval '29 days'"), "t");
    EXPECT_EQ(is("expires_at < now() + interval '31 days'"), "t");
    EXPECT_EQ(is("last_seen_at > now() - interval '1 minute'"), "t");
}

TEST_F(SessionLife, NoneLivesLongerThanTheMost) {
    ask("UPDATE sessions SET created_time = now() - interval '80 days', "
        "expires_at = now() + interval '1 day' RETURNING id");
    use_and_stop();
    EXPECT_EQ(is("expires_at = created_time + interval '90 days'"), "t");
}

TEST_F(SessionLife, OneThatWasEndedStaysEnded) {
    expect(200, browser.get("/v1/me"));
    ask("UPDATE sessions SET revoked_at = now(), expires_at = now() + interval '1 day' RETURNING id"
    );
    ASSERT_EQ(server.end(SIGTERM), 0);
    EXPECT_EQ(is("expires_at < now() + interval '2 days'"), "t");
}

// Not in the one that the session began in, if any.
TEST_F(SessionLife, APersonWasActiveInTheWorkspaceThatRequestsAreAbout) {
    Client bob = person("bob@example.com");
    const auto org =
        expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}})).text("/id");
    const json::value bobs{{"email", "bob@example.com"}};
    expect(201, browser.post("/v1/orgs/" + org + "/members", bobs));
    expect(200, bob.get("/v1/me"));
    const auto active = [&](const std::string& email) {
        return ask(
            "SELECT count(m.last_active_at) FROM memberships m JOIN users u ON u.id = m.user_id "
            "WHERE u.email = '" +
            email + "'"
        );
    };
    expect(200, bob.send("GET", "/v1/boards", {}, {{"X-Svc-Org", org}}));
    ASSERT_EQ(server.end(SIGTERM), 0);
    EXPECT_EQ(active("bob@example.com"), "1");
    EXPECT_EQ(active("ada@example.com"), "1");
}

TEST_F(SessionLife, AServerThatStartsAgainKnowsThem) {
    ASSERT_EQ(server.end(SIGTERM), 0);
    server.start();
    expect(200, browser.get("/v1/me"));
    expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}}));
}

TEST_F(SessionLife, EveryServerOfTheDatabaseKnowsThatOneHasEnded) {
    const Server second({.database_url = database, .settings = {same_secret}});
    const Headers cookies{{"Cookie", "svc_session=" + browser.cookie("svc_session")}};
    const auto me = [&](const Server& at) {
        Client fresh = at.client();
        return fresh.send("GET", "/v1/me", {}, cookies);
    };
    expect(200, me(server));
    expect(200, me(second));
    expect(204, browser.send("DELETE", "/v1/me/sessions"));
    expect(401, me(second));
    expect(401, me(server));
}

}  // namespace
}  // namespace svc::test
