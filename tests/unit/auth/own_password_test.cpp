#include "tests/support/accounts_fixture.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/mcp_client.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

Reply change(
    Client& by, const std::string& from = password, const std::string& to = other_password
) {
    return by.post(
        "/v1/me/password", json::value{{"current_password", from}, {"new_password", to}}
    );
}
Reply set(Client& by, const std::string& to = password) {
    return by.post("/v1/me/password/set", json::value{{"new_password", to}});
}

/// A token of the workspace that the browser is in.
std::string mint(Client& browser, const json::value& body) {
    return expect(201, browser.post("/v1/tokens", body)).text("/token");
}
const json::value integration{{"kind", "integration"}, {"name", "Importer"}};
const json::value agent{{"kind", "agent"}, {"name", "Robot"}, {"agent", {{"name", "Robot"}}}};

class OwnPassword : public AccountsTest {};

// ---- changing it

TEST_F(OwnPassword, ChangesAndEndsTheOtherSessions) {
    Client browser = person("ada@example.com"), second = client();
    expect(200, log_in(second, "ada@example.com"));
    EXPECT_EQ(expect(204, change(browser)).body, "");
    expect(200, browser.get("/v1/me"));
    expect(401, second.get("/v1/me"));
    expect(401, log_in("ada@example.com", password));
    expect(200, log_in("ada@example.com", other_password));
    EXPECT_THAT(server.mail_to("ada@example.com", 2), HasSubstr("password was changed"));
}

TEST_F(OwnPassword, NeedsThePresentOne) {
    Client browser = person("ada@example.com"), second = client();
    expect(200, log_in(second, "ada@example.com"));
    const auto refused = expect(422, change(browser, "not the right one"));
    EXPECT_EQ(refused.text("/code"), "validation_error");
    EXPECT_EQ(first_loc(refused), json::parse(R"(["body","current_password"])"));
    EXPECT_THAT(refused.body, Not(HasSubstr("not the right one")));
    expect(200, second.get("/v1/me"));
    expect(200, log_in("ada@example.com", password));
}

TEST_F(OwnPassword, CannotBeGuessedWithASessionInHand) {
    Client browser = person("ada@example.com");
    for (int i = 0; i < 10; ++i) expect(422, change(browser, "not the right one"));
    const auto refused = expect(429, change(browser));
    EXPECT_EQ(refused.text("/additional_data/rate_limit_reason"), "password_check");
    EXPECT_GE(std::stoi(refused.header("retry-after")), 1);
    expect(200, log_in("ada@example.com", password));
}

TEST_F(OwnPassword, RightGuessesAreNotCounted) {
    Client browser = person("ada@example.com");
    for (int i = 0; i < 6; ++i) {
        expect(204, change(browser, password, other_password));
        expect(204, change(browser, other_password, password));
    }
}

// Another transaction is in the way once, so that the handler runs again.
TEST_F(OwnPassword, ChangedOnTheSecondTryIsHashedAndCountedOnce) {
    Client browser = person("ada@example.com");
    ask(R"(
        CREATE SEQUENCE tries;
        GRANT USAGE ON tries TO PUBLIC;
        CREATE FUNCTION refuse_once() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF nextval('tries') = 1 THEN
                RAISE EXCEPTION 'in the way' USING ERRCODE = 'serialization_failure';
            END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER refuse_once BEFORE UPDATE ON passwords
            FOR EACH ROW EXECUTE FUNCTION refuse_once();
        SELECT 1)");
    const auto counted = [&] { return ask("SELECT sum(count) FROM rate_windows"); };
    const auto before = counted();
    expect(204, change(browser));
    EXPECT_EQ(ask("SELECT last_value FROM tries"), "2");
    EXPECT_EQ(counted(), before);
    expect(200, log_in("ada@example.com", other_password));
}

TEST_F(OwnPassword, EndsTheLinksToANewOne) {
    Client browser = person("ada@example.com");
    expect(204, ask_for_reset("ada@example.com"));
    const auto token = mailed_token("ada@example.com", 2);
    expect(204, change(browser));
    expect(422, reset(token, "yet another password"));
}

TEST_F(OwnPassword, ThatIsMissingCannotBeChanged) {
    Client browser = person_without_password("ada@example.com");
    const auto refused = expect(409, change(browser));
    EXPECT_EQ(refused.text("/code"), "conflict_error");
    EXPECT_EQ(refused.text("/additional_data/reason"), "password_not_set");
}

TEST_F(OwnPassword, IsForItsOwnerWithOrWithoutABrowser) {
    Client browser = person("ada@example.com");
    expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}}));
    Client program = client(), robot = client(), stranger = client();
    program.token(mint(browser, integration));
    robot.token(mint(browser, agent));

    EXPECT_EQ(expect(403, change(robot)).text("/code"), "restricted_resource");
    EXPECT_EQ(expect(403, set(robot)).text("/code"), "restricted_resource");
    expect(401, change(stranger));
    expect(401, set(stranger));
    expect(204, change(program));
    expect(401, browser.get("/v1/me"));
    expect(200, program.get("/v1/me"));
}

TEST_F(OwnPassword, IsNotChangedByATool) {
    Client browser = person("ada@example.com");
    expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}}));
    McpClient program(server.port(), mint(browser, integration));
    expect(200, program.initialize());
    const auto refused = expect(
        200,
        program.call(
            "change_my_password", {{"current_password", password}, {"new_password", other_password}}
        )
    );
    EXPECT_EQ(refused.text("/error/message"), "Unknown tool: change_my_password");
    expect(200, log_in("ada@example.com", password));
}

TEST_F(OwnPassword, WritesNeedTheTokenOfThePage) {
    Client browser = person("ada@example.com");
    const Headers cookies{
        {"Cookie",
         "svc_session=" + browser.cookie("svc_session") +
             "; svc_csrf=" + browser.cookie("svc_csrf")}};
    const json::value body{{"current_password", password}, {"new_password", other_password}};
    EXPECT_EQ(
        expect(403, once("POST", "/v1/me/password", body, cookies)).text("/code"), "csrf_failed"
    );
    expect(200, log_in("ada@example.com", password));
}

TEST_F(OwnPassword, HasTheLengthOfOne) {
    Client browser = person("ada@example.com");
    const auto refused = expect(422, change(browser, password, "seven77"));
    EXPECT_EQ(first_loc(refused), json::parse(R"(["body","new_password"])"));
    EXPECT_THAT(refused.body, Not(HasSubstr("seven77")));
    expect(422, change(browser, password, std::string(129, 'x')));
    expect(422, change(browser, "", other_password));
    expect(422, browser.post("/v1/me/password"));
    expect(422, set(browser, "seven77"));
}

TEST_F(OwnPassword, ChangedTwiceAtOnceChangesOnce) {
    const Client browser = person("ada@example.com");
    const auto chosen = [](int i) { return "a password of thread " + std::to_string(i); };
    const auto replies = at_once(4, [&](int i) {
        Client same = browser;
        return change(same, password, chosen(i));
    });
    EXPECT_EQ(count_status(replies, 204), 1);
    EXPECT_EQ(count_status(replies, 422), 3);
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(
            log_in("ada@example.com", chosen(i)).status,
            replies[static_cast<std::size_t>(i)].status == 204 ? 200 : 401
        ) << i;
}

// The account is in no workspace, but its administrators want to know.
TEST_F(OwnPassword, ChangedLeavesAnEntryInTheWorkspacesAuditRecord) {
    Client browser = person("ada@example.com");
    expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}}));
    expect(204, change(browser));
    const auto found = [&] {
        return ask("SELECT count(*) FROM audit_events WHERE action = 'change_my_password'");
    };
    EXPECT_TRUE(eventually([&] { return found() != "0"; }));
    EXPECT_EQ(found(), "1");
    const auto entry =
        ask("SELECT a::text FROM audit_events a WHERE action = 'change_my_password'");
    EXPECT_THAT(entry, HasSubstr("success"));
    EXPECT_THAT(entry, Not(HasSubstr(other_password)));
    EXPECT_THAT(entry, Not(HasSubstr("argon2id")));
}

// Nor are mails about it: the admins of where one happens to be neither see nor send them again.
TEST_F(OwnPassword, ChangedIsMailedOutsideTheWorkspace) {
    Client browser = person("ada@example.com");
    const auto org =
        expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}})).text("/id");
    expect(204, change(browser));
    server.mail_to("ada@example.com", 2);
    const auto listed = expect(200, browser.get("/v1/orgs/" + org + "/email-outbox"));
    EXPECT_EQ(listed.json().at("results").as_array().size(), 0u) << listed.body;
    EXPECT_EQ(
        ask("SELECT org_id FROM mail_outbox WHERE template = 'password_changed'"),
        "00000000-0000-0000-0000-000000000000"
    );
}

/// Hashing takes long enough for things to happen meanwhile.
class OwnPasswordSlowly : public AccountsTest {
protected:
    OwnPasswordSlowly() : AccountsTest({"auth.password_memory_mib=64", "auth.password_passes=6"}) {}

    void wait_for_attempt() {
        const std::string attempts = "SELECT count(*) FROM rate_windows WHERE count > 0";
        ASSERT_TRUE(eventually([&] { return ask(attempts) == "3"; })) << ask(attempts);
    }
};

TEST_F(OwnPasswordSlowly, ASessionThatIsEndedMeanwhileChangesNothing) {
    Client browser = person("ada@example.com");  // leaves two windows: the place, the mails
    auto changing = std::async(std::launch::async, [&] { return change(browser); });
    wait_for_attempt();
    ask("UPDATE sessions SET revoked_at = now() RETURNING id");
    EXPECT_EQ(expect(401, changing.get()).text("/code"), "unauthorized");
    EXPECT_EQ(ask("SELECT version FROM passwords"), "1");
    expect(200, log_in("ada@example.com", password));
}

// ---- setting the first

TEST_F(OwnPassword, IsSetOnce) {
    Client browser = person_without_password("ada@example.com");
    EXPECT_EQ(browser.get("/v1/me").text("/has_password"), "false");
    EXPECT_EQ(browser.get("/v1/me").text("/auth_methods"), "[]");
    expect(204, set(browser));
    EXPECT_EQ(browser.get("/v1/me").text("/has_password"), "true");
    EXPECT_EQ(browser.get("/v1/me").text("/auth_methods"), R"(["password"])");
    expect(200, log_in("ada@example.com", password));

    const auto refused = expect(409, set(browser, other_password));
    EXPECT_EQ(refused.text("/code"), "conflict_error");
    EXPECT_EQ(refused.text("/additional_data/reason"), "password_already_set");
    expect(401, log_in("ada@example.com", other_password));
}

// Otherwise whoever holds a token, be it of a mere viewer, would hold the whole account.
TEST_F(OwnPassword, IsNotSetByAToken) {
    Client browser = person("ada@example.com");
    expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}}));
    ask("DELETE FROM passwords RETURNING user_id");
    for (const char* role : {"viewer", "admin"}) {
        Client program = client();
        program.token(mint(browser, {{"kind", "integration"}, {"name", "Importer"}, {"role", role}})
        );
        expect(200, program.get("/v1/me"));
        EXPECT_EQ(expect(403, set(program)).text("/code"), "restricted_resource") << role;
        McpClient tools(server.port(), mint(browser, integration));
        expect(200, tools.initialize());
        const auto refused = tools.call("set_my_password", {{"new_password", password}});
        EXPECT_THAT(refused.body, HasSubstr("error")) << refused.body;
    }
    EXPECT_EQ(ask("SELECT count(*) FROM passwords"), "0");
    expect(204, set(browser));
}

TEST_F(OwnPassword, SetTwiceAtOnceIsSetOnce) {
    const Client browser = person_without_password("ada@example.com");
    const auto replies = at_once(4, [&](int i) {
        Client same = browser;
        return set(same, "a password of thread " + std::to_string(i));
    });
    EXPECT_EQ(count_status(replies, 204), 1);
    EXPECT_EQ(count_status(replies, 409), 3);
}

}  // namespace
}  // namespace svc::test
