// What only a request can say about cards: versions, preferences and texts known already, in
// headers.

#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace svc::test {

namespace {

namespace json = boost::json;

struct Hall {
    Server server{{.database_url = Postgres::shared().fresh_database()}};
    Workspace workspace = make_workspace(server);
    Client client = server.client();
    std::string board, column;

    Hall() {
        client.token(workspace.mint("integration", "Script"));
        const Reply made = expect(201, client.post("/v1/boards", json::value{{"name", "Hall"}}));
        board = made.text("/id");
        column = made.text("/column_ids/0");
    }
    Reply card(json::object what = {}) {
        what["column_id"] = column;
        what["title"] = "Card";
        return expect(201, client.post("/v1/boards/" + board + "/cards", json::value(what)));
    }
};

Hall& hall() {
    static Hall here;
    return here;
}

}  // namespace

TEST(CardsOverHttp, AnOldVersionIsRefusedByEveryCallThatChangesTheCard) {
    Hall& h = hall();
    const std::string path = "/v1/cards/" + h.card().text("/id");
    const struct {
        std::string method, path, body;
    } calls[] = {
        {"PATCH", path, R"({"title":"New"})"},
        {"POST", path + ":move", R"({"column_id":")" + h.column + "\"}"},
        {"POST", path + ":archive", ""},
        {"POST", path + ":restore", ""},
        {"POST", path + ":revert", R"({"version":1})"},
        {"DELETE", path, ""},
    };
    for (const auto& call : calls) {
        const Reply stale =
            h.client.send(call.method, call.path, call.body, {{"If-Match", "\"7\""}});
        EXPECT_EQ(stale.status, 412) << call.method << ' ' << call.path;
        EXPECT_EQ(stale.text("/code"), "version_conflict");
        EXPECT_EQ(stale.text("/additional_data/current_version"), "1");
    }
    // A client that has lost its version does not mean to overwrite others.
    const Reply empty = h.client.send("PATCH", path, R"({"title":"New"})", {{"If-Match", ""}});
    EXPECT_EQ(expect(422, empty).text("/detail/0/loc/1"), "if-match");
    const Reply fresh = h.client.send("PATCH", path, R"({"title":"New"})", {{"If-Match", "\"1\""}});
    EXPECT_EQ(fresh.status, 200);
    EXPECT_EQ(fresh.header("etag"), "\"2\"");
}

TEST(CardsOverHttp, WhatChangesWithoutTheVersionIsSeenByWhoeverAsksByIt) {
    Hall& h = hall();
    const auto blocker = h.card().text("/id");
    const std::string path = "/v1/cards/" + h.card({{"blocked_by", {blocker}}}).text("/id");
    const Reply first = expect(200, h.client.get(path));
    EXPECT_EQ(first.header("cache-control"), "no-store");
    EXPECT_EQ(first.text("/blocked"), "true");
    expect(200, h.client.post("/v1/cards/" + blocker + ":archive"));
    const Headers known{{"If-None-Match", first.header("etag")}};
    const Reply again = expect(200, h.client.send("GET", path, "", known));
    EXPECT_EQ(again.header("etag"), first.header("etag"));
    EXPECT_EQ(again.text("/blocked"), "false");
}

TEST(CardsOverHttp, PreferMergePropertiesJoinsListsAndSaysSo) {
    Hall& h = hall();
    const std::string path = "/v1/cards/" + h.card({{"labels", {"a", "b"}}}).text("/id");
    const Reply joined =
        h.client.send("PATCH", path, R"({"labels":["b","c"]})", {{"Prefer", "merge-properties"}});
    EXPECT_EQ(joined.json().at("labels").as_array().size(), 3u);
    EXPECT_EQ(joined.header("preference-applied"), "merge-properties");
    const Reply replaced = h.client.send("PATCH", path, R"({"labels":["c"]})");
    EXPECT_EQ(replaced.json().at("labels").as_array().size(), 1u);
    EXPECT_EQ(replaced.header("preference-applied"), "");

    expect(
        201,
        h.client.post(
            "/v1/boards/" + h.board + "/properties",
            json::value{{"name", "Tags"}, {"type", "multi_select"}}
        )
    );
    h.client.send("PATCH", path, R"({"properties":{"Tags":["a","b"]}})");
    const Reply tags = h.client.send(
        "PATCH", path, R"({"properties":{"Tags":["b","c"]}})", {{"Prefer", "merge-properties"}}
    );
    EXPECT_EQ(tags.json().at_pointer("/properties/Tags/multi_select").as_array().size(), 3u);
    const Reply wrong = h.client.send("PATCH", path, R"({"properties":{"Tags":5}})");
    EXPECT_EQ(
        wrong.json().at_pointer("/detail/0/loc"), (json::value{"body", "properties", "Tags"})
    );
}

TEST(CardsOverHttp, ABriefThatIsKnownIsNotSentAgain) {
    Hall& h = hall();
    const std::string path = "/v1/cards/" + h.card().text("/id");
    const Reply first = expect(200, h.client.get(path + "/context"));
    EXPECT_EQ(first.header("etag"), first.text("/etag"));
    const Headers known{{"If-None-Match", first.header("etag")}};
    const Reply again = h.client.send("GET", path + "/context", "", known);
    EXPECT_EQ(again.status, 304);
    EXPECT_TRUE(again.body.empty());
    expect(200, h.client.send("PATCH", path, R"({"priority":"high"})"));
    EXPECT_EQ(h.client.send("GET", path + "/context", "", known).status, 200);
}

TEST(CardsOverHttp, ARepeatedKeyMakesNoSecondBatch) {
    Hall& h = hall();
    const std::string body = R"({"operations":[{"create":{"board_id":")" + h.board +
                             R"(","column_id":")" + h.column + R"(","title":"Once"}}]})";
    const Headers key{{"Idempotency-Key", "batch-1"}};
    const Reply first = expect(200, h.client.post("/v1/cards:batch", body, key));
    const Reply again = expect(200, h.client.post("/v1/cards:batch", body, key));
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(again.header("idempotency-replayed"), "true");
}

TEST(CardsOverHttp, KeysStandForIdsInEveryPath) {
    Hall& h = hall();
    const std::string key = h.card().text("/key"), path = "/v1/cards/" + key;
    EXPECT_EQ(h.client.get(path).text("/key"), key);
    for (const char* list : {"/versions", "/activity", "/context"})
        EXPECT_EQ(h.client.get(path + list).status, 200) << list;
    EXPECT_EQ(h.client.send("PUT", path + "/watchers/me").status, 200);
    EXPECT_EQ(h.client.send("DELETE", path + "/watchers/me").status, 204);
    EXPECT_EQ(h.client.send("PATCH", path, R"({"title":"By key"})").status, 200);
    EXPECT_EQ(h.client.post(path + ":duplicate").status, 201);
    EXPECT_EQ(h.client.send("DELETE", path).status, 204);
    EXPECT_EQ(h.client.send("DELETE", path).status, 204) << "a repeat changes nothing";
}

TEST(CardsOverHttp, WhatEntersTheRecordIsStillInTheActivity) {
    Hall& h = hall();
    const std::string path = "/v1/cards/" + h.card().text("/id");
    expect(200, h.client.send("PATCH", path, R"({"title":"Two"})"));
    for (int i = 0; i < 20; ++i) {  // while the sequencer moves the entries
        const Reply page = expect(200, h.client.get(path + "/activity"));
        EXPECT_EQ(page.json().at("results").as_array().size(), 2u);
        EXPECT_EQ(page.text("/results/0/kind"), "card.updated");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

}  // namespace svc::test
