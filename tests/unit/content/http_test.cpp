// What only shows over HTTP, and what a call costs the database.

#include "tests/support/count_of.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"
#include "tests/unit/content/page.hpp"

#include <set>

namespace svc::test {

namespace {

namespace json = boost::json;

/// A server on a database that counts statements, and a card to write on.
struct ContentServer {
    Postgres postgres{Postgres::Disk::fast, {"shared_preload_libraries=pg_stat_statements"}};
    std::string url = postgres.fresh_database();
    Server server{{
        .database_url = url,
        .settings = {"modules=mail,orgs,auth,agents,boards,content", "plugins=mail-file"},
    }};
    Workspace workspace = make_workspace(server);
    Client& client = workspace.client;
    std::string card;

    ContentServer() {
        client.always("X-Svc-Org", workspace.org_id);
        postgres.run("CREATE EXTENSION pg_stat_statements", url);
        const auto board = expect(201, client.post("/v1/boards", R"({"name": "Desk"})"));
        const std::string path = "/v1/boards/" + board.text("/id");
        const auto made = expect(
            201,
            client.post(
                path + "/cards",
                json::value{{"column_id", board.text("/column_ids/0")}, {"title", "Card"}}
            )
        );
        card = made.text("/id");
    }

    Reply append(const std::string& parent, const array& blocks) {
        return client.send(
            "PATCH",
            "/v1/blocks/" + parent + "/children",
            json::serialize(object{{"children", blocks}})
        );
    }
    int round_trips() {
        const auto metrics = server.client().get("/metrics").body;
        int sum = 0;
        const std::string name = "\nworkboard_request_round_trips_total{";
        for (auto at = metrics.find(name); at != metrics.npos; at = metrics.find(name, at + 1))
            sum += std::stoi(metrics.substr(metrics.find("} ", at) + 2));
        return sum;
    }
    template <class Request>
    int cost(Request request) {
        const int before = round_trips();
        const Reply reply = request();
        EXPECT_LT(reply.status, 300) << reply.body;
        return round_trips() - before;
    }
};

ContentServer& fixture() {
    static ContentServer here;
    return here;
}

/// Twenty blocks in ten levels each: one, with two chains of nine and a paragraph below it.
array bushes(int from, int count) {
    object chain = toggle("10");
    for (int level = 9; level >= 2; --level) chain = toggle(std::to_string(level), {chain});
    array blocks;
    for (int i = 0; i < count; ++i)
        blocks.push_back(toggle(std::to_string(from + i), {chain, chain, paragraph("leaf")}));
    return blocks;
}

}  // namespace

TEST(ContentCost, TenLevelsOfTwoThousandBlocksAreOneStatement) {
    ContentServer& d = fixture();
    const auto root = expect(200, d.append(d.card, {toggle("root")})).text("/results/0/id");
    for (int i = 0; i < 100; i += 50) expect(200, d.append(root, bushes(i, 50)));
    const std::string path = "/v1/blocks/" + root + "/children?depth=10&page_size=100";
    expect(200, d.client.get(path));  // prepared from here on
    d.postgres.run("SELECT pg_stat_statements_reset()", d.url);
    const auto first = expect(200, d.client.get(path));
    EXPECT_EQ(
        d.postgres.run(
            "SELECT count(*) || ' ' || sum(calls) FROM pg_stat_statements"
            " WHERE query LIKE '%blocks%' AND query NOT LIKE '%pg_stat_statements%'",
            d.url
        ),
        "1 1"
    );
    EXPECT_EQ(count_of(first.body, R"("object":"block")"), 2000);
    EXPECT_EQ(count_of(first.body, "children_truncated"), 0);
    const auto page = first.json();
    const auto* deepest = &page.at("results").at(0);
    int levels = 1;
    for (; deepest->as_object().contains("children"); ++levels)
        deepest = &deepest->at("children").at(0);
    EXPECT_EQ(levels, 10);

    // One more than there is room for: the last that would be opened stays shut, and says so.
    const auto last = page.at("results").at(99);
    expect(
        200, d.append(std::string(last.at("children").at(0).at("id").as_string()), {paragraph("x")})
    );
    const auto more = expect(200, d.client.get(path));
    EXPECT_EQ(count_of(more.body, "\"children_truncated\":true"), 1);
    EXPECT_LE(count_of(more.body, R"("object":"block")"), 2000);
    EXPECT_EQ(more.json().at("results").as_array().size(), 100U);
}

TEST(ContentCost, PagingCountsTheFirstLevelAlone) {
    ContentServer& d = fixture();
    const auto root = expect(200, d.append(d.card, {toggle("root")})).text("/results/0/id");
    expect(200, d.append(root, bushes(0, 5)));
    std::string cursor;
    std::vector<std::string> seen;
    do {
        const auto page = expect(
                              200,
                              d.client.get(
                                  "/v1/blocks/" + root + "/children?depth=3&page_size=2" +
                                  (cursor.empty() ? "" : "&start_cursor=" + cursor)
                              )
        )
                              .json();
        for (const value& each : page.at("results").as_array()) {
            seen.push_back(said(each));
            EXPECT_EQ(each.at("children").as_array().size(), 3U);
        }
        cursor =
            page.at("next_cursor").is_null() ? "" : std::string(page.at("next_cursor").as_string());
    } while (!cursor.empty() && seen.size() < 10);
    EXPECT_THAT(seen, testing::ElementsAre("0", "1", "2", "3", "4"));
}

TEST(ContentCost, OfAReadIsOneRoundTripAndOfAWriteTwo) {
    ContentServer& d = fixture();
    const auto block = expect(200, d.append(d.card, {paragraph("x")})).text("/results/0/id");
    const auto comment =
        expect(
            201,
            d.client.post(
                "/v1/comments",
                json::value{{"parent", {{"card_id", d.card}}}, {"markdown", "Hello"}}
            )
        ).text("/id");
    for (const std::string& path :
         {"/v1/blocks/" + d.card + "/children",
          "/v1/blocks/" + block,
          "/v1/cards/" + d.card + "/markdown",
          "/v1/comments?card_id=" + d.card,
          "/v1/comments/" + comment})
        EXPECT_EQ(d.cost([&] { return d.client.get(path); }), 1) << path;
    EXPECT_EQ(d.cost([&] { return d.client.post("/v1/search", R"({"query": "hello"})"); }), 1);
    // Cards and boards are read whole, once it is known which.
    EXPECT_EQ(d.cost([&] { return d.client.post("/v1/search", R"({"query": "desk"})"); }), 2);

    const auto write = [&](const char* what, auto request) {
        EXPECT_EQ(d.cost(request), 2) << what;
    };
    const std::string here = "/v1/blocks/" + block;
    write("append", [&] { return d.append(d.card, {paragraph("y")}); });
    write("update", [&] {
        return d.client.send("PATCH", here, json::serialize(json::value(paragraph("z"))));
    });
    write("move", [&] {
        return d.client.post(here + ":move", json::value{{"parent_id", d.card}});
    });
    write("delete", [&] { return d.client.send("DELETE", here); });
    write("batch", [&] {
        return d.client.post(
            "/v1/cards/" + d.card + "/blocks:batch",
            json::value{{"operations", array{object{{"op", "create"}, {"block", paragraph("b")}}}}}
        );
    });
    write("markdown", [&] {
        return d.client.send(
            "PATCH", "/v1/cards/" + d.card + "/markdown", R"({"markdown": "# New"})"
        );
    });
    write("comment", [&] {
        return d.client.post(
            "/v1/comments", json::value{{"discussion_id", comment}, {"markdown", "Answer"}}
        );
    });
    write("resolve", [&] { return d.client.post("/v1/comments/" + comment + ":resolve"); });
}

TEST(ContentHttp, AVersionThatIsNotTheBlocksIsRefused) {
    ContentServer& d = fixture();
    const auto block = expect(200, d.append(d.card, {paragraph("x")})).text("/results/0/id");
    const std::string path = "/v1/blocks/" + block;
    EXPECT_EQ(d.client.get(path).header("etag"), "\"1\"");
    const std::string body = json::serialize(json::value(paragraph("y")));
    EXPECT_EQ(
        expect(200, d.client.send("PATCH", path, body, {{"If-Match", "\"1\""}})).header("etag"),
        "\"2\""
    );
    const auto stale = d.client.send("PATCH", path, body, {{"If-Match", "\"1\""}});
    EXPECT_EQ(stale.status, 412);
    EXPECT_EQ(stale.text("/additional_data/current_version"), "2");
    EXPECT_EQ(d.client.send("DELETE", path, {}, {{"If-Match", "\"1\""}}).status, 412);
}

TEST(ContentHttp, ARequestOfBlocksMayHaveTwoMebibytes) {
    ContentServer& d = fixture();
    const std::string long_text(1500, 'x');
    array items, blocks;
    for (int i = 0; i < 10; ++i) items.push_back(object{{"text", {{"content", long_text}}}});
    for (int i = 0; i < 100; ++i) blocks.push_back(object{{"paragraph", {{"rich_text", items}}}});
    EXPECT_EQ(d.append(d.card, blocks).status, 200);
    for (int i = 0; i < 10; ++i) items.push_back(object{{"text", {{"content", long_text}}}});
    for (value& each : blocks) each = object{{"paragraph", {{"rich_text", items}}}};
    EXPECT_EQ(d.append(d.card, blocks).status, 413);
}

TEST(ContentHttp, DepthIsOneToTen) {
    ContentServer& d = fixture();
    for (const char* depth : {"0", "11", "-1", "x"})
        EXPECT_EQ(d.client.get("/v1/blocks/" + d.card + "/children?depth=" + depth).status, 422);
    EXPECT_EQ(d.client.get("/v1/blocks/" + d.card + "/children?start_cursor=zzz").status, 422);
}

TEST(ContentOverHttp, AShareLinkShowsWhatIsWrittenOnTheOneCard) {
    ContentServer fixture;
    const auto body = array{paragraph("Write to ada@example.com"), paragraph("Then rest")};
    expect(200, fixture.append(fixture.card, body));
    const auto card = expect(200, fixture.client.get("/v1/cards/" + fixture.card));
    const auto look = [&](const object& link, const std::string& query = {}) {
        const auto path = "/v1/boards/" + card.text("/board_id") + "/share-links";
        const auto url = expect(201, fixture.client.post(path, json::value(link))).text("/url");
        const auto token = url.substr(url.rfind('/') + 1);
        return expect(200, fixture.server.client().get("/v1/shared/" + token + query));
    };
    const std::string place = "/columns/0/cards/0/markdown";
    const auto alone = look({{"card_id", fixture.card}});
    EXPECT_EQ(alone.text(place), "Write to [hidden]\n\nThen rest");
    EXPECT_EQ(look({}, "?card_id=" + fixture.card).text(place), alone.text(place));
    EXPECT_TRUE(look({}).json().at_pointer(place).is_null());
}

// ------------------------------------------------------------------------- what takes a card

namespace {

/// Whether a field of that name is a card's id, in requests of that operation.
bool names_a_card(const std::string& operation, const std::string& field) {
    static const std::set<std::string> always{
        "card_id", "parent_card_id", "blocked_by", "target_id", "page_id"};
    static const std::set<std::string> beside_cards{"create_card", "move_card", "batch_cards"};
    if (field == "before_id" || field == "after_id") return beside_cards.contains(operation);
    if (operation == "list_audit_events") return false;  // its target is a thing of any kind
    if (operation == "get_shared_board") return false;   // strangers have ids from the board itself
    if (field == "parent_id") return true;               // a block or a card
    return always.contains(field);
}

/// Fields of a request that are a card's id and take nothing but a UUID.
class Strict {
public:
    explicit Strict(const json::value& document) : document_(document) {}

    std::vector<std::string> found() {
        for (const auto& [path, item] : document_.at("paths").as_object())
            for (const auto& [method, operation] : item.as_object())
                if (operation.is_object() && operation.as_object().contains("operationId"))
                    look(operation.as_object());
        return found_;
    }
    int looked_at() const { return looked_at_; }

private:
    void look(const json::object& operation) {
        operation_ = std::string(operation.at("operationId").as_string());
        if (const auto* parameters = operation.if_contains("parameters"))
            for (const auto& each : parameters->as_array())
                if (const auto* name = each.as_object().if_contains("name"))
                    check(std::string(name->as_string()), each.at("schema"));
        if (const auto* body = operation.if_contains("requestBody"))
            for (const auto& [type, content] : body->at("content").as_object())
                walk(content.at("schema"));
    }

    void walk(const json::value& schema) {
        if (const auto* list = schema.if_array())
            for (const auto& each : *list) walk(each);
        const auto* object = schema.if_object();
        if (!object) return;
        if (const auto* ref = object->if_contains("$ref")) {
            const std::string name(ref->as_string());
            // Within the text of a block, cards are named by their ids.
            const bool text = name.ends_with("/CardRefBlock") ||
                              name.ends_with("/CardRefBlock-Input") ||
                              name.ends_with("/MentionPage");
            if (!text && seen_.insert(operation_ + name).second)
                walk(document_.at_pointer(name.substr(1)));
        }
        if (const auto* properties = object->if_contains("properties"))
            if (properties->is_object())
                for (const auto& [name, each] : properties->as_object())
                    check(std::string(name), each);
        for (const auto& [key, each] : *object) walk(each);
    }

    void check(const std::string& field, const json::value& schema) {
        if (!names_a_card(operation_, field)) return;
        ++looked_at_;
        if (json::serialize(schema).find("\"uuid\"") != std::string::npos)
            found_.push_back(operation_ + "." + field);
    }

    const json::value& document_;
    std::string operation_;
    std::set<std::string> seen_;
    std::vector<std::string> found_;
    int looked_at_ = 0;
};

}  // namespace

TEST(Addresses, OfWhatIsFoundArePages) {
    ContentServer fixture;
    expect(201, fixture.client.post("/v1/boards", R"({"name": "Card index"})"));
    const auto found = expect(200, fixture.client.post("/v1/search", R"({"query": "card"})"));
    for (const std::string at : {"/results/0/url", "/results/1/url"}) {
        const auto url = found.text(at);
        const auto path = url.substr(url.find('/', url.find("//") + 2));
        const auto page = fixture.server.client().send("GET", path, {}, {{"Accept", "text/html"}});
        EXPECT_EQ(page.status, 200) << url;
        EXPECT_EQ(page.header("content-type").substr(0, 9), "text/html") << url;
    }
}

TEST(Keys, AreTakenByEveryFieldThatIsTheIdOfACard) {
    const auto document = json::parse(fixture().client.get("/openapi.json").body);
    Strict strict(document);
    EXPECT_THAT(strict.found(), testing::IsEmpty());
    EXPECT_GT(strict.looked_at(), 30);
}

// ------------------------------------------------------------------------------ what is stored

TEST(Storage, AWorkspaceThatIsFullTakesNoMore) {
    const Server server({
        .database_url = Postgres::shared().fresh_database(),
        .settings =
            {"modules=mail,orgs,auth,agents,boards,content",
             "plugins=mail-file",
             "boards.workspace_mib=1"},
    });
    auto workspace = make_workspace(server);
    Client& client = workspace.client;
    client.always("X-Svc-Org", workspace.org_id);
    const std::string here = "/v1/orgs/" + workspace.org_id;
    const auto storage = [&] { return client.get(here).json().at("storage"); };
    EXPECT_EQ(storage().at("limit_bytes").to_number<int>(), 1 << 20);
    const auto board = expect(201, client.post("/v1/boards", R"({"name": "Desk"})"));
    const std::string cards = "/v1/boards/" + board.text("/id") + "/cards";
    const auto make = [&](const std::string& title) {
        return client.post(
            cards,
            json::value{
                {"column_id", board.text("/column_ids/0")},
                {"title", title},
                {"markdown", std::string(90'000, 'x') + "\n\n" + std::string(90'000, 'y')}}
        );
    };
    Reply last;
    int made = 0;
    while (made < 10 && (last = make("Card " + std::to_string(made))).status == 201) ++made;
    EXPECT_EQ(last.status, 402) << last.body;
    EXPECT_EQ(last.text("/code"), "plan_limit_reached");
    EXPECT_EQ(last.text("/additional_data/limit"), "storage");
    EXPECT_GE(made, 1);
    EXPECT_LE(made, 6);
    const auto used = storage().at("used_bytes").to_number<int>();
    EXPECT_GT(used, 100'000);
    EXPECT_LE(used, 1 << 20);
    // Nothing of it is there.
    const auto listed = client.get("/v1/cards").json();
    EXPECT_EQ(listed.at("results").as_array().size(), static_cast<std::size_t>(made));
}

}  // namespace svc::test
