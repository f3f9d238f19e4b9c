#include "tests/support/accounts_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;

/// A server on which sign-up is not open (`auth.sign_up`), and somebody who was there before.
class ClosedSignUp : public AccountsTest {
protected:
    void close(const std::string& policy) {
        ASSERT_EQ(server.end(SIGTERM), 0);
        closed.emplace(Server::Options{
            .var = server.var(), .database_url = database, .settings = {"auth.sign_up=" + policy}
        });
    }
    Reply ask_closed(const std::string& path, const json::value& body) {
        return closed->client().post(path, body);
    }
    Reply sign_up_closed(const std::string& email) {
        return ask_closed("/v1/auth/signup", {{"email", email}, {"password", password}});
    }
    Reply verify_closed(const std::string& email, std::size_t mails = 1) {
        const std::string token = mail_value(closed->mail_to(email, mails), "token=");
        return ask_closed("/v1/auth/verify-email", {{"token", token}});
    }

    Client owner = person("ada@example.com");
    std::string org =
        expect(201, owner.post("/v1/orgs", json::value{{"name", "Acme"}})).text("/id");
    std::optional<Server> closed;
};

TEST_F(ClosedSignUp, IsToldByTheWaysIn) {
    auto ways = expect(200, client().get("/v1/auth/options"));
    EXPECT_EQ(ways.text("/sign_up"), "open");
    EXPECT_EQ(ways.text("/identity_provider"), "false");
    EXPECT_THAT(ways.header("cache-control"), HasSubstr("public"));
    close("off");
    EXPECT_EQ(expect(200, closed->client().get("/v1/auth/options")).text("/sign_up"), "off");
}

TEST_F(ClosedSignUp, ByInvitationAnswersAllAddressesAlikeAndAdmitsTheInvited) {
    expect(
        201,
        owner.post("/v1/orgs/" + org + "/invitations", json::value{{"email", "bob@example.com"}})
    );
    close("invited");
    const auto invited = expect(201, sign_up_closed("Bob@example.com"));
    const auto stranger = expect(201, sign_up_closed("eve@example.com"));
    const auto known = expect(201, sign_up_closed("ada@example.com"));
    for (const char* each : {"/email_verified", "/has_password", "/version"}) {
        EXPECT_EQ(invited.text(each), stranger.text(each));
        EXPECT_EQ(invited.text(each), known.text(each));
    }
    EXPECT_THAT(closed->mail_to("eve@example.com"), HasSubstr("by invitation only"));
    expect(200, verify_closed("Bob@example.com"));
    EXPECT_EQ(ask("SELECT count(*) FROM users"), "2");
}

TEST_F(ClosedSignUp, ByInvitationMailsNoFurtherLinkToTheUninvited) {
    close("invited");
    expect(201, sign_up_closed("eve@example.com"));
    expect(204, ask_closed("/v1/auth/resend-verification", {{"email", "eve@example.com"}}));
    EXPECT_THAT(closed->mail_to("eve@example.com", 2), HasSubstr("by invitation only"));
}

TEST_F(ClosedSignUp, OffRefusesEveryAddressAlike) {
    close("off");
    const auto stranger = sign_up_closed("eve@example.com");
    const auto known = sign_up_closed("ada@example.com");
    EXPECT_EQ(stranger.status, 403);
    EXPECT_EQ(known.status, 403);
    EXPECT_EQ(stranger.text("/code"), "sign_up_closed");
    EXPECT_EQ(stranger.text("/message"), known.text("/message"));
}

TEST_F(ClosedSignUp, OffEndsLinksThatWereMailedBeforeButNotThoseOfPeopleWhoWereAdded) {
    expect(201, sign_up("eve@example.com"));
    server.mail_to("eve@example.com");
    expect(
        201, owner.post("/v1/orgs/" + org + "/members", json::value{{"email", "bob@example.com"}})
    );
    server.mail_to("bob@example.com");
    close("off");
    const auto refused = verify_closed("eve@example.com");
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(refused.text("/code"), "sign_up_closed");
    expect(200, verify_closed("bob@example.com"));
    EXPECT_EQ(ask("SELECT count(*) FROM users"), "2");
}

TEST_F(ClosedSignUp, OffLetsAdminsAddOnlyPeopleWhoHaveAnAccount) {
    person("bob@example.com");
    close("off");
    Client again = closed->client();
    expect(200, log_in(again, "ada@example.com"));
    const auto add = [&](const std::string& email) {
        return again.post("/v1/orgs/" + org + "/members", json::value{{"email", email}});
    };
    const auto unknown = add("eve@example.com");
    EXPECT_EQ(unknown.status, 403);
    EXPECT_EQ(unknown.text("/code"), "sign_up_closed");
    expect(201, add("bob@example.com"));
    EXPECT_EQ(ask("SELECT count(*) FROM users"), "2");
}

}  // namespace
}  // namespace svc::test
