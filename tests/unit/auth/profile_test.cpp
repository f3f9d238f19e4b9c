#include "tests/support/accounts_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;

class Profile : public AccountsTest {
protected:
    Reply patch(const json::value& body, const Headers& headers = {}) {
        return patch(browser, body, headers);
    }
    static Reply patch(Client& by, const json::value& body, const Headers& headers = {}) {
        return by.send("PATCH", "/v1/me/profile", json::serialize(body), headers);
    }
    Client with_token(const json::value& body) {
        Client made = client();
        made.token(expect(201, browser.post("/v1/tokens", body)).text("/token"));
        return made;
    }

    Client browser = person("ada@example.com");
};

TEST_F(Profile, BeginsWithTheNameAlone) {
    const auto profile = expect(200, browser.get("/v1/me/profile"));
    EXPECT_EQ(profile.text("/object"), "user_profile");
    EXPECT_EQ(profile.text("/user_id"), browser.get("/v1/me").text("/id"));
    EXPECT_EQ(profile.text("/name"), "Ada");
    for (const char* each :
         {"/avatar_url", "/avatar_file_id", "/job_title", "/bio", "/pronouns", "/location"})
        EXPECT_EQ(profile.text(each), "null") << each;
    EXPECT_EQ(profile.text("/links"), "[]");
    EXPECT_EQ(profile.header("etag"), "\"1\"");
}

TEST_F(Profile, ChangesWhatIsSentAndKeepsTheRest) {
    const auto all = expect(
        200,
        patch(
            {{"name", "  Ada Lovelace "},
             {"job_title", "Analyst"},
             {"bio", "Notes on the Engine."},
             {"pronouns", "she/her"},
             {"location", "London"},
             {"links", {"https://example.com/ada", "http://example.org"}}}
        )
    );
    EXPECT_EQ(all.text("/name"), "Ada Lovelace");
    EXPECT_EQ(all.text("/version"), "2");
    EXPECT_EQ(all.text("/links/1"), "http://example.org");
    const auto one = expect(200, patch({{"location", "Ockham"}}));
    EXPECT_EQ(one.text("/location"), "Ockham");
    EXPECT_EQ(one.text("/job_title"), "Analyst");
    EXPECT_EQ(one.text("/bio"), "Notes on the Engine.");
    EXPECT_EQ(one.header("etag"), "\"3\"");
    EXPECT_EQ(browser.get("/v1/me/profile").body, one.body);
    EXPECT_EQ(browser.get("/v1/me").text("/name"), "Ada Lovelace");
    EXPECT_EQ(browser.get("/v1/me").text("/version"), "3");
}

TEST_F(Profile, NothingSentChangesNothing) {
    const auto before = browser.get("/v1/me/profile");
    for (const auto& reply : {patch(json::object{}), patch({{"name", "Ada"}, {"bio", nullptr}})})
        EXPECT_EQ(expect(200, reply).body, before.body);
}

TEST_F(Profile, NullClearsAllButTheName) {
    expect(200, patch({{"bio", "x"}, {"links", {"https://example.com"}}}));
    const auto cleared = expect(200, patch({{"bio", nullptr}, {"links", json::array{}}}));
    EXPECT_EQ(cleared.text("/bio"), "null");
    EXPECT_EQ(cleared.text("/links"), "[]");
    EXPECT_EQ(
        first_loc(expect(422, patch({{"name", nullptr}}))), json::parse(R"(["body","name"])")
    );
    EXPECT_EQ(
        first_loc(expect(422, patch({{"links", nullptr}}))), json::parse(R"(["body","links"])")
    );
}

TEST_F(Profile, EveryWorkspaceShowsTheNewName) {
    const auto first = expect(201, browser.post("/v1/orgs", json::value{{"name", "First"}}));
    const auto second = expect(201, browser.post("/v1/orgs", json::value{{"name", "Second"}}));
    Client program = with_token({{"kind", "integration"}, {"name", "Importer"}});
    expect(200, program.get("/v1/me"));
    expect(200, patch({{"name", "Countess"}}));
    for (const auto& org : {first, second})
        EXPECT_EQ(browser.get("/v1/orgs/" + org.text("/id")).text("/created_by/name"), "Countess");
    EXPECT_EQ(ask("SELECT count(*) FROM principals WHERE name = 'Countess'"), "2");
    // A token's caller is worked out anew: what it makes carries the new name.
    const auto board = expect(201, program.post("/v1/boards", json::value{{"name", "Engine"}}));
    EXPECT_EQ(board.text("/created_by/name"), "Countess");
}

// Raising it has every token of the workspace worked out anew.
TEST_F(Profile, RaisesTheSecurityEpochOnlyWhereATokenCarriesTheName) {
    const auto with = expect(201, browser.post("/v1/orgs", json::value{{"name", "First"}}));
    const auto without = expect(201, browser.post("/v1/orgs", json::value{{"name", "Second"}}));
    with_token({{"kind", "integration"}, {"name", "Importer"}});
    const auto security_epoch = [&](const Reply& org) {
        return std::stoi(ask("SELECT security_epoch FROM orgs WHERE id = '" + org.text("/id") + "'")
        );
    };
    const auto first = security_epoch(with), second = security_epoch(without);
    expect(200, patch({{"bio", "Engines"}}));
    EXPECT_EQ(security_epoch(with), first);
    expect(200, patch({{"name", "Countess"}}));
    EXPECT_EQ(security_epoch(with), first + 1);
    EXPECT_EQ(security_epoch(without), second);
    EXPECT_EQ(ask("SELECT count(*) FROM principals WHERE name = 'Countess'"), "2");
}

TEST_F(Profile, CanBeChangedByAProgramOfOnesOwn) {
    expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}}));
    Client program = with_token({{"kind", "integration"}, {"name", "Importer"}});
    expect(200, patch(program, {{"bio", "Written by a program."}}));
    EXPECT_EQ(browser.get("/v1/me/profile").text("/bio"), "Written by a program.");
}

TEST_F(Profile, OfAnAgentIsItsWorkspacesToChange) {
    expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}}));
    Client robot =
        with_token({{"kind", "agent"}, {"name", "Robot"}, {"agent", {{"name", "Marvin"}}}});
    const auto profile = expect(200, robot.get("/v1/me/profile"));
    EXPECT_EQ(profile.text("/name"), "Marvin");
    EXPECT_EQ(profile.text("/user_id"), robot.get("/v1/me").text("/id"));
    EXPECT_EQ(profile.text("/bio"), "null");
    EXPECT_EQ(expect(403, patch(robot, {{"bio", "x"}})).text("/code"), "restricted_resource");
    EXPECT_EQ(browser.get("/v1/me/profile").text("/bio"), "null");
}

TEST_F(Profile, AStaleVersionOverwritesNothing) {
    expect(200, patch({{"bio", "first"}}, {{"If-Match", "\"1\""}}));
    const auto refused = expect(412, patch({{"bio", "second"}}, {{"If-Match", "\"1\""}}));
    EXPECT_EQ(refused.text("/code"), "version_conflict");
    EXPECT_EQ(refused.text("/additional_data/current_version"), "2");
    EXPECT_EQ(browser.get("/v1/me/profile").text("/bio"), "first");
}

TEST_F(Profile, ChangedAtOnceLosesNothing) {
    const auto replies = at_once(6, [&](int i) {
        Client same = browser;
        const char* fields[] = {"job_title", "bio", "pronouns", "location"};
        return i < 4 ? patch(same, {{fields[i], "x"}}) : patch(same, {{"name", "Ada L."}});
    });
    EXPECT_EQ(count_status(replies, 200), 6);
    const auto profile = browser.get("/v1/me/profile");
    for (const char* each : {"/job_title", "/bio", "/pronouns", "/location"})
        EXPECT_EQ(profile.text(each), "x") << each;
    EXPECT_EQ(profile.text("/version"), "6") << "the same name twice is one change";
}

TEST_F(Profile, EveryWrongFieldIsNamed) {
    const auto refused = expect(
        422,
        patch(
            {{"name", " "},
             {"job_title", std::string(121, 'x')},
             {"bio", std::string(2001, 'x')},
             {"pronouns", std::string(41, 'x')},
             {"location", std::string(121, 'x')},
             {"links", {"1", "2", "3", "4", "5", "6"}},
             {"avatar_url", "https://example.com/me.png"}}
        )
    );
    std::set<std::string> fields;
    const auto body = refused.json();
    for (const auto& each : body.at("detail").as_array())
        fields.emplace(each.at("loc").at(1).as_string());
    EXPECT_THAT(
        fields,
        testing::ElementsAre(
            "avatar_url", "bio", "job_title", "links", "location", "name", "pronouns"
        )
    );
    EXPECT_EQ(
        first_loc(expect(422, patch({{"links", {"javascript:alert(1)"}}}))),
        json::parse(R"(["body","links",0])")
    );
}

TEST_F(Profile, APictureHasToBeOnesOwn) {
    const auto refused =
        expect(422, patch({{"avatar_file_id", "0192f0c1-2d3e-7f40-8123-456789abcdef"}}));
    EXPECT_EQ(first_loc(refused), json::parse(R"(["body","avatar_file_id"])"));
    expect(200, patch({{"avatar_file_id", nullptr}}));
}

TEST_F(Profile, NeedsASignIn) {
    expect(401, once("GET", "/v1/me/profile"));
    expect(401, once("PATCH", "/v1/me/profile", {{"bio", "x"}}));
    const auto refused = once(
        "PATCH",
        "/v1/me/profile",
        {{"bio", "x"}},
        {{"Cookie", "svc_session=" + browser.cookie("svc_session")}}
    );
    EXPECT_EQ(expect(403, refused).text("/code"), "csrf_failed");
}

}  // namespace
}  // namespace svc::test
