#include "tests/support/accounts_fixture.hpp"
#include "tests/support/eventually.hpp"

#include "svc/encoding.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;

class Switch : public AccountsTest {
protected:
    Switch() {
        first = make("First");
        second = make("Second");
    }

    std::string make(const char* name) {
        return expect(201, browser.post("/v1/orgs", json::value{{"name", name}})).text("/id");
    }
    static Reply enter(Client& by, const std::string& org) {
        return by.post("/v1/orgs/" + org + ":switch");
    }
    static std::vector<std::string> cookies_of(const Reply& reply) {
        std::vector<std::string> cookies;
        for (const auto& [name, value] : reply.headers)
            if (name == "set-cookie") cookies.push_back(value);
        return cookies;
    }
    /// What the session cookie says.
    static json::value claims(const Client& of) {
        const auto cookie = of.cookie("svc_session");
        const auto dot = cookie.find('.');
        return json::parse(*from_base64(cookie.substr(dot + 1, cookie.find('.', dot + 1) - dot - 1))
        );
    }

    Client browser = person("ada@example.com");
    std::string first, second;
};

TEST_F(Switch, MovesTheSessionAndGivesItsCookieAnew) {
    EXPECT_EQ(browser.get("/v1/me").text("/active_org_id"), first);
    const auto before = claims(browser);
    ask("UPDATE memberships SET role = 'admin' WHERE org_id = '" + second + "' RETURNING id");

    const auto answer = expect(200, enter(browser, second));
    EXPECT_EQ(answer.text("/object"), "organization");
    EXPECT_EQ(answer.text("/id"), second);
    EXPECT_EQ(answer.text("/role"), "admin");
    const auto cookies = cookies_of(answer);
    ASSERT_EQ(cookies.size(), 1u) << "the CSRF token stays";
    EXPECT_THAT(cookies.front(), testing::StartsWith("svc_session="));
    EXPECT_THAT(cookies.front(), HasSubstr("; HttpOnly"));

    EXPECT_EQ(claims(browser).at("org"), json::value(second));
    EXPECT_EQ(claims(browser).at("role"), "admin");
    EXPECT_EQ(claims(browser).at("sid"), before.at("sid"));
    const auto me = browser.get("/v1/me");
    EXPECT_EQ(me.text("/active_org_id"), second);
    EXPECT_EQ(me.text("/role"), "admin");
    EXPECT_EQ(browser.get("/v1/me/sessions").text("/results/0/active_org_id"), second);
    expect(201, browser.post("/v1/orgs", json::value{{"name", "Third"}}));
}

TEST_F(Switch, LeavesAnEntryInTheAuditRecord) {
    expect(200, enter(browser, second));
    const auto found = [&] {
        return ask(
            "SELECT count(*) FROM audit_events WHERE action = 'switch_org' AND org_id = '" +
            second + "'"
        );
    };
    EXPECT_TRUE(eventually([&] { return found() != "0"; }));
    EXPECT_EQ(found(), "1");
}

TEST_F(Switch, IsKeptForTheNextSession) {
    expect(200, enter(browser, second));
    EXPECT_EQ(expect(200, log_in("ada@example.com")).text("/active_org_id"), second);
}

TEST_F(Switch, MovesNoOtherSession) {
    Client other = client();
    expect(200, log_in(other, "ada@example.com"));
    expect(200, enter(browser, second));
    EXPECT_EQ(other.get("/v1/me").text("/active_org_id"), first);
}

TEST_F(Switch, ToAForeignWorkspaceIsToNone) {
    Client eve = person("eve@example.com");
    const auto foreign = enter(eve, first);
    const auto absent = enter(eve, "0192f0c1-2d3e-7f40-8123-456789abcdef");
    EXPECT_EQ(expect(404, foreign).text("/code"), "object_not_found");
    EXPECT_EQ(without_ids(foreign), without_ids(expect(404, absent)));
    EXPECT_EQ(cookies_of(foreign).size(), 0u);
    EXPECT_EQ(eve.get("/v1/me").text("/active_org_id"), "null");
    expect(422, enter(browser, "nonsense"));
}

TEST_F(Switch, ToAWorkspaceOneHasLeftIsToNone) {
    ask("DELETE FROM memberships WHERE org_id = '" + second + "' RETURNING id");
    expect(404, enter(browser, second));
    EXPECT_EQ(browser.get("/v1/me").text("/active_org_id"), first);
}

TEST_F(Switch, OfATokenChangesNothing) {
    const auto mint = [&](const json::value& body) {
        return expect(201, browser.post("/v1/tokens", body)).text("/token");
    };
    Client program = client(), robot = client();
    program.token(mint({{"kind", "integration"}, {"name", "Importer"}, {"role", "member"}}));
    robot.token(mint({{"kind", "agent"}, {"name", "Robot"}, {"agent", {{"name", "Robot"}}}}));
    for (Client* each : {&program, &robot}) {
        const auto answer = expect(200, enter(*each, first));
        EXPECT_EQ(answer.text("/role"), "member");
        EXPECT_EQ(cookies_of(answer).size(), 0u);
        expect(404, enter(*each, second));
    }
    EXPECT_EQ(browser.get("/v1/me").text("/active_org_id"), first);
}

TEST_F(Switch, NeedsASignInAndTheTokenOfThePage) {
    expect(401, once("POST", "/v1/orgs/" + second + ":switch"));
    const auto refused = expect(
        403,
        once(
            "POST",
            "/v1/orgs/" + second + ":switch",
            nullptr,
            {{"Cookie", "svc_session=" + browser.cookie("svc_session")}}
        )
    );
    EXPECT_EQ(refused.text("/code"), "csrf_failed");
    EXPECT_EQ(browser.get("/v1/me").text("/active_org_id"), first);
}

TEST_F(Switch, LeadsIntoAWorkspaceInArrearsToo) {
    ask("UPDATE orgs SET billing_state = 'past_due' WHERE id = '" + second + "' RETURNING id");
    expect(200, enter(browser, second));
}

}  // namespace
}  // namespace svc::test
