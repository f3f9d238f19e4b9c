// What an operator does about people, agents and tokens, with the program and no request.

#include "tests/support/places.hpp"
#include "tests/unit/orgs/orgs_fixture.hpp"

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
    /// How often the record has it, and by whom, once that is `wanted`.
    std::string audited(const std::string& action, const std::string& wanted) {
        return ask_until(
            wanted,
            "SELECT count(*) || ' ' || coalesce(min(actor_type), '') || ' ' "
            "|| coalesce(min(via), '') FROM audit_events WHERE org_id = '" +
                org + "' AND action = '" + action + "'"
        );
    }
    /// What the command says to whoever typed it, complaints included.
    Finished operate_aloud(std::vector<std::string> words) {
        words.insert(
            words.begin(), {"bash", "-c", "exec \"$@\" 2>&1", "bash", in_build("bin/workboard")}
        );
        words.insert(
            words.end(), {"--database-url", database, "--var", (server.var() / "operator").string()}
        );
        return run(words);
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
    EXPECT_EQ(audited("revoke_token", "2 system system"), "2 system system");
    EXPECT_THAT(operate({"user", "list"}).output, HasSubstr("bob@example.com  Ada  disabled"));

    EXPECT_EQ(operate({"user", "disable", "bob@example.com"}).code, 0) << "again changes nothing";
    ASSERT_EQ(operate({"user", "enable", "bob@example.com"}).code, 0);
    expect(200, enter("bob@example.com"));
    EXPECT_EQ(token.get("/v1/me").status, 401) << "tokens stay revoked";
    EXPECT_EQ(events("member.enabled", 1), "1");
    EXPECT_EQ(operate({"user", "disable", "eve@example.com"}).code, 1);
}

TEST_F(Operator, MakesNoAccountThatNobodyCouldHaveMade) {
    const std::string long_name(121, 'x'), long_address(250, 'a');
    const std::vector<std::vector<std::string>> refused{
        {"user", "add", "bob@example.com", ""},
        {"user", "add", "bob@example.com", "   "},
        {"user", "add", "bob@example.com", long_name},
        {"user", "add", "bob@example.com", "\x1b[31mBob"},
        {"user", "add", "bob@example.com", "Bob\nEve"},
        {"user", "add", "bob@example.com", "B\xff\xfe"},
        {"user", "add", ""},
        {"user", "add", "bob"},
        {"user", "add", "bob@example.com\neve@example.com"},
        {"user", "add", "bob@ex\xff.com"},
        {"user", "add", "'; DELETE FROM users; --"},
        {"user", "add", long_address + "@example.com"},
        {"user", "reset-password", ""},
        {"user", "reset-password", "%"},
        {"user", "disable", ""},
        {"user", "disable", "*"},
        {"user", "disable", "ada"},
        {"user", "disable", "ada@example.com eve@example.com"},
        {"user", "disable", "00000000-0000-0000-0000-000000000000"},
        {"user", "enable", "'ada@example.com'"},
    };
    for (const auto& words : refused) {
        const auto done = operate_aloud(words);
        EXPECT_EQ(done.code, 1) << words[1] << ' ' << words[2] << ": " << done.output;
        EXPECT_TRUE(done.output.starts_with("workboard: ")) << words[1] << ' ' << words[2];
    }
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"user"},
             {"user", "add"},
             {"user", "list", "all"},
             {"user", "delete", "ada@example.com"}})
        EXPECT_EQ(operate(words).code, 2) << words.back();
    EXPECT_EQ(ask("SELECT count(*) || ' ' || count(disabled_at) FROM users"), "1 0");
    expect(200, ada.get("/v1/me"));

    const std::string longest(120, 'x');
    EXPECT_EQ(operate({"user", "add", "bob@example.com", "  " + longest + " "}).code, 0);
    EXPECT_EQ(ask("SELECT name FROM users WHERE email = 'bob@example.com'"), longest);
    EXPECT_EQ(operate({"user", "add", "cy@example.com", "日本語"}).code, 0);
    EXPECT_THAT(operate({"user", "list"}).output, HasSubstr("cy@example.com  日本語  active"));
}

TEST_F(Operator, VouchesForSomebodyWhoWasAddedAndKeepsTheirName) {
    expect(201, ada.post(members, json::value{{"email", "bob@example.com"}, {"name", "Bob"}}));
    ASSERT_EQ(operate({"user", "disable", "bob@example.com"}).code, 0);
    const auto added = operate({"user", "add", "bob@example.com"});
    EXPECT_THAT(added.output, HasSubstr("bob@example.com  Bob  disabled"));
    expect(204, reset(link_in(added)));
    EXPECT_EQ(enter("bob@example.com", other_password).text("/code"), "account_disabled");
    ASSERT_EQ(operate({"user", "enable", "bob@example.com"}).code, 0);
    expect(200, enter("bob@example.com", other_password));
}

TEST_F(Operator, ShutsOutWhoeverConfirmsAnAddressOrHasATokenThatWasBeingMade) {
    Client bob = member("bob@example.com", "admin");
    Client token = program(bob);
    expect(201, add(ada, "cy@example.com"));
    const auto link = mailed_token("cy@example.com");
    ASSERT_EQ(operate({"user", "disable", "cy@example.com"}).code, 0);
    const auto refused = verify(link);
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(refused.text("/code"), "account_disabled");
    // As when a request that made a token was under way.
    ask("UPDATE users SET disabled_at = now() WHERE email = 'bob@example.com' RETURNING id");
    EXPECT_EQ(token.get("/v1/me").status, 401);
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
    EXPECT_EQ(audited("revoke_token", "1 system system"), "1 system system");
    EXPECT_EQ(events("token.revoked", 1), "1");
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
    const auto agent_now = expect(200, ada.get("/v1/agents/" + agent_id));
    EXPECT_EQ(agent_now.text("/disabled_by/principal_type"), "system");
    EXPECT_EQ(agent_now.text("/last_edited_by/principal_type"), "system");
    EXPECT_EQ(agent_now.text("/created_by/principal_type"), "user");
    const auto tokens = expect(200, ada.get("/v1/tokens")).json();
    for (const auto& each : tokens.at("results").as_array())
        if (each.at("id").as_string() == token_id) {
            EXPECT_EQ(each.at("last_edited_by").at("principal_type").as_string(), "system");
        }
}

TEST_F(Operator, StopsNobodyWhoWasNotNamed) {
    Client agent = program(ada, "agent");
    const auto agent_id = expect(200, agent.get("/v1/me")).text("/id");
    const auto too_long = operate_aloud({"agent", "disable", agent_id, std::string(501, 'x')});
    EXPECT_EQ(too_long.code, 1);
    EXPECT_THAT(too_long.output, HasSubstr("reason: "));
    for (const char* each : {"", "%", "svc_", "'; DELETE FROM tokens; --", "\x1b[31m"}) {
        EXPECT_EQ(operate({"token", "revoke", each}).code, 1) << each;
        EXPECT_EQ(operate({"agent", "disable", each}).code, 1) << each;
    }
    EXPECT_EQ(operate({"token", "revoke", nowhere}).code, 1);
    EXPECT_EQ(operate({"agent", "disable", nowhere}).code, 1);
    EXPECT_EQ(operate({"token", "revoke"}).code, 2);
    EXPECT_EQ(operate({"agent"}).code, 2);
    expect(200, agent.get("/v1/me"));
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

}  // namespace
}  // namespace svc::test
