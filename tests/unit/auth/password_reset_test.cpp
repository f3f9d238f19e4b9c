#include "tests/support/accounts_fixture.hpp"

#include "tests/support/database_role.hpp"
#include "tests/support/eventually.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class PasswordReset : public AccountsTest {
protected:
    /// The token of the newest mail with one, of `count` mails in all.
    std::string asked_token(const std::string& email, std::size_t count = 2) {
        expect(204, ask_for_reset(email));
        return mailed_token(email, count);
    }
};

TEST_F(PasswordReset, GivesANewPasswordAndEndsEverySession) {
    Client browser = person("ada@example.com");
    Client second = client();
    expect(200, log_in(second, "ada@example.com"));
    const auto asked = expect(204, ask_for_reset("ada@example.com"));
    EXPECT_EQ(asked.body, "");
    EXPECT_EQ(asked.header("set-cookie"), "");
    expect(200, browser.get("/v1/me"));

    const auto done = expect(204, reset(mailed_token("ada@example.com", 2)));
    EXPECT_EQ(done.header("set-cookie"), "") << "it does not sign in";
    expect(401, browser.get("/v1/me"));
    expect(401, second.get("/v1/me"));
    expect(401, log_in("ada@example.com", password));
    expect(200, log_in("ada@example.com", other_password));
    EXPECT_THAT(server.mail_to("ada@example.com", 3), HasSubstr("password was changed"));
}

TEST_F(PasswordReset, TheLinkLeadsToThePage) {
    person("ada@example.com");
    expect(204, ask_for_reset("ada@example.com"));
    EXPECT_THAT(
        server.mail_to("ada@example.com", 2),
        HasSubstr("http://127.0.0.1:" + std::to_string(server.port()) + "/reset-password?token=")
    );
    const auto page = client().get("/reset-password");
    EXPECT_EQ(page.status, 200);
    // The console's page: it has its script, and is told that there is what resets passwords.
    EXPECT_THAT(page.body, HasSubstr(R"(<script type="module" crossorigin src="/assets/)"));
    EXPECT_THAT(page.body, HasSubstr(R"(<meta name="serves" content="request_password_reset">)"));
}

TEST_F(PasswordReset, ALinkWorksOnce) {
    person("ada@example.com");
    const auto token = asked_token("ada@example.com");
    expect(204, reset(token));
    const auto again = expect(422, reset(token, "yet another password"));
    EXPECT_EQ(again.text("/code"), "validation_error");
    EXPECT_EQ(first_loc(again), json::parse(R"(["body","token"])"));
    expect(200, log_in("ada@example.com", other_password));
    expect(422, reset("nonsense"));
}

TEST_F(PasswordReset, ALinkRunsOut) {
    person("ada@example.com");
    const auto token = asked_token("ada@example.com");
    ask("UPDATE password_resets SET expires_at = now() RETURNING email_key");
    expect(422, reset(token));
    expect(200, log_in("ada@example.com", password));
}

TEST_F(PasswordReset, OneDoneEndsTheOtherLinks) {
    person("ada@example.com");
    const auto first = asked_token("ada@example.com", 2);
    const auto second = asked_token("ada@example.com", 3);
    ASSERT_NE(first, second);
    expect(204, reset(first));
    expect(422, reset(second, "yet another password"));
    EXPECT_EQ(ask("SELECT count(*) FROM password_resets"), "0");
}

TEST_F(PasswordReset, AnothersAccountStaysAsItIs) {
    Client eve = person("eve@example.com");
    person("ada@example.com");
    const auto eves = asked_token("eve@example.com");
    expect(204, reset(asked_token("ada@example.com")));
    expect(200, eve.get("/v1/me"));
    expect(200, log_in("eve@example.com", password));
    expect(204, reset(eves));
}

TEST_F(PasswordReset, GivesAnAccountWithoutPasswordItsFirst) {
    person_without_password("ada@example.com");
    expect(401, log_in("ada@example.com", password));
    expect(204, reset(asked_token("ada@example.com")));
    expect(200, log_in("ada@example.com", other_password));
}

TEST_F(PasswordReset, KeepsNoTokenInTheClear) {
    person("ada@example.com");
    const auto token = asked_token("ada@example.com");
    EXPECT_THAT(ask("SELECT r::text FROM password_resets r"), Not(HasSubstr(token)));
    constexpr const char* waiting = "SELECT count(*) FROM mail_outbox WHERE status <> 'sent'";
    EXPECT_TRUE(eventually([&] { return ask(waiting) == "0"; }));
    EXPECT_THAT(ask("SELECT string_agg(m::text, ' ') FROM mail_outbox m"), Not(HasSubstr(token)));
    EXPECT_THAT(server.output(), Not(HasSubstr(other_password)));
}

// ---- what a stranger learns: nothing

TEST_F(PasswordReset, AskingIsAnsweredAlikeWhateverThereIs) {
    person("ada@example.com");
    expect(201, sign_up("unverified@example.com"));
    const auto known = expect(204, ask_for_reset("ada@example.com"));
    for (const char* other : {"nobody@example.com", "unverified@example.com"}) {
        const auto reply = expect(204, ask_for_reset(other));
        EXPECT_EQ(reply.body, known.body) << other;
        EXPECT_EQ(header_names(reply), header_names(known)) << other;
    }
    EXPECT_EQ(ask("SELECT count(*) FROM password_resets"), "3") << "it costs the same";
}

TEST_F(PasswordReset, WithoutAnAccountTheMailHoldsNoLinkToAPassword) {
    expect(204, ask_for_reset("nobody@example.com"));
    const auto mail = server.mail_to("nobody@example.com");
    EXPECT_THAT(mail, HasSubstr("No Workboard account"));
    EXPECT_THAT(mail, Not(HasSubstr("token=")));
}

TEST_F(PasswordReset, AnAddressThatWasNeverConfirmedHasNothingToReset) {
    expect(201, sign_up("ada@example.com"));
    expect(204, ask_for_reset("ada@example.com"));
    EXPECT_THAT(server.mail_to("ada@example.com", 2), Not(HasSubstr("/reset-password?token=")));
}

// On a server that tells A from a these are two mailboxes, of two people.
TEST_F(PasswordReset, TheMailGoesToTheAddressAsItsOwnerWroteIt) {
    person("ada@example.com");
    expect(204, ask_for_reset("ADA@example.com"));
    expect(204, reset(mailed_token("ada@example.com", 2)));
    EXPECT_EQ(ask("SELECT count(*) FROM mail_outbox WHERE recipient = 'ADA@example.com'"), "0");
}

TEST_F(PasswordReset, MailsToOneAddressAreLimitedWithoutItShowing) {
    person("ada@example.com");
    const auto first = asked_token("ada@example.com");
    for (int i = 0; i < 6; ++i) expect(204, ask_for_reset("ada@example.com"));
    EXPECT_EQ(ask("SELECT count(*) FROM mail_outbox WHERE template = 'password_reset'"), "5");
    expect(204, reset(first));
}

class PasswordResetFromOnePlace : public AccountsTest {
protected:
    PasswordResetFromOnePlace() : AccountsTest({"auth.mail_requests_from_one_place=3"}) {}
};

TEST_F(PasswordResetFromOnePlace, IsLimitedTogetherWithNewLinks) {
    expect(204, ask_for_reset("a@example.com"));
    expect(204, resend("b@example.com"));
    expect(204, ask_for_reset("c@example.com"));
    for (const auto& refused : {ask_for_reset("d@example.com"), resend("e@example.com")}) {
        EXPECT_EQ(expect(429, refused).text("/code"), "rate_limited");
        EXPECT_EQ(refused.text("/additional_data/rate_limit_reason"), "mail_request");
        EXPECT_GT(std::stoi(refused.header("retry-after")), 3000);
    }
    EXPECT_EQ(ask("SELECT count(*) FROM mail_outbox"), "3");
}

// ---- at once

TEST_F(PasswordReset, OneLinkFollowedTwiceAtOnceGivesOnePassword) {
    person("ada@example.com");
    const auto token = asked_token("ada@example.com");
    const auto chosen = [](int i) { return "a password of thread " + std::to_string(i); };
    const auto replies = at_once(4, [&](int i) { return reset(token, chosen(i)); });
    EXPECT_EQ(count_status(replies, 204), 1);
    EXPECT_EQ(count_status(replies, 422), 3);
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(
            log_in("ada@example.com", chosen(i)).status,
            replies[static_cast<std::size_t>(i)].status == 204 ? 200 : 401
        ) << i;
}

TEST_F(PasswordReset, TwoLinksFollowedAtOnceGiveOnePassword) {
    person("ada@example.com");
    std::vector<std::string> tokens;
    for (std::size_t mails = 2; mails < 6; ++mails)
        tokens.push_back(asked_token("ada@example.com", mails));
    const auto replies =
        at_once(4, [&](int i) { return reset(tokens[static_cast<std::size_t>(i)]); });
    EXPECT_EQ(count_status(replies, 204), 1);
    EXPECT_EQ(count_status(replies, 422), 3);
}

class PasswordResetAmongLogIns : public AccountsTest {
protected:
    PasswordResetAmongLogIns() : AccountsTest({"auth.log_ins=10000", "auth.hash_queue=100"}) {}
};

// A log-in that found the old password right just before it was replaced must not leave a session
// behind that the reset did not see.
TEST_F(PasswordResetAmongLogIns, NoSessionOutlivesThePasswordItWasBegunWith) {
    person("ada@example.com");
    for (std::size_t round = 0; round < 5; ++round) {
        const std::string before = round % 2 == 0 ? password : other_password;
        const std::string after = round % 2 == 0 ? other_password : password;
        expect(204, ask_for_reset("ada@example.com"));
        const auto token = mailed_token("ada@example.com", 2 + 2 * round);
        const auto statuses = at_once(8, [&](int i) {
            return (i == 4 ? reset(token, after) : log_in("ada@example.com", before)).status;
        });
        EXPECT_EQ(statuses[4], 204);
        EXPECT_EQ(ask("SELECT count(*) FROM sessions WHERE revoked_at IS NULL"), "0");
        server.mail_to("ada@example.com", 3 + 2 * round);
    }
}

// Both lock the account and then its password. A log-in that held the password while it waited for
// the account would lock the reset out, and be tried again sooner than the reset.
TEST_F(PasswordReset, ALogInThatWaitsForItHoldsNothingThatItNeeds) {
    person("ada@example.com");
    DatabaseRole other_reset(Postgres::shared().superuser_url(database));
    other_reset.must("BEGIN");
    other_reset.must("SELECT 1 FROM users FOR NO KEY UPDATE");
    auto reply = std::async(std::launch::async, [&] { return log_in("ada@example.com"); });
    ASSERT_TRUE(eventually([&] {
        return ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                   " AND datname = current_database()") == "1";
    }));
    EXPECT_EQ(other_reset.run("SELECT 1 FROM passwords FOR UPDATE NOWAIT").state, "");
    other_reset.must("COMMIT");
    EXPECT_EQ(reply.get().status, 200);
}

// ---- what is refused

TEST_F(PasswordReset, WrongFieldsAreNamedAndSecretsNotRepeated) {
    expect(422, ask_for_reset("nobody"));
    expect(422, once("POST", "/v1/auth/password-reset/request"));
    expect(
        422,
        once(
            "POST",
            "/v1/auth/password-reset/request",
            {{"email", "ada@example.com"}, {"new_password", password}}
        )
    );
    const auto refused = expect(422, reset("", "seven77"));
    EXPECT_EQ(refused.json().at("detail").as_array().size(), 2u);
    EXPECT_THAT(refused.body, Not(HasSubstr("seven77")));
    expect(422, reset("nonsense", std::string(129, 'x')));
}

TEST_F(PasswordReset, AnotherSitesPageCannotAskNorConfirm) {
    const json::value address{{"email", "ada@example.com"}};
    const json::value choice{{"token", "x"}, {"new_password", password}};
    for (const Headers& headers :
         {Headers{{"Origin", "https://evil.example"}}, Headers{{"Sec-Fetch-Site", "cross-site"}}}) {
        const auto asked =
            expect(403, once("POST", "/v1/auth/password-reset/request", address, headers));
        EXPECT_EQ(asked.text("/code"), "csrf_failed");
        const auto confirmed =
            expect(403, once("POST", "/v1/auth/password-reset/confirm", choice, headers));
        EXPECT_EQ(confirmed.text("/code"), "csrf_failed");
    }
    EXPECT_EQ(ask("SELECT count(*) FROM mail_outbox"), "0");
}

}  // namespace
}  // namespace svc::test
