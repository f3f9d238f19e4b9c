// What answers and requests cost at most: bytes of pages, time of what concerns many cards.

#include "tests/unit/boards/many.hpp"

#include <set>

namespace svc::test {

namespace {

constexpr std::size_t page_limit = (1 << 20) + (64 << 10);  // with what stands around the rows

std::size_t bytes_of(const Answer& said) { return boost::json::serialize(said.body).size(); }

}  // namespace

// --------------------------------------------------------------------------------------- pages

TEST(Bounds, APageOfLongCardsEndsAtOneMebibyteAndGoesOn) {
    Columns c;
    fill(c, c.backlog, 90, 30'000);
    std::set<std::string> seen;
    boost::json::object query{{"column_id", c.backlog.str()}, {"page_size", 100}};
    int pages = 0;
    for (;; ++pages) {
        ASSERT_LT(pages, 10);
        const Answer page = in_process().must(c.owner, "list_cards", query);
        EXPECT_LT(bytes_of(page), page_limit);
        for (const value& each : page.body.at("results").as_array())
            EXPECT_TRUE(seen.emplace(each.at("id").as_string()).second) << "twice";
        if (page.body.at("next_cursor").is_null()) break;
        query["start_cursor"] = page.body.at("next_cursor");
    }
    EXPECT_EQ(seen.size(), 90U);
    EXPECT_EQ(pages, 2) << "pages are filled";
}

TEST(Bounds, ARowThatIsLongerThanAPageComesAlone) {
    Columns c;
    fill(c, c.backlog, 3, 1'500'000);
    const Answer page = in_process().must(c.owner, "list_cards", {{"column_id", c.backlog.str()}});
    EXPECT_EQ(page.body.at("results").as_array().size(), 1U);
    EXPECT_FALSE(page.body.at("next_cursor").is_null());
}

TEST(Bounds, ASnapshotLeavesOutLongValuesAndSaysSo) {
    Columns c;
    fill(c, c.backlog, 1, 30'000);
    fill(c, c.done, 1, 1'000);
    const Answer said =
        in_process().must(c.owner, "get_board_snapshot", {{"board_id", c.board.str()}});
    const value& heavy = said.body.at_pointer("/columns/0/cards/0");
    EXPECT_TRUE(heavy.at("properties_omitted").as_bool());
    EXPECT_TRUE(heavy.at("properties").as_object().empty());
    const value& light = said.body.at_pointer("/columns/2/cards/0");
    EXPECT_FALSE(light.as_object().contains("properties_omitted"));
    EXPECT_TRUE(light.at("properties").as_object().contains("Notes"));
}

TEST(Bounds, ASnapshotOfManyCardsShowsSomeOfEachColumnAndAllByTheirCursors) {
    Columns c;
    for (const Uuid& each : {c.backlog, c.queue, c.done}) fill(c, each, 150, 3'800);
    std::set<std::string> seen;
    const auto take = [&](const value& column) {
        for (const value& each : column.at("cards").as_array())
            EXPECT_TRUE(seen.emplace(each.at("id").as_string()).second) << "twice";
    };
    boost::json::object query{{"board_id", c.board.str()}, {"page_size", 100}};
    const Answer all = in_process().must(c.owner, "get_board_snapshot", query);
    EXPECT_LT(bytes_of(all), page_limit);
    EXPECT_GT(bytes_of(all), page_limit / 2);
    for (const value& first : all.body.at("columns").as_array()) {
        EXPECT_GT(first.at("cards").as_array().size(), 30U);
        take(first);
        for (value column = first; !column.at("next_cursor").is_null();) {
            query["start_cursor"] = column.at("next_cursor");
            const Answer more = in_process().must(c.owner, "get_board_snapshot", query);
            column = more.body.at_pointer("/columns/0");
            take(column);
            ASSERT_LE(seen.size(), 450U);
        }
    }
    EXPECT_EQ(seen.size(), 450U);
}

// ------------------------------------------------------------------------------------- metrics

TEST(Bounds, MetricsOfTenTimesTheCardsTakeAboutTenTimesTheTime) {
    const auto measured = [](int count) {
        Columns c;
        fill(c, c.backlog, count, 0);
        in_process().run(
            "INSERT INTO event_log (org_id, entry_id, kind, outcome, action, object, object_id,"
            " version, board_id, column_id, card_id, changes, previous, depth, occurred_at)"
            " SELECT c.org_id, gen_random_uuid(), 'card.created', 'success', 'create_card', 'card',"
            " c.id, c.number, c.board_id, c.column_id, c.id, '{\"title\":\"' || repeat('x', 800) ||"
            " '\"}', '{}', 0, '2026-01-01' FROM cards c WHERE c.board_id = "
            "'" +
            c.board.str() + "'"
        );
        in_process().run(
            "INSERT INTO event_chain (org_id, audit_sequence, log_id, sequence, position, board_id,"
            " board_sequence, hash) SELECT l.org_id, l.version, l.id, l.version,"
            " (SELECT coalesce(max(position), 0) FROM event_chain) + l.version, l.board_id,"
            " l.version, '' FROM event_log l WHERE l.kind = 'card.created' AND l.board_id = '" +
            c.board.str() + "'"
        );
        in_process().run(
            "INSERT INTO event_heads (org_id, sequence, audit_sequence, audit_hash) VALUES ('" +
            c.owner.org_id->str() + "', 0, 0, '') ON CONFLICT (org_id) DO NOTHING"
        );
        in_process().run(
            "INSERT INTO event_board_heads (org_id, board_id, board_sequence) VALUES ('" +
            c.owner.org_id->str() + "', '" + c.board.str() + "', " + std::to_string(count) + ")"
        );
        std::int64_t best = 1'000'000;
        for (int i = 0; i < 4; ++i)
            best = std::min(best, milliseconds([&] {
                                const Answer said = in_process().must(
                                    c.owner, "get_board_metrics", {{"board_id", c.board.str()}}
                                );
                                EXPECT_EQ(said.number("/columns/0/card_count"), count);
                                EXPECT_EQ(said.number("/columns/0/age/count"), count);
                            }));
        return best;
    };
    const auto one = measured(1'000), ten = measured(10'000);
    in_process().run("ANALYZE cards");
    in_process().run("ANALYZE event_log, event_chain");
    const auto analyzed = measured(10'000);
    RecordProperty("milliseconds_of_10000", static_cast<int>(ten));
    EXPECT_LE(ten, 12 * one + 100) << one;
    EXPECT_LE(analyzed, 12 * one + 100) << one;
}

// -------------------------------------------------------------------------------- whole columns

TEST(Bounds, AQueueOfTenThousandCardsIsSwitchedOnAndOff) {
    Columns c;
    fill(c, c.backlog, 10'000, 0);
    c.change(c.backlog, {{"queue", {{"enabled", true}}}});
    EXPECT_EQ(
        in_process().run(
            "SELECT count(*) FROM queue WHERE state = 'ready' AND column_id = '" + c.backlog.str() +
            "'"
        ),
        "10000"
    );
    c.change(c.backlog, {{"queue", {{"enabled", false}}}});
    EXPECT_EQ(
        in_process().run(
            "SELECT count(*) FROM queue WHERE state = 'idle' AND column_id = '" + c.backlog.str() +
            "'"
        ),
        "10000"
    );
}

TEST(Bounds, AColumnOfManyCardsIsEmptiedIntoAnotherAndEachIsTold) {
    Columns c;
    fill(c, c.backlog, 2'500, 0);
    in_process().forget_events();
    const auto taken = milliseconds([&] {
        in_process().must(
            c.owner,
            "delete_column",
            {{"board_id", c.board.str()},
             {"column_id", c.backlog.str()},
             {"move_cards_to", c.queue.str()}}
        );
    });
    RecordProperty("milliseconds", static_cast<int>(taken));
    EXPECT_EQ(in_process().run("SELECT count(*) FROM event_log WHERE kind = 'card.moved'"), "2500");
    EXPECT_EQ(c.read(c.queue).number("/card_count"), 2'500);
    in_process().forget_events();
}

TEST(Bounds, AColumnOfMoreCardsIsRefusedWithoutALockOnAllOfThem) {
    Columns c;
    fill(c, c.backlog, 10'001, 0);
    const Answer refused = in_process().ask(
        c.owner,
        "update_column",
        {{"board_id", c.board.str()},
         {"column_id", c.backlog.str()},
         {"queue", {{"enabled", true}}}}
    );
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/additional_data/reason"), "too_many_cards");
}

/// The cards that wait count as well: events are emitted for them.
TEST(Bounds, NoMoreCardsAreSetFreeByOneRequestThanItsTimeAllows) {
    Columns c;
    fill(c, c.backlog, 1'250, 0);
    fill(c, c.queue, 1'251, 0);
    const auto wait = [&](int each) {
        in_process().run(
            "INSERT INTO card_links (org_id, card_id, kind, target_id, id, created_by)"
            " SELECT a.org_id, a.id, 'blocks', b.id, gen_random_uuid(), a.created_by FROM"
            " (SELECT *, row_number() OVER (ORDER BY number) AS n FROM cards WHERE column_id = '" +
            c.backlog.str() +
            "') a JOIN (SELECT *, row_number() OVER (ORDER BY number) AS n FROM cards"
            " WHERE column_id = '" +
            c.queue.str() + "') b ON (a.n + " + std::to_string(each) + ") % 1250 = b.n % 1250"
        );
    };
    wait(0);
    const json::object done{
        {"board_id", c.board.str()}, {"column_id", c.backlog.str()}, {"kind", "done"}};
    const Answer refused = in_process().ask(c.owner, "update_column", done);
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/additional_data/reason"), "too_many_cards");
    in_process().run(
        "DELETE FROM card_links WHERE target_id = (SELECT max(target_id::text)::uuid FROM "
        "card_links)"
    );
    json::object open = done;
    open["kind"] = "backlog";
    EXPECT_EQ(in_process().ask(c.owner, "update_column", done).status, 200);
    EXPECT_EQ(
        in_process().run("SELECT count(*) FROM event_log WHERE kind = 'card.unblocked'"), "1250"
    );
    EXPECT_EQ(in_process().ask(c.owner, "update_column", open).status, 200);
    for (int each = 1; each < 9; ++each) wait(each);
    EXPECT_EQ(in_process().ask(c.owner, "update_column", done).status, 409)
        << "beyond 10,000 links";
    in_process().forget_events();
}

TEST(Bounds, MoreCardsAreNotRewrittenByOneRequestThanItsTimeAllows) {
    Columns c;
    fill(c, c.backlog, 2'501, 0);
    const std::string column = c.backlog.str(), board = c.board.str();
    const auto refused = [&](const std::string& operation, const json::object& more) {
        json::object in{{"board_id", board}, {"column_id", column}};
        for (const auto& each : more) in.insert(each);
        const Answer said = in_process().ask(c.owner, operation, in);
        EXPECT_EQ(said.status, 409) << operation;
        EXPECT_EQ(said.text("/additional_data/reason"), "too_many_cards");
    };
    refused("update_column", {{"kind", "done"}});
    refused("delete_column", {{"move_cards_to", c.queue.str()}});
    in_process().run(
        "UPDATE cards SET is_archived = true WHERE column_id = '" + column + "' AND number % 2 = 0"
    );
    refused("delete_column", {{"move_cards_to", c.queue.str()}});
    EXPECT_EQ(c.read(c.backlog).text("/kind"), "backlog");
}

TEST(Bounds, ArchivedCardsOfADeletedColumnAreToldOfTheirNewOne) {
    Columns c;
    const Answer card = c.card(c.backlog);
    in_process().must(c.owner, "archive_card", {{"card_id", card.text("/id")}});
    in_process().forget_events();
    in_process().must(
        c.owner, "delete_column", {{"board_id", c.board.str()}, {"column_id", c.backlog.str()}}
    );
    EXPECT_THAT(in_process().emitted(), testing::Contains("card.moved"));
    const Answer after = c.get(card.id());
    EXPECT_EQ(
        in_process().run("SELECT version FROM event_log WHERE kind = 'card.moved'"),
        std::to_string(after.number("/version"))
    );
    EXPECT_EQ(
        in_process().run("SELECT column_id FROM event_log WHERE kind = 'card.moved'"),
        after.text("/column_id")
    );
}

}  // namespace svc::test
