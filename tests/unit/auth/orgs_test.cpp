#include "tests/support/accounts_fixture.hpp"
#include "tests/support/eventually.hpp"

#include <set>

namespace svc::test {
namespace {

using testing::HasSubstr;

class Orgs : public AccountsTest {
protected:
    Orgs() { ada = person("ada@example.com"); }
    Reply make(const json::value& body) { return ada.post("/v1/orgs", body); }

    Client ada = client();
};

TEST_F(Orgs, WhoMakesOneOwnsIt) {
    const auto made = expect(201, make({{"name", "  Acme Works  "}}));
    EXPECT_EQ(made.text("/object"), "organization");
    EXPECT_EQ(made.text("/name"), "Acme Works");
    EXPECT_EQ(made.text("/slug"), "acme-works");
    EXPECT_EQ(made.text("/plan"), "free");
    EXPECT_EQ(made.text("/billing_state"), "active");
    EXPECT_EQ(made.text("/seat_cap"), "5");
    EXPECT_EQ(made.text("/seat_count"), "1");
    EXPECT_EQ(made.text("/role"), "owner");
    EXPECT_EQ(made.text("/created_by/name"), "Ada");
    EXPECT_EQ(made.header("etag"), "\"1\"");

    const auto seats = expect(200, ada.get("/v1/me/memberships"));
    EXPECT_EQ(seats.text("/type"), "membership");
    EXPECT_EQ(seats.text("/results/0/org_id"), made.text("/id"));
    EXPECT_EQ(seats.text("/results/0/org_name"), "Acme Works");
    EXPECT_EQ(seats.text("/results/0/role"), "owner");
    EXPECT_EQ(seats.text("/results/0/status"), "active");
    EXPECT_EQ(seats.text("/results/0/user/email"), "ada@example.com");
    EXPECT_EQ(seats.text("/results/0/invited_by"), "null");
}

TEST_F(Orgs, TheFirstBecomesTheSessions) {
    EXPECT_EQ(ada.get("/v1/me").text("/active_org_id"), "null");
    const auto first = expect(201, make({{"name", "First"}})).text("/id");
    expect(201, make({{"name", "Second"}}));
    EXPECT_EQ(ada.get("/v1/me").text("/active_org_id"), first);
}

TEST_F(Orgs, AreToldOfTheirFirstMember) {
    const auto made = expect(201, make({{"name", "Acme"}}));
    EXPECT_TRUE(eventually([&] { return ask("SELECT count(*) FROM events") != "0"; }));
    EXPECT_EQ(ask("SELECT org_id || ' ' || kind FROM events"), made.text("/id") + " member.added");
}

TEST_F(Orgs, AreReadByTheirMembersOnly) {
    const auto made = expect(201, make({{"name", "Acme"}, {"slug", "acme"}}));
    const auto path = "/v1/orgs/" + made.text("/id");
    auto read = expect(200, ada.get(path)).json();
    EXPECT_EQ(read.at("storage").at("used_bytes"), 0);
    read.as_object().erase("storage");  // told to who reads one workspace, not with each answer
    EXPECT_EQ(read, made.json());
    Client eve = person("eve@example.com");
    const auto foreign = expect(404, eve.get(path));
    const auto absent = expect(404, eve.get("/v1/orgs/0192f0c1-2d3e-7f40-8123-456789abcdef"));
    EXPECT_EQ(without_ids(foreign), without_ids(absent));
    EXPECT_EQ(expect(200, eve.get("/v1/orgs")).json().at("results"), json::array());
    expect(401, client().get(path));
}

TEST_F(Orgs, ATakenSlugIsAConflict) {
    expect(201, make({{"name", "Acme"}, {"slug", "acme"}}));
    const auto refused = expect(409, make({{"name", "Other"}, {"slug", "acme"}}));
    EXPECT_EQ(refused.text("/code"), "conflict_error");
    EXPECT_EQ(refused.text("/additional_data/reason"), "slug_taken");
    EXPECT_EQ(ask("SELECT count(*) FROM orgs"), "1");
}

TEST_F(Orgs, OfOneNameGetSlugsOfTheirOwn) {
    std::set<std::string> slugs;
    for (int i = 0; i < 5; ++i) slugs.insert(expect(201, make({{"name", "Acme"}})).text("/slug"));
    EXPECT_EQ(slugs.size(), 5u);
    for (const auto& each : slugs) EXPECT_TRUE(each.starts_with("acme")) << each;
}

TEST_F(Orgs, TwoAtOnceWithOneSlugMakeOne) {
    std::vector<Client> browsers(4, client());
    for (Client& each : browsers) expect(200, log_in(each, "ada@example.com"));
    const auto replies = at_once(4, [&](int i) {
        return browsers[i].post("/v1/orgs", json::value{{"name", "Acme"}, {"slug", "acme"}});
    });
    EXPECT_EQ(count_status(replies, 201), 1);
    EXPECT_EQ(count_status(replies, 409), 3);
    const auto named = at_once(4, [&](int i) {
        return browsers[i].post("/v1/orgs", json::value{{"name", "Acme"}});
    });
    EXPECT_EQ(count_status(named, 201), 4);
    EXPECT_EQ(ask("SELECT count(DISTINCT slug) FROM orgs"), "5");
}

TEST_F(Orgs, EveryWrongFieldIsNamed) {
    const auto wrong = [&](const json::value& body) { return first_loc(expect(422, make(body))); };
    EXPECT_EQ(wrong({{"name", "   "}}), json::parse(R"(["body","name"])"));
    EXPECT_EQ(wrong({{"name", std::string(101, 'x')}}), json::parse(R"(["body","name"])"));
    for (const char* slug : {"ab", "Acme", "a--b", "-ab", "ab-", "a b"})
        EXPECT_EQ(wrong({{"name", "x"}, {"slug", slug}}), json::parse(R"(["body","slug"])"))
            << slug;
    EXPECT_EQ(
        wrong({{"name", "x"}, {"icon", {{"type", "emoji"}}}}), json::parse(R"(["body","icon"])")
    );
    EXPECT_EQ(wrong({{"name", "x"}, {"plan", "business"}}), json::parse(R"(["body","plan"])"));
    EXPECT_EQ(ask("SELECT count(*) FROM orgs"), "0");
}

TEST_F(Orgs, HaveIcons) {
    const json::value emoji{{"type", "emoji"}, {"emoji", "🚀"}};
    EXPECT_EQ(expect(201, make({{"name", "A"}, {"icon", emoji}})).json().at("icon"), emoji);
    const json::value picture{
        {"type", "external"}, {"external", {{"url", "https://example.com/a.png"}}}};
    EXPECT_EQ(expect(201, make({{"name", "B"}, {"icon", picture}})).json().at("icon"), picture);
    EXPECT_EQ(expect(201, make({{"name", "C"}})).json().at("icon"), json::value());
}

TEST_F(Orgs, AreListedPageByPage) {
    std::vector<std::string> made;
    for (const char* name : {"One", "Two", "Three", "Four", "Five"})
        made.push_back(expect(201, make({{"name", name}})).text("/id"));
    std::vector<std::string> seen;
    std::string cursor;
    do {
        const auto page = expect(
            200, ada.get("/v1/orgs?page_size=2" + (cursor.empty() ? "" : "&start_cursor=" + cursor))
        );
        EXPECT_EQ(page.text("/type"), "organization");
        const auto body = page.json();
        for (const auto& each : body.at("results").as_array())
            seen.emplace_back(each.at("id").as_string());
        cursor = page.text("/has_more") == "true" ? page.text("/next_cursor") : "";
    } while (!cursor.empty());
    EXPECT_EQ(seen, made);

    const auto cursor_of_mine = expect(200, ada.get("/v1/orgs?page_size=2")).text("/next_cursor");
    Client eve = person("eve@example.com");
    expect(422, eve.get("/v1/orgs?start_cursor=" + cursor_of_mine));
    expect(422, ada.get("/v1/me/memberships?start_cursor=" + cursor_of_mine));
}

TEST_F(Orgs, ATokenSeesItsOwnAlone) {
    const auto first = expect(201, make({{"name", "First"}})).text("/id");
    const auto second = expect(201, make({{"name", "Second"}})).text("/id");
    Client program = client();
    program.token(expect(
                      201,
                      ada.post(
                          "/v1/tokens",
                          json::value{
                              {"kind", "integration"}, {"name", "Reader"}, {"role", "viewer"}}
                      )
    ).text("/token"));
    const auto list = expect(200, program.get("/v1/orgs"));
    EXPECT_EQ(list.json().at("results").as_array().size(), 1u);
    EXPECT_EQ(list.text("/results/0/id"), first);
    EXPECT_EQ(list.text("/results/0/role"), "viewer");
    expect(200, program.get("/v1/orgs/" + first));
    expect(404, program.get("/v1/orgs/" + second));
    EXPECT_EQ(
        expect(200, program.get("/v1/me/memberships")).json().at("results").as_array().size(), 1u
    );
}

}  // namespace
}  // namespace svc::test
