#include "tests/support/timing.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <chrono>

/// A database that was made a minute ago, and where nothing but the server itself has told
/// PostgreSQL what is in the tables.
namespace svc::test {
namespace {

namespace json = boost::json;

constexpr int paragraphs = 5'000;

std::string markdown_of(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "Paragraph " + std::to_string(i) + ".\n\n";
    return text;
}

class YoungDatabase : public testing::Test {
protected:
    std::string make_card(const std::string& title) {
        return expect(
                   201,
                   ada.client.post(
                       "/v1/boards/" + board + "/cards",
                       json::value{{"column_id", column}, {"title", title}}
                   )
        ).text("/id");
    }
    Reply write(const std::string& card, const std::string& text) {
        return ada.client.send(
            "PATCH",
            "/v1/cards/" + card + "/markdown",
            json::serialize(json::value{{"mode", "replace"}, {"markdown", text}})
        );
    }
    Reply read(const std::string& card) {
        return ada.client.get("/v1/cards/" + card + "/markdown");
    }
    /// Rows of blocks that were looked at so far, wanted or not. What a server's connections have
    /// counted is there for certain once they are closed.
    double rows_read() {
        server.end(SIGTERM);
        const auto rows = std::stod(Postgres::shared().run(
            "SELECT coalesce((SELECT seq_tup_read FROM pg_stat_user_tables"
            "   WHERE relname = 'blocks'), 0)"
            " + coalesce((SELECT sum(idx_tup_read) FROM pg_stat_user_indexes"
            "   WHERE relname = 'blocks'), 0)",
            database
        ));
        return rows;
    }

    std::string database = Postgres::shared().fresh_database();
    Server server{{.database_url = database}};
    Workspace ada = make_workspace(server);
    std::string board =
        expect(201, ada.client.post("/v1/boards", json::value{{"name", "Board"}})).text("/id");
    std::string column =
        expect(
            201, ada.client.post("/v1/boards/" + board + "/columns", json::value{{"name", "To do"}})
        ).text("/id");
};

TEST_F(YoungDatabase, ABigCardAmongSmallOnesCostsAsMuchAsItHolds) {
    for (int i = 0; i < 60; ++i) {
        const auto small = make_card("Card " + std::to_string(i));
        expect(200, write(small, "One.\n\nTwo."));
        expect(200, read(small));
    }
    const auto big = make_card("Big");
    expect(200, write(big, markdown_of(paragraphs)));
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(expect(200, read(big)).json().at("block_count"), paragraphs);
    expect(200, write(big, markdown_of(paragraphs) + "One more."));
    // Some ten times over the card, and not once for each of its blocks.
    EXPECT_LT(rows_read(), 60.0 * paragraphs);
}

/// How many of a card's blocks a change concerns cannot be told from what is usual.
TEST_F(YoungDatabase, AllOfABigCardIsChangedInTheTimeThatItTookToWriteIt) {
    for (int i = 0; i < 60; ++i) expect(200, write(make_card("Card"), "One.\n\nTwo."));
    Postgres::shared().run("ANALYZE blocks", database);
    const auto big = make_card("Big");
    std::string list = "- All\n";
    for (int i = 0; i < 2 * paragraphs - 1; ++i) list += "    - " + std::to_string(i) + '\n';
    const double written = server_time(server, [&] { expect(200, write(big, list)); });
    const auto top =
        expect(200, ada.client.get("/v1/blocks/" + big + "/children")).text("/results/0/id");
    const double gone =
        server_time(server, [&] { expect(200, ada.client.send("DELETE", "/v1/blocks/" + top)); });
    EXPECT_LT(gone, 2 * written);
    printf("written in %.2f s, gone in %.2f s\n", written, gone);
}

TEST_F(YoungDatabase, WhatWasFilledIsAnalyzed) {
    const std::string known = "SELECT reltuples FROM pg_class WHERE relname = 'blocks'";
    const auto card = make_card("Big");
    expect(200, write(card, markdown_of(1'000)));
    EXPECT_GT(std::stod(Postgres::shared().run(known, database)), 900);
}

}  // namespace
}  // namespace svc::test
