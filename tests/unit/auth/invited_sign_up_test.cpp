#include "tests/support/accounts_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;

/// Signing up with the token that an invitation was mailed with.
class InvitedSignUp : public AccountsTest {
protected:
    InvitedSignUp() {
        org = expect(201, owner.post("/v1/orgs", json::value{{"name", "Acme"}})).text("/id");
    }
    /// The token in the newest of `count` mails to the address.
    std::string invite(const std::string& email, std::size_t count = 1) {
        const auto reply =
            owner.post("/v1/orgs/" + org + "/invitations", json::value{{"email", email}});
        if (reply.status != 201) expect(200, reply);
        return mailed_token(email, count);
    }
    Reply sign_up_with(const std::string& email, const std::string& token) {
        return once(
            "POST",
            "/v1/auth/signup",
            {{"email", email}, {"password", password}, {"invitation_token", token}}
        );
    }

    Client owner = person("ada@example.com");
    std::string org;
};

TEST_F(InvitedSignUp, NeedsNoOtherMail) {
    const auto made = expect(201, sign_up_with("Bob@example.com", invite("bob@example.com")));
    EXPECT_EQ(made.text("/email_verified"), "true");
    EXPECT_EQ(made.text("/has_password"), "true");
    EXPECT_EQ(made.text("/active_org_id"), "null") << "the invitation is not accepted by it";
    EXPECT_EQ(made.header("set-cookie"), "") << "it does not sign in";
    const auto session = expect(200, log_in("bob@example.com"));
    EXPECT_EQ(session.text("/user/id"), made.text("/id"));
    EXPECT_EQ(ask("SELECT count(*) FROM sign_ups"), "0");
    EXPECT_EQ(server.mails_to("Bob@example.com").size(), 0u);
}

TEST_F(InvitedSignUp, WithATokenOfAnothersGoesTheUsualWay) {
    const auto token = invite("bob@example.com");
    for (const auto& [email, shown] : std::map<std::string, std::string>{
             {"eve@example.com", token},
             {"carl@example.com", "nonsense"},
             {"dora@example.com", ""}}) {
        EXPECT_EQ(expect(201, sign_up_with(email, shown)).text("/email_verified"), "false");
        expect(403, log_in(email));
        expect(200, verify(mailed_token(email)));
    }
}

TEST_F(InvitedSignUp, WithATokenThatWasRotatedGoesTheUsualWay) {
    const auto old = invite("bob@example.com");
    const auto fresh = invite("bob@example.com", 2);
    EXPECT_EQ(expect(201, sign_up_with("bob@example.com", old)).text("/email_verified"), "false");
    EXPECT_EQ(expect(201, sign_up_with("bob@example.com", fresh)).text("/email_verified"), "true");
}

TEST_F(InvitedSignUp, OfAnAddressWithAnAccountMakesNone) {
    person("bob@example.com");
    const auto token = invite("bob@example.com", 2);
    const auto answer = expect(201, sign_up_with("bob@example.com", token));
    EXPECT_EQ(answer.text("/email_verified"), "false");
    EXPECT_THAT(server.mail_to("bob@example.com", 3), HasSubstr("already have"));
    EXPECT_EQ(ask("SELECT count(*) FROM users"), "2");
}

TEST_F(InvitedSignUp, TwiceAtOnceMakesOnePerson) {
    const auto token = invite("bob@example.com");
    const auto replies = at_once(4, [&](int) { return sign_up_with("bob@example.com", token); });
    EXPECT_EQ(count_status(replies, 201), 4);
    const auto verified = std::ranges::count_if(replies, [](const Reply& each) {
        return each.text("/email_verified") == "true";
    });
    EXPECT_EQ(verified, 1);
    EXPECT_EQ(ask("SELECT count(*) FROM users"), "2");
    expect(200, log_in("bob@example.com"));
}

}  // namespace
}  // namespace svc::test
