#include "tests/api/budgets.hpp"

namespace svc::test {

namespace {

/// Lists about which nothing can be made here, or that ask for one of several filters.
const std::set<std::string> not_here{"list_email_outbox", "list_comments"};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Young, Budgets, testing::Values(Statistics::none));
INSTANTIATE_TEST_SUITE_P(Analyzed, Budgets, testing::Values(Statistics::fresh));

TEST_P(Budgets, EveryListKeepsToThem) {
    Place& p = place();
    const std::map<std::string, std::string> ids{
        {"board_id", p.board},
        {"column_id", p.full},
        {"card_id", p.card},
        {"block_id", p.card},
        {"parent_id", p.card},
        {"agent_id", p.agent},
        {"automation_id", "label-results.lua"},  // lists of an automation without runs are empty
        {"org_id", p.workspace.org_id},
        {"user_id", p.workspace.user_id},
        {"webhook_id", p.webhook},
    };
    int asked = 0;
    const json::value document = p.server.client().get("/openapi.json").json();
    const Interface interface(document);
    for (const Described& each : interface.operations()) {
        if (each.method != "GET" || each.for_anyone || not_here.contains(each.name)) continue;
        const std::string text = json::serialize(document.at("paths").at(each.path).at("get"));
        if (text.find("page_size") == text.npos && text.find("Paging") == text.npos) continue;
        std::string path = each.at([&] {
            std::map<std::string, std::string> values;
            for (const Parameter& parameter : each.in_path) {
                const auto id = ids.find(parameter.name);
                EXPECT_NE(id, ids.end())
                    << each.name << ": say in `ids` what a " << parameter.name << " is";
                values[parameter.name] = id == ids.end() ? word(parameter) : id->second;
            }
            return values;
        }());
        path += (path.find('?') == path.npos ? "?" : "&") + std::string("page_size=100");
        const Cost cost = p.ask(p.workspace.client, "GET", path);
        EXPECT_EQ(cost.reply.status, 200) << each.name << " " << path << " " << cost.reply.body;
        expect_within(cost, each.name);
        ++asked;
    }
    EXPECT_GE(asked, 15);
    for (const char* query :
         {"&sort=priority", "&sort=due", "&sort=updated", "&sort=created", "&sort=position"}) {
        const std::string path = "/v1/cards?page_size=100&board_id=" + p.board + query;
        expect_within(p.ask(p.client, "GET", path), path);
    }
    expect_within(p.ask(p.client, "GET", "/v1/cards?page_size=100&column_id=" + p.heavy), "heavy");
    expect_within(
        p.ask(p.client, "POST", "/v1/search", R"({"query": "card", "page_size": 100})"), "search"
    );
}

TEST_P(Budgets, WhatShowsAWholeBoardKeepsToThem) {
    Place& p = place();
    const Cost snapshot = p.ask(p.client, "GET", p.at("/snapshot?page_size=100"));
    ASSERT_EQ(snapshot.reply.status, 200);
    expect_within(snapshot, "snapshot");
    const std::string url =
        expect(201, p.workspace.client.post(p.at("/share-links"), std::string_view("{}")))
            .text("/url");
    Client stranger = p.server.client();
    const Cost shared =
        p.ask(stranger, "GET", "/v1/shared/" + url.substr(url.rfind('/') + 1) + "?page_size=100");
    ASSERT_EQ(shared.reply.status, 200);
    expect_within(shared, "shared board");
    const Cost metrics = p.ask(p.client, "GET", p.at("/metrics?days=90"));
    ASSERT_EQ(metrics.reply.status, 200);
    expect_within(metrics, "metrics");
    expect_within(p.ask(p.client, "GET", "/v1/cards/" + p.card + "/context"), "context");
}

TEST_P(Budgets, WhatConcernsTenThousandCardsKeepsToThem) {
    Place& p = place();
    const std::string column = p.at("/columns/" + p.full);
    p.add(p.board, p.heavy, 200, 200'000, 32'000);  // as many as follow a definition at once
    const std::string notes = p.at("/properties/" + p.notes);
    changed("rename a label", "PATCH", p.at("/labels/" + p.label), R"({"name": "Other"})", 200);
    changed("rename a property", "PATCH", notes, R"({"name": "Remarks"})", 200);
    changed("delete a property", "DELETE", notes, "", 204);
    changed("queue on", "PATCH", column, R"({"queue": {"enabled": true}})", 200);
    changed("queue off", "PATCH", column, R"({"queue": {"enabled": false}})", 200);
    std::string batch = R"({"operations": [)";
    for (int i = 0; i < 100; ++i)
        batch += std::string(i > 0 ? "," : "") + R"({"create": {"board_id": ")" + p.board +
                 R"(", "column_id": ")" + p.other + R"(", "title": "Card"}})";
    changed("batch", "POST", "/v1/cards:batch", batch + "]}", 200);
    // Last, for its cards follow in the background.
    const Cost copy = p.ask(p.client, "POST", p.at(":duplicate"));
    EXPECT_EQ(copy.reply.status, 201) << copy.reply.body;
    expect_within(copy, "copy of a board");
}

TEST_P(Budgets, ColumnsWhoseCardsAreRewrittenKeepToThem) {
    Place& p = place();
    // One event for each, and for each that waits.
    const auto rewrite = [&](int cards, int waiting) {
        const Reply made =
            expect(201, p.workspace.client.post("/v1/boards", json::value{{"name", "Many"}}));
        const std::string board = made.text("/id"), column = made.text("/column_ids/0");
        const std::string other = made.text("/column_ids/1");
        p.add(board, column, cards, 1'000, 0);
        p.add(board, other, waiting, 10'000, 0);
        p.run(
            "INSERT INTO card_links (org_id, card_id, kind, target_id, id, created_by)"
            " SELECT a.org_id, a.id, 'blocks', b.id, gen_random_uuid(), a.created_by"
            " FROM cards a, LATERAL (SELECT id FROM cards WHERE org_id = a.org_id AND board_id = "
            "a.board_id"
            "  AND number = a.number + 9000 OFFSET 0) b WHERE a.column_id = '" +
            column + "'"
        );
        if (GetParam() == Statistics::fresh) p.run("ANALYZE cards, card_links");
        const std::string path = "/v1/boards/" + board + "/columns/" + column;
        const std::string what = "a column of " + std::to_string(cards);
        changed(what + " is done", "PATCH", path, R"({"kind": "done"})", 200);
        changed(what + " is open again", "PATCH", path, R"({"kind": "backlog"})", 200);
        changed(what + " is deleted", "DELETE", path + "?move_cards_to=" + other, "", 204);
    };
    rewrite(most_rewritten, 0);
    rewrite(most_rewritten / 2, most_rewritten / 2);
}

TEST_P(Budgets, ACardWithThousandsOfPartsAndLinksKeepsToThem) {
    Place& p = place();
    const Reply made =
        expect(201, p.workspace.client.post("/v1/boards", json::value{{"name", "Parts"}}));
    const std::string board = made.text("/id"), column = made.text("/column_ids/0");
    p.add(board, column, most_standing, 1'000, 0);
    p.run(
        "UPDATE cards SET parent_card_id = '" + p.card + "' WHERE column_id = '" + column +
        "'; INSERT INTO card_links (org_id, card_id, kind, target_id, id, created_by) SELECT"
        " org_id, id, k, '" +
        p.card +
        "', gen_random_uuid(), created_by FROM cards, unnest(ARRAY['relates', 'blocks']) k"
        " WHERE column_id = '" +
        column + "'"
    );
    if (GetParam() == Statistics::fresh) p.run("ANALYZE cards, card_links");
    for (const char* what : {"", "/context", "/versions", "/activity"}) {
        const Cost cost = p.ask(p.client, "GET", "/v1/cards/" + p.card + what);
        EXPECT_EQ(cost.reply.status, 200) << what;
        expect_within(cost, "parts and links: " + std::string(what));
    }
}

TEST_P(Budgets, CirclesThatMightBeLongKeepToThem) {
    Place& p = place();
    const Reply made =
        expect(201, p.workspace.client.post("/v1/boards", json::value{{"name", "Chain"}}));
    const std::string board = made.text("/id"), column = made.text("/column_ids/0");
    p.add(board, column, most_standing, 1, 0);
    p.run("UPDATE board_counters SET last_number = 300000 WHERE board_id = '" + board + "'");
    p.run(
        "INSERT INTO card_links (org_id, card_id, kind, target_id, id, created_by)"
        " SELECT a.org_id, a.id, 'blocks', b.id, gen_random_uuid(), a.created_by FROM cards a,"
        " LATERAL (SELECT id FROM cards WHERE org_id = a.org_id AND board_id = a.board_id AND"
        " number = a.number + 1 OFFSET 0) b WHERE a.column_id = '" +
        column + "'"
    );
    if (GetParam() == Statistics::fresh) p.run("ANALYZE cards, card_links");
    const auto numbered = [&](int number) {
        return p.run(
            "SELECT id FROM cards WHERE board_id = '" + board +
            "' AND number = " + std::to_string(number)
        );
    };
    const std::string first = numbered(1);
    std::string batch = R"({"operations": [)";
    for (int i = 1; i <= 100; ++i)
        batch += std::string(i > 1 ? "," : "") + R"({"update": {"card_id": ")" + numbered(i) +
                 R"(", "blocked_by": [")" + p.card + R"("]}})";
    p.settle();
    const Cost cost = p.ask(p.client, "POST", "/v1/cards:batch", batch + R"(], "atomic": false})");
    EXPECT_EQ(cost.reply.text("/failed_count"), "100");
    EXPECT_EQ(cost.reply.text("/results/0/error/additional_data/reason"), "too_many_links");
    expect_within(cost, "circles in a batch");
    changed(
        "a circle", "PATCH", "/v1/cards/" + first, R"({"blocked_by": [")" + p.card + R"("]})", 200
    );
}

}  // namespace svc::test
