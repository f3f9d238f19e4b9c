// What an operator does about people, agents and tokens, with the program and no request.

#include "tests/support/places.hpp"
#include "tests/unit/workspaces/workspaces.hpp"

#include <gmock/gmock.h>

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class Operator : public WorkspacesTest {
protected:
    Reply enter(const std::string& email, const std::string& with = password) {
        return log_in(email, with);
    }
    std::string link_in(const Finished& done) const { return mail_value(done.output, "token="); }
    std::string audited(const std::string& action) {
        return ask(
            "SELECT count(*) || ' ' || coalesce(min(actor::json ->> 'principal_type'), '') || ' ' "
            "||"
            " coalesce(min(actor::json ->> 'via'), '') FROM audit_events WHERE org_id = '" +
            org + "' AND action = '" + action + "'"
        );
    }
};

TEST_F(Operator, AddsSomebodyWhoThenSetsAPassword) {
    const auto added = operate({"user", "add", "Bob@example.com", "Bob"});
    ASSERT_EQ(added.code, 0) << added.output;
    EXPECT_THAT(added.output, HasSubstr("added the account"));
    EXPECT_EQ(enter("bob@example.com").status, 401) << "there is no password yet";
    expect(204, reset(link_in(added)));
    EXPECT_EQ(expect(200, enter("bob@example.com", other_password)).text("/user/name"), "Bob");
    EXPECT_EQ(reset(link_in(added)).status, 422) << "the link is good for one use";
    EXPECT_EQ(operate({"user", "add", "BOB@example.com"}).code, 1);
    EXPECT_EQ(operate({"user", "add", "nonsense"}).code, 1);
    EXPECT_EQ(ask("SELECT count(*) FROM users"), "2");
}

TEST_F(Operator, GivesALinkToANewPassword) {
    const auto given = operate({"user", "reset-password", "ada@example.com"});
    ASSERT_EQ(given.code, 0);
    expect(204, reset(link_in(given)));
    EXPECT_EQ(ada.get("/v1/me").status, 401) << "sessions end with the password";
    expect(200, enter("ada@example.com", other_password));
    EXPECT_EQ(operate({"user", "reset-password", "eve@example.com"}).code, 1);
}

TEST_F(Operator, ShutsSomebodyOutAndLetsThemInAgain) {
    Client bob = member("bob@example.com", "admin");
    Client token = program(bob), agent = program(bob, "agent");
    for (Client* each : {&bob, &token, &agent}) expect(200, each->get("/v1/me"));
    const auto columns = json::array{{{"name", "Do"}, {"kind", "queue"}}};
    const auto board =
        expect(201, ada.post("/v1/boards", json::value{{"name", "Work"}, {"columns", columns}}));
    const auto column = board.text("/column_ids/0"), here_is = "/v1/boards/" + board.text("/id");
    expect(
        201, ada.post(here_is + "/cards", json::value{{"column_id", column}, {"title", "Card"}})
    );
    const auto claimed = expect(200, bob.post(here_is + "/columns/" + column + ":claim-next"));
    ASSERT_EQ(claimed.text("/claimed"), "true");

    const auto done = operate({"user", "disable", "bob@example.com"});
    ASSERT_EQ(done.code, 0);
    EXPECT_THAT(done.output, HasSubstr("2 tokens were revoked"));
    for (Client* each : {&bob, &token, &agent}) EXPECT_EQ(each->get("/v1/me").status, 401);
    const auto refused = enter("bob@example.com");
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(refused.text("/code"), "account_disabled");
    EXPECT_EQ(enter("bob@example.com", "not the password").status, 401);
    EXPECT_EQ(ask_until("0", "SELECT count(*) FROM queue WHERE lease_id IS NOT NULL"), "0")
        << "what they had claimed is free";
    EXPECT_EQ(events("member.disabled", 1), "1");
    EXPECT_EQ(audited("revoke_token"), "2 system system");
    EXPECT_THAT(operate({"user", "list"}).output, HasSubstr("bob@example.com  Ada  disabled"));

    EXPECT_EQ(operate({"user", "disable", "bob@example.com"}).code, 0) << "again changes nothing";
    ASSERT_EQ(operate({"user", "enable", "bob@example.com"}).code, 0);
    expect(200, enter("bob@example.com"));
    EXPECT_EQ(token.get("/v1/me").status, 401) << "tokens stay revoked";
    EXPECT_EQ(events("member.enabled", 1), "1");
    EXPECT_EQ(operate({"user", "disable", "eve@example.com"}).code, 1);
}

TEST_F(Operator, StopsTokensAndAgentsWhateverTheBill) {
    Client token = program(ada), agent = program(ada, "agent");
    const auto agent_id = expect(200, agent.get("/v1/me")).text("/id");
    const auto token_id =
        ask("SELECT id FROM tokens WHERE kind = 'integration' AND org_id = '" + org + "'");
    set_state("past_due");

    const auto revoked = operate({"token", "revoke", token_id});
    EXPECT_EQ(revoked.code, 0);
    EXPECT_THAT(revoked.output, HasSubstr("revoked the token " + token_id));
    EXPECT_EQ(token.get("/v1/me").status, 401);
    EXPECT_EQ(events("token.revoked", 1), "1");
    EXPECT_EQ(audited("revoke_token"), "1 system system");
    const auto again = operate({"token", "revoke", token_id});
    EXPECT_EQ(again.code, 0);
    EXPECT_THAT(again.output, HasSubstr("already"));

    const auto disabled = operate({"agent", "disable", agent_id, "It ran away"});
    EXPECT_EQ(disabled.code, 0);
    EXPECT_THAT(disabled.output, HasSubstr("disabled the agent " + agent_id));
    EXPECT_EQ(agent.get("/v1/me").status, 401);
    EXPECT_EQ(
        expect(200, ada.get("/v1/agents/" + agent_id)).text("/disabled_reason"), "It ran away"
    );
    EXPECT_EQ(events("agent.disabled", 1), "1");

    EXPECT_EQ(operate({"token", "revoke", nowhere}).code, 1);
    EXPECT_EQ(operate({"agent", "disable", nowhere}).code, 1);
    EXPECT_EQ(operate({"token", "revoke"}).code, 2);
    EXPECT_EQ(operate({"agent"}).code, 2);
}

TEST_F(Operator, RevokesATokenThatWasFoundSomewhere) {
    const json::value wanted{{"kind", "integration"}, {"name", "CI"}, {"role", "member"}};
    const auto made = expect(201, ada.post("/v1/tokens", wanted));
    Client leaked = client();
    leaked.token(made.text("/token"));
    expect(200, leaked.get("/v1/me"));
    const auto done = operate({"token", "revoke", made.text("/token")});
    EXPECT_EQ(done.code, 0);
    EXPECT_THAT(done.output, HasSubstr(made.text("/id")));
    EXPECT_THAT(done.output, testing::Not(HasSubstr(made.text("/token"))));
    EXPECT_EQ(leaked.get("/v1/me").status, 401);
}

TEST_F(Operator, IsToldOfTheCommands) {
    const auto help = run({in_build("bin/workboard"), "help"}).output;
    for (const char* each : {"user", "token", "agent", "org"}) EXPECT_THAT(help, HasSubstr(each));
}

// ------------------------------------------------------------- addresses of before the upgrade

TEST_F(Operator, FindsOldAddressesUnderTheirNewKeysAfterAnUpgrade) {
    expect(201, sign_up("Ünal@example.com"));
    const auto unal = mailed_token("Ünal@example.com");
    expect(200, verify(unal));
    ASSERT_EQ(server.end(SIGTERM), 0);
    // As the rows were kept before: lower case of ASCII alone.
    ask("UPDATE users SET email_key = 'Ünal@example.com' WHERE email = 'Ünal@example.com' "
        "RETURNING id");
    ask("INSERT INTO users (id, email, email_key, email_verified) VALUES "
        "('0192f0c1-2d3e-7f40-8123-456789abcd01', 'ünal@example.com', 'ünal@example.com', false), "
        "('0192f0c1-2d3e-7f40-8123-456789abcd02', 'bo@bücher.example', 'bo@bücher.example', true) "
        "RETURNING id");
    ask("UPDATE address_keys SET renewed_at = NULL RETURNING 1");
    server.start();
    EXPECT_EQ(
        ask("SELECT email || ' ' || email_key FROM users WHERE id = "
            "'0192f0c1-2d3e-7f40-8123-456789abcd02'"),
        "bo@xn--bcher-kva.example bo@xn--bcher-kva.example"
    );
    EXPECT_EQ(ask("SELECT count(*) FROM users WHERE email_key = 'ünal@example.com'"), "1");
    EXPECT_EQ(ask("SELECT count(*) FROM users"), "4") << "no account is lost";
    EXPECT_NE(ask("SELECT renewed_at FROM address_keys"), "");
}

TEST_F(Operator, MeetsOneAccountForAllSpellingsOfAnAddress) {
    for (const char* each : {"Ünal@example.com", "ünal@example.com", "u\xCC\x88nal@Example.com"})
        expect(201, sign_up(each));
    expect(200, verify(mailed_token("Ünal@example.com")));
    expect(200, enter("u\xCC\x88NAL@example.com"));
    expect(201, sign_up("ÜNAL@example.com"));
    EXPECT_EQ(ask("SELECT count(*) FROM users"), "2");
}

}  // namespace
}  // namespace svc::test
