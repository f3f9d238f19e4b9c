#include "tests/support/accounts_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Resend : public AccountsTest {
protected:
    /// Somebody whom an admin has added to a workspace.
    void add_newcomer(const std::string& email) {
        ask("INSERT INTO users (id, email, email_key, email_verified) VALUES "
            "('0192f0c1-2d3e-7f40-8123-456789abcdef', '" +
            email + "', '" + email + "', false) RETURNING id");
    }
};

TEST_F(Resend, GivesAnotherLinkInPlaceOfTheFirst) {
    expect(201, sign_up("ada@example.com"));
    const auto first = mailed_token("ada@example.com");
    EXPECT_EQ(expect(204, resend("ada@example.com")).body, "");
    const auto second = mailed_token("ada@example.com", 2);
    ASSERT_NE(first, second);
    expect(422, verify(first));
    const auto session = expect(200, verify(second));
    EXPECT_EQ(session.text("/user/name"), "Ada");
    EXPECT_EQ(session.text("/user/has_password"), "true");
    expect(200, log_in("ada@example.com", password));
}

TEST_F(Resend, ALinkOfASignUpThatRanOutIsNotRenewed) {
    expect(201, sign_up("ada@example.com"));
    ask("UPDATE sign_ups SET expires_at = now() RETURNING id");
    expect(204, resend("ada@example.com"));
    EXPECT_THAT(server.mail_to("ada@example.com", 2), HasSubstr("nothing to confirm"));
}

// A stranger may have signed up with the same address, and that password must not count because
// its owner follows a link that the owner asked for.
TEST_F(Resend, OfSeveralSignUpsNoPasswordCounts) {
    expect(201, sign_up("ada@example.com", password));
    expect(201, sign_up("ada@example.com", other_password));
    server.mail_to("ada@example.com", 2);
    expect(204, resend("ada@example.com"));
    const auto session = expect(200, verify(mailed_token("ada@example.com", 3)));
    EXPECT_EQ(session.text("/user/has_password"), "false");
    EXPECT_NE(log_in("ada@example.com", password).status, 200);
    EXPECT_NE(log_in("ada@example.com", other_password).status, 200);
}

TEST_F(Resend, WhomAnAdminHasAddedGetsALinkWithoutAPassword) {
    add_newcomer("ada@example.com");
    expect(201, sign_up("ada@example.com", other_password));  // a stranger's
    server.mail_to("ada@example.com");
    expect(204, resend("ada@example.com"));
    const auto session = expect(200, verify(mailed_token("ada@example.com", 2)));
    EXPECT_EQ(session.text("/user/id"), "0192f0c1-2d3e-7f40-8123-456789abcdef");
    EXPECT_EQ(session.text("/user/email_verified"), "true");
    EXPECT_EQ(session.text("/user/has_password"), "false");
    EXPECT_NE(log_in("ada@example.com", other_password).status, 200);
}

TEST_F(Resend, IsAnsweredAlikeWhateverThereIs) {
    person("account@example.com");
    expect(201, sign_up("waiting@example.com"));
    add_newcomer("newcomer@example.com");
    const auto first = expect(204, resend("account@example.com"));
    for (const char* other :
         {"waiting@example.com", "newcomer@example.com", "nobody@example.com"}) {
        const auto reply = expect(204, resend(other));
        EXPECT_EQ(reply.body, first.body) << other;
        EXPECT_EQ(header_names(reply), header_names(first)) << other;
    }
}

TEST_F(Resend, TellsTheOwnerWhatThereIs) {
    person("account@example.com");
    expect(204, resend("account@example.com"));
    const auto owner = server.mail_to("account@example.com", 2);
    EXPECT_THAT(owner, HasSubstr("already have a Workboard account"));
    EXPECT_THAT(owner, Not(HasSubstr("token=")));
    expect(204, resend("nobody@example.com"));
    const auto nobody = server.mail_to("nobody@example.com");
    EXPECT_THAT(nobody, HasSubstr("Nothing to confirm"));
    EXPECT_THAT(nobody, Not(HasSubstr("token=")));
}

// What is written tells a stopwatch nothing, and a link that nobody was sent makes no account.
TEST_F(Resend, WritesTheSameWhateverThereIs) {
    person("account@example.com");
    expect(201, sign_up("waiting@example.com"));
    add_newcomer("newcomer@example.com");
    const auto written = [&](const std::string& of) {
        return ask(
            "SELECT count(*) || ' ' || count(password_hash) FROM sign_ups WHERE email_key = '" +
            of + "'"
        );
    };
    for (const std::string each :
         {"account@example.com",
          "waiting@example.com",
          "newcomer@example.com",
          "nobody@example.com"}) {
        const bool waits = each.starts_with("waiting");
        expect(204, resend(each));
        EXPECT_EQ(written(each), waits ? "2 1" : "1 0") << each;
    }
    const auto link = mailed_token("waiting@example.com", 2);
    EXPECT_EQ(expect(200, verify(link)).text("/user/has_password"), "true");
}

TEST_F(Resend, MailsToOneAddressAreLimitedAndTheLastLinkStaysGood) {
    expect(201, sign_up("ada@example.com"));
    for (int i = 0; i < 8; ++i) expect(204, resend("ada@example.com"));
    EXPECT_EQ(ask("SELECT count(*) FROM mail_outbox"), "6");
    server.mail_to("ada@example.com", 6);
    int good = 0;
    for (const auto& mail : server.mails_to("ada@example.com"))
        if (verify(mail_value(mail, "token=")).status == 200) ++good;
    EXPECT_EQ(good, 1);
}

TEST_F(Resend, AnotherSitesPageCannotAsk) {
    const json::value body{{"email", "ada@example.com"}};
    const auto refused = expect(
        403,
        once("POST", "/v1/auth/resend-verification", body, {{"Origin", "https://evil.example"}})
    );
    EXPECT_EQ(refused.text("/code"), "csrf_failed");
    expect(422, resend("nobody"));
    EXPECT_EQ(ask("SELECT count(*) FROM mail_outbox"), "0");
}

}  // namespace
}  // namespace svc::test
