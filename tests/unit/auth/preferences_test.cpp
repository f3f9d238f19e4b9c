#include "tests/support/accounts_fixture.hpp"
#include "tests/support/eventually.hpp"

namespace svc::test {
namespace {

class PreferencesOfOne : public AccountsTest {
protected:
    Reply patch(const json::value& body, const Headers& headers = {}) {
        return browser.send("PATCH", "/v1/me/preferences", json::serialize(body), headers);
    }

    Client browser = person("ada@example.com");
};

TEST_F(PreferencesOfOne, BeginWithTheDefaults) {
    const auto reply = expect(200, browser.get("/v1/me/preferences"));
    auto body = reply.json().as_object();
    EXPECT_EQ(body.at("user_id"), json::value(browser.get("/v1/me").text("/id")));
    EXPECT_EQ(body.at("notifications").as_object().size(), 16u);
    for (const auto& [kind, channels] : body.at("notifications").as_object()) {
        EXPECT_EQ(channels.at("in_app"), true) << kind;
        EXPECT_TRUE(channels.at("email").is_bool()) << kind;
    }
    for (const char* each : {"user_id", "notifications", "last_edited_time"}) body.erase(each);
    EXPECT_EQ(json::value(body), json::parse(R"({
        "object": "user_preferences", "theme": "system", "density": "comfortable",
        "locale": "en", "timezone": "UTC", "week_start": "monday", "time_format": "h24",
        "reduced_motion": false, "keyboard_shortcuts": true, "surveys_opt_out": false,
        "email_digest": "weekly", "digest_hour": 8, "version": 1})"));
    EXPECT_EQ(reply.header("etag"), "\"1\"");
}

TEST_F(PreferencesOfOne, FollowTheSignUp) {
    expect(
        201,
        once(
            "POST",
            "/v1/auth/signup",
            {{"email", "eve@example.com"},
             {"password", password},
             {"locale", "de-CH"},
             {"timezone", "Europe/Zurich"}}
        )
    );
    Client eve = client();
    const json::value token{{"token", mailed_token("eve@example.com")}};
    expect(200, eve.post("/v1/auth/verify-email", token));
    const auto reply = expect(200, eve.get("/v1/me/preferences"));
    EXPECT_EQ(reply.text("/locale"), "de-CH");
    EXPECT_EQ(reply.text("/timezone"), "Europe/Zurich");
}

TEST_F(PreferencesOfOne, ChangeWhatIsSentAndKeepTheRest) {
    const auto first = expect(
        200, patch({{"theme", "dark"}, {"time_format", "h12"}, {"timezone", "Europe/Zurich"}})
    );
    EXPECT_EQ(first.text("/theme"), "dark");
    EXPECT_EQ(first.text("/version"), "2");
    const auto second =
        expect(200, patch({{"week_start", "sunday"}, {"surveys_opt_out", true}, {"locale", "fr"}}));
    EXPECT_EQ(second.text("/theme"), "dark");
    EXPECT_EQ(second.text("/week_start"), "sunday");
    EXPECT_EQ(second.text("/surveys_opt_out"), "true");
    EXPECT_EQ(second.header("etag"), "\"3\"");
    EXPECT_EQ(browser.get("/v1/me/preferences").body, second.body);
    EXPECT_EQ(expect(200, patch(json::object{})).body, second.body);
    EXPECT_EQ(expect(200, patch({{"theme", "dark"}})).body, second.body);
}

TEST_F(PreferencesOfOne, KeepOnlyWhatDiffersFromTheDefaults) {
    expect(200, patch({{"theme", "dark"}, {"density", "compact"}}));
    EXPECT_EQ(
        json::parse(ask("SELECT preferences FROM users")),
        json::parse(R"({"theme": "dark", "density": "compact"})")
    );
    expect(200, patch({{"theme", "system"}, {"density", "comfortable"}}));
    EXPECT_EQ(ask("SELECT preferences FROM users"), "{}");
}

TEST_F(PreferencesOfOne, OfNotificationsChangeByKindAndChannel) {
    const auto first = expect(
        200,
        patch({{"notifications", {{"comment", {{"email", true}}}, {"due", {{"in_app", false}}}}}})
    );
    EXPECT_EQ(first.text("/notifications/comment/email"), "true");
    EXPECT_EQ(first.text("/notifications/comment/in_app"), "true");
    EXPECT_EQ(first.text("/notifications/due/in_app"), "false");
    EXPECT_EQ(first.text("/notifications/due/email"), "true");
    EXPECT_EQ(first.text("/notifications/mention/email"), "true");
    const auto second = expect(
        200, patch({{"notifications", {{"comment", {{"in_app", false}, {"email", true}}}}}})
    );
    EXPECT_EQ(second.text("/notifications/comment/in_app"), "false");
    EXPECT_EQ(second.text("/notifications/due/in_app"), "false");
    EXPECT_EQ(browser.get("/v1/me/preferences").body, second.body);
}

// Administrators see that somebody changed theirs, and not which.
TEST_F(PreferencesOfOne, StayPrivateInTheAuditRecord) {
    expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}}));
    expect(200, patch({{"timezone", "Europe/Zurich"}}));
    const auto entry = [&] {
        return ask("SELECT a::text FROM audit_events a WHERE action = 'update_my_preferences'");
    };
    EXPECT_TRUE(eventually([&] { return !entry().empty(); }));
    EXPECT_THAT(entry(), testing::HasSubstr("success"));
    EXPECT_THAT(entry(), testing::Not(testing::HasSubstr("Zurich")));
}

TEST_F(PreferencesOfOne, AreTheSameInEveryWorkspace) {
    const auto first = expect(201, browser.post("/v1/orgs", json::value{{"name", "First"}}));
    const auto second = expect(201, browser.post("/v1/orgs", json::value{{"name", "Second"}}));
    expect(200, patch({{"theme", "light"}}, {{"X-Svc-Org", first.text("/id")}}));
    const auto there =
        browser.send("GET", "/v1/me/preferences", {}, {{"X-Svc-Org", second.text("/id")}});
    EXPECT_EQ(expect(200, there).text("/theme"), "light");
}

TEST_F(PreferencesOfOne, OfAnAgentAreTheDefaults) {
    expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}}));
    expect(200, patch({{"theme", "dark"}}));
    const json::value agent{{"kind", "agent"}, {"name", "Robot"}, {"agent", {{"name", "Robot"}}}};
    Client robot = client();
    robot.token(expect(201, browser.post("/v1/tokens", agent)).text("/token"));
    const auto reply = expect(200, robot.get("/v1/me/preferences"));
    EXPECT_EQ(reply.text("/theme"), "system");
    EXPECT_EQ(reply.text("/user_id"), robot.get("/v1/me").text("/id"));
    const auto refused = robot.send("PATCH", "/v1/me/preferences", R"({"theme": "light"})");
    EXPECT_EQ(expect(403, refused).text("/code"), "restricted_resource");
}

TEST_F(PreferencesOfOne, AStaleVersionOverwritesNothing) {
    expect(200, patch({{"theme", "dark"}}, {{"If-Match", "1"}}));
    const auto refused = expect(412, patch({{"theme", "light"}}, {{"If-Match", "1"}}));
    EXPECT_EQ(refused.text("/additional_data/current_version"), "2");
}

TEST_F(PreferencesOfOne, EveryWrongFieldIsNamed) {
    const auto refused = expect(
        422,
        patch(
            {{"theme", "neon"},
             {"density", nullptr},
             {"locale", "d"},
             {"timezone", "Europe Zurich"},
             {"reduced_motion", 3},
             {"notifications", {{"rumour", {{"email", true}}}, {"due", {{"pigeon", true}}}}},
             {"user_id", "0192f0c1-2d3e-7f40-8123-456789abcdef"}}
        )
    );
    std::set<std::string> places;
    const auto body = refused.json();
    for (const auto& each : body.at("detail").as_array())
        places.insert(json::serialize(each.at("loc")));
    for (const char* place :
         {R"(["body","theme"])",
          R"(["body","density"])",
          R"(["body","locale"])",
          R"(["body","timezone"])",
          R"(["body","reduced_motion"])",
          R"(["body","notifications","rumour"])",
          R"(["body","notifications","due","pigeon"])",
          R"(["body","user_id"])"})
        EXPECT_TRUE(places.contains(place)) << place << " in " << refused.body;
    EXPECT_EQ(
        first_loc(expect(422, patch({{"timezone", "Europe/Atlantis"}}))),
        json::parse(R"(["body","timezone"])")
    );
}

TEST_F(PreferencesOfOne, NeedASignIn) {
    expect(401, once("GET", "/v1/me/preferences"));
    expect(401, once("PATCH", "/v1/me/preferences", {{"theme", "dark"}}));
}

}  // namespace
}  // namespace svc::test
