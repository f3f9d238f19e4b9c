// Share links over HTTP: what strangers see, and what they never do.

#include "tests/support/eventually.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace svc::test {

namespace {

namespace json = boost::json;
using json::value;

class Shared : public testing::Test {
protected:
    static void SetUpTestSuite() {
        database_ = Postgres::shared().fresh_database();
        server_ = std::make_unique<Server>(Server::Options{
            .database_url = database_,
            .settings = {
                "modules=mail,orgs,auth,agents,boards,queue",
                "plugins=mail-file",
                "server.trusted_proxies=127.0.0.1",
                "boards.shared_views_a_minute=20",
                "auth.log_ins=3",
                "auth.password_passes=1"}});
        workspace_ = std::make_unique<Workspace>(make_workspace(*server_));
        token_ = workspace_->mint("integration", "shared");
    }
    static void TearDownTestSuite() {
        workspace_.reset();
        server_.reset();
    }

    void SetUp() override {
        client_.token(token_);
        board_ = post("/v1/boards", {{"name", "Plans"}}).text("/id");
        column_ =
            expect(200, client_.get("/v1/boards/" + board_ + "/columns")).text("/results/0/id");
    }

    Reply post(const std::string& path, const value& body) {
        return expect(201, client_.post(path, body));
    }
    std::string card(const std::string& title, json::object what = {}) {
        what["column_id"] = column_;
        what["title"] = title;
        return post("/v1/boards/" + board_ + "/cards", what).text("/id");
    }
    /// A new link's token.
    std::string link(const json::object& what = {}) {
        const auto url = post("/v1/boards/" + board_ + "/share-links", value(what)).text("/url");
        return url.substr(url.rfind('/') + 1);
    }
    /// What somebody sees who has it; each test comes from a place of its own.
    Reply look(const std::string& token, Headers headers = {}, const std::string& query = {}) {
        headers.emplace_back("X-Forwarded-For", place_);
        return Client(server_->port()).send("GET", "/v1/shared/" + token + query, {}, headers);
    }

    static std::unique_ptr<Server> server_;
    static std::unique_ptr<Workspace> workspace_;
    static std::string token_;
    static inline std::string database_;
    static inline int places_ = 0;
    Client client_ = server_->client();
    std::string board_, column_;
    std::string place_ = "203.0.113." + std::to_string(++places_);
};
std::unique_ptr<Server> Shared::server_;
std::unique_ptr<Workspace> Shared::workspace_;
std::string Shared::token_;

/// The body without the id of the request, which differs every time.
std::string refusal(const Reply& reply) {
    auto body = reply.json().as_object();
    body.erase("request_id");
    return json::serialize(body);
}

}  // namespace

TEST_F(Shared, ALinkShowsTheBoardToAnybody) {
    const std::string first = card("First");
    card("Second");
    const Reply seen = expect(200, look(link()));
    EXPECT_EQ(seen.header("referrer-policy"), "no-referrer");
    EXPECT_EQ(seen.header("cache-control"), "no-store");
    EXPECT_EQ(seen.text("/name"), "Plans");
    EXPECT_EQ(seen.text("/columns/0/cards/0/title"), "First");
    EXPECT_EQ(seen.json().at_pointer("/columns/0/card_count"), 2);
    EXPECT_EQ(seen.json().at("columns").as_array().size(), 3U);
    const Reply one = expect(200, look(link({{"card_id", first}})));
    EXPECT_EQ(one.json().at("columns").as_array().size(), 1U);
    EXPECT_EQ(one.json().at_pointer("/columns/0/cards").as_array().size(), 1U);
    EXPECT_EQ(one.json().at_pointer("/columns/0/card_count"), 1);
}

TEST_F(Shared, OneOfItsCardsIsSeenAlone) {
    const std::string first = card("First"), second = card("Second");
    const std::string board = link(), only = link({{"card_id", first}});
    const Reply one = expect(200, look(board, {}, "?card_id=" + second));
    EXPECT_EQ(one.json().at_pointer("/columns/0/cards").as_array().size(), 1U);
    EXPECT_EQ(one.text("/columns/0/cards/0/title"), "Second");
    EXPECT_EQ(look(only, {}, "?card_id=" + first).status, 200);
    EXPECT_EQ(look(only, {}, "?card_id=" + second).status, 404) << "the link is for another";
    EXPECT_EQ(look(board, {}, "?card_id=" + workspace_->org_id).status, 404);
    EXPECT_EQ(look(board, {}, "?card_id=none").status, 422);
}

TEST_F(Shared, OfPeopleItShowsNamesWhereTheirPropertyIsNotHidden) {
    const std::string path = "/v1/boards/" + board_ + "/properties";
    post(path, {{"name", "Owner"}, {"type", "people"}});
    card("First", {{"properties", {{"Owner", {workspace_->user_id}}}}});
    const std::string place = "/columns/0/cards/0/properties";
    const Reply seen = expect(200, look(link()));
    const value who = seen.json().at_pointer(place + "/Owner/people/0");
    EXPECT_TRUE(who.at("name").is_string());
    EXPECT_FALSE(who.as_object().contains("email"));
    const Reply less = expect(200, look(link({{"hidden_properties", {"Owner"}}})));
    EXPECT_TRUE(less.json().at_pointer(place).as_object().empty());
}

TEST_F(Shared, ACardThatStillHasTheOldNamesShowsNothingHiddenUnderThem) {
    const std::string path = "/v1/boards/" + board_ + "/properties";
    const std::string pay = post(path, {{"name", "Salary"}, {"type", "number"}}).text("/id");
    const std::string old = card("First", {{"labels", {"x"}}, {"properties", {{"Salary", 7}}}});
    const std::string token = link({{"hidden_properties", {"Salary"}}});
    const auto change = [&](const json::object& what) {
        expect(200, client_.send("PATCH", path + "/" + pay, json::serialize(what)));
    };
    const auto kept = Postgres::shared().run(
        "SELECT properties::text FROM cards WHERE id = '" + old + "'", database_
    );
    change({{"name", "Pay"}});
    post(path, {{"name", "Salary"}, {"type", "number"}});
    const auto put_back = [&] {  // as cards are that have not followed yet
        Postgres::shared().run(
            "UPDATE cards SET properties = '" + kept + "' WHERE id = '" + old + "'", database_
        );
    };
    put_back();
    const std::string place = "/columns/0/cards/0/properties";
    EXPECT_TRUE(expect(200, look(token)).json().at_pointer(place).as_object().empty());
    const Reply open = expect(200, look(link()));
    EXPECT_EQ(open.text(place + "/Pay/number"), "7");
    EXPECT_EQ(open.json().at_pointer(place).as_object().size(), 1U);
}

TEST_F(Shared, ItGoesOnColumnByColumn) {
    for (const char* title : {"a", "b", "c"}) card(title);
    const std::string token = link();
    const Reply first = expect(200, look(token, {}, "?page_size=2"));
    const auto cursor = first.text("/columns/0/next_cursor");
    const Reply rest = expect(200, look(token, {}, "?page_size=2&start_cursor=" + cursor));
    EXPECT_EQ(rest.json().at("columns").as_array().size(), 1U);
    EXPECT_EQ(rest.text("/columns/0/cards/0/title"), "c");
    EXPECT_EQ(look(link(), {}, "?start_cursor=" + cursor).status, 422) << "of another link";
}

TEST_F(Shared, NeitherAddressesNorSecretsNorWhatIsHiddenGetOut) {
    const std::string agent = workspace_->mint("agent", "leak");
    const auto make = [&](const char* name, const char* type) {
        return post(
                   "/v1/boards/" + board_ + "/properties", {{"name", name}, {"type", type}}
        ).text("/id");
    };
    const std::string cost = make("Cost", "number"), mail = make("Mail", "email"),
                      note = make("Note", "url"), secret = make("Hush", "number");
    const std::string id = card(
        "Ask ada@example.com or <Bob.B+x@mail.example.co.uk> with " + agent,
        {{"labels", {"eve@example.com"}}, {"assignees", {workspace_->user_id}}}
    );
    const value values{
        {"Cost", {{"id", cost}, {"type", "number"}, {"number", 5}}},
        {"Mail", {{"id", mail}, {"type", "email"}, {"email", "hidden@example.com"}}},
        {"Note", {{"id", note}, {"type", "url"}, {"url", "https://joe:pw@example.com/x"}}},
        {"Hush", {{"id", secret}, {"type", "number"}, {"number", 4711.5}}}};
    Postgres::shared().run(
        "UPDATE cards SET properties = '" + json::serialize(values) + "' WHERE id = '" + id + "'",
        database_
    );
    expect(
        200,
        client_.send(
            "PATCH",
            "/v1/boards/" + board_,
            json::serialize(value{
                {"description", "Questions to help@example.com\nor sl_" + std::string(64, 'a')}})
        )
    );
    const Reply seen = expect(200, look(link({{"hidden_properties", {"hush"}}})));
    EXPECT_FALSE(std::regex_search(seen.body, std::regex("[^ \"]@[^ \"]"))) << seen.body;
    for (const char* secret_text : {"svc_", "lt_", "sl_", "example.co", "4711.5", "Hush", "Mail"})
        EXPECT_EQ(seen.body.find(secret_text), std::string::npos) << seen.body;
    EXPECT_EQ(seen.json().at_pointer("/columns/0/cards/0/properties/Cost/number"), 5);
    EXPECT_EQ(seen.text("/columns/0/cards/0/title"), "Ask [hidden] or <[hidden]> with [hidden]");
    EXPECT_EQ(seen.text("/description"), "Questions to [hidden]\nor [hidden]");
}

TEST_F(Shared, ARenamedPropertyStaysHidden) {
    const std::string id =
        post(
            "/v1/boards/" + board_ + "/properties", {{"name", "Pay"}, {"type", "number"}}
        ).text("/id");
    const std::string token = link({{"hidden_properties", {id}}});
    const std::string path = "/v1/boards/" + board_ + "/properties/" + id;
    expect(200, client_.send("PATCH", path, R"({"name": "Salary"})"));
    EXPECT_EQ(expect(200, look(token)).body.find("Salary"), std::string::npos);
    const auto unknown = client_.post(
        "/v1/boards/" + board_ + "/share-links", value{{"hidden_properties", {"Nothing"}}}
    );
    EXPECT_EQ(unknown.status, 422);
}

TEST_F(Shared, WhateverLeadsNowhereIsAnsweredAlike) {
    const std::string revoked = link(), expired = link(), trashed_card = card("x");
    const std::string of_card = link({{"card_id", trashed_card}});
    const Reply list = expect(200, client_.get("/v1/boards/" + board_ + "/share-links"));
    const auto id_at = [&](int row) {
        return list.text("/results/" + std::to_string(row) + "/id");
    };
    expect(204, client_.send("DELETE", "/v1/share-links/" + id_at(2)));
    expect(204, client_.send("DELETE", "/v1/share-links/" + id_at(2)));
    Postgres::shared().run(
        "UPDATE share_links SET expires_at = now() - interval '1 s' WHERE id = '" + id_at(1) + "'",
        database_
    );
    Postgres::shared().run(
        "UPDATE cards SET in_trash = true WHERE id = '" + trashed_card + "'", database_
    );
    std::string unknown = revoked;
    unknown.back() = unknown.back() == 'A' ? 'B' : 'A';
    const Reply first = expect(404, look(unknown));
    EXPECT_EQ(first.header("referrer-policy"), "no-referrer");
    for (const std::string& token :
         {revoked, expired, of_card, std::string("nonsense"), std::string("sl_"), board_})
        EXPECT_EQ(refusal(expect(404, look(token))), refusal(first));
    const std::string of_board = link();
    expect(204, client_.send("DELETE", "/v1/boards/" + board_));
    EXPECT_EQ(refusal(expect(404, look(of_board))), refusal(first));
    expect(200, client_.post("/v1/boards/" + board_ + ":restore"));
    expect(200, look(of_board));
}

TEST_F(Shared, APasswordIsAskedForAndGuessesAreCounted) {
    const std::string token = link({{"password", "open sesame"}});
    const Reply closed = expect(403, look(token));
    EXPECT_EQ(closed.text("/additional_data/reason"), "password_required");
    EXPECT_EQ(closed.header("referrer-policy"), "no-referrer");
    const auto with = [&](const char* password) {
        return look(token, {{"X-Svc-Share-Password", password}});
    };
    for (int i = 0; i < 5; ++i) EXPECT_EQ(with("open sesame").status, 200);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(
            expect(403, with("open says me")).text("/additional_data/reason"), "wrong_password"
        );
    const Reply enough = expect(429, with("open sesame"));
    EXPECT_GE(std::stoi(enough.header("retry-after")), 1);
    place_ = "203.0.113.250";
    EXPECT_EQ(with("open sesame").status, 200) << "who comes from elsewhere gets in";
    const Reply list = expect(200, client_.get("/v1/boards/" + board_ + "/share-links"));
    EXPECT_EQ(list.json().at_pointer("/results/0/has_password"), true);
    EXPECT_EQ(list.body.find("argon2"), std::string::npos);
    EXPECT_EQ(list.body.find("sl_"), std::string::npos) << "the link is shown once";
}

TEST_F(Shared, OnePlaceLooksSoOftenAndNoMore) {
    const std::string token = link();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(look(token).status, 200);
    const Reply enough = expect(429, look(token));
    EXPECT_EQ(enough.text("/additional_data/rate_limit_reason"), "shared_board");
    EXPECT_GE(std::stoi(enough.header("retry-after")), 1);
    EXPECT_EQ(look("nonsense").status, 429) << "nor does guessing go on";
    place_ = "203.0.113.251";
    EXPECT_EQ(look(token).status, 200);
}

TEST_F(Shared, ViewsAreCounted) {
    const std::string token = link();
    for (int i = 0; i < 3; ++i) expect(200, look(token));
    const auto views = [&] {
        const Reply list = expect(200, client_.get("/v1/boards/" + board_ + "/share-links"));
        return list.json().at_pointer("/results/0/view_count").as_int64();
    };
    EXPECT_TRUE(eventually([&] { return views() >= 3; }));
    EXPECT_EQ(views(), 3);
}

TEST_F(Shared, ALinkOpensNothingElse) {
    const std::string token = link();
    Client holder(server_->port());
    holder.token(token);
    const std::vector<std::pair<std::string, std::string>> calls{
        {"GET", "/v1/me"},
        {"GET", "/v1/boards/" + board_},
        {"GET", "/v1/cards"},
        {"POST", "/v1/boards/" + board_ + "/cards"},
        {"DELETE", "/v1/boards/" + board_},
    };
    for (const auto& [method, path] : calls) {
        const Reply refused = expect(403, holder.send(method, path));
        EXPECT_EQ(refused.text("/code"), "restricted_resource") << path;
    }
    for (const char* method : {"POST", "PATCH", "DELETE"})
        EXPECT_EQ(holder.send(method, "/v1/shared/" + token).status, 405);
}

TEST_F(Shared, LinksAreForTheAdminsOfTheBoard) {
    const std::string member = "m" + std::to_string(places_) + "@example.com";
    Client anonymous(server_->port());
    EXPECT_EQ(anonymous.get("/v1/boards/" + board_ + "/share-links").status, 401);
    const Workspace stranger = make_workspace(*server_, member, "Other");
    Client other = stranger.client;
    EXPECT_EQ(other.get("/v1/boards/" + board_ + "/share-links").status, 404);
    link();
    const auto id =
        expect(200, client_.get("/v1/boards/" + board_ + "/share-links")).text("/results/0/id");
    EXPECT_EQ(client_.send("DELETE", "/v1/share-links/" + board_).status, 404);
    Client agent(server_->port());
    agent.token(workspace_->mint("agent", "links"));
    EXPECT_EQ(
        agent.post("/v1/boards/" + board_ + "/share-links", value(json::object())).status, 403
    );
    EXPECT_EQ(agent.send("DELETE", "/v1/share-links/" + id).status, 403);
    const auto past = value{{"expires_at", "2020-01-01T00:00:00Z"}};
    EXPECT_EQ(client_.post("/v1/boards/" + board_ + "/share-links", past).status, 422);
    const auto nowhere = value{{"card_id", board_}};
    EXPECT_EQ(client_.post("/v1/boards/" + board_ + "/share-links", nowhere).status, 422);
}

}  // namespace svc::test
