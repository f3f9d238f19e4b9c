// A whole board at once: snapshot, metrics, activity.

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

namespace svc::test {

using testing::ElementsAre;

namespace {

struct Overviews : BoardFixture {
    Answer ask(std::string_view operation, boost::json::object what = {}) {
        what["board_id"] = board.str();
        return in_process().ask(owner, operation, what);
    }
    /// An event of the board, as the sequencer would keep it, so many hours ago.
    void happened(
        const std::string& kind, const std::string& card, const value& data, double hours_ago
    ) {
        ++sequence_;
        const auto member = [&](std::string_view name) {
            const value* found = data.as_object().if_contains(name);
            return found ? found->is_string() ? std::string(found->as_string())
                                              : boost::json::serialize(*found)
                         : "";
        };
        const auto values = [&](std::string_view name) {
            const std::string text = member(name);
            return text.empty() ? "{}" : text;
        };
        in_process().run(
            "WITH said AS (INSERT INTO event_log (org_id, entry_id, kind, outcome, action, object,"
            " object_id, version, board_id, column_id, card_id, changes, previous, depth,"
            " actor_type, actor_id, actor_name, via, occurred_at) SELECT '" +
            owner.org_id->str() + "', '" + new_uuid().str() + "', '" + kind +
            "', 'success', 'x', 'card', '" + card + "', 1, '" + board.str() + "', nullif('" +
            member("column_id") + "', '')::uuid, '" + card + "', '" + values("changes") + "', '" +
            values("previous") + R"(', 0, 'user', ')" + owner.id.str() +
            R"(', 'Olga Owner', 'web', now() - interval '1 hour' * )" +
            std::to_string(hours_ago) +
            " RETURNING id, org_id, board_id) INSERT INTO event_chain (org_id, audit_sequence,"
            " log_id, sequence, position, board_id, board_sequence, hash) SELECT org_id, " +
            std::to_string(sequence_) + ", id, " + std::to_string(sequence_) + ", " +
            std::to_string(++position) + ", board_id, " + std::to_string(sequence_) +
            ", '' FROM said"
        );
        in_process().run(
            "INSERT INTO event_heads (org_id, sequence, audit_sequence, audit_hash) VALUES ('" +
            owner.org_id->str() + "', 0, 0, '') ON CONFLICT (org_id) DO NOTHING"
        );
        in_process().run(
            "INSERT INTO event_board_heads (org_id, board_id, board_sequence) VALUES ('" +
            owner.org_id->str() + "', '" + board.str() + "', " + std::to_string(sequence_) +
            ") ON CONFLICT (org_id, board_id) DO UPDATE SET board_sequence = "
            "excluded.board_sequence"
        );
    }
    int sequence_ = 0;
    static inline int position = 1'000'000;
};

std::vector<std::string> titles_of(const value& column) {
    std::vector<std::string> titles;
    for (const value& each : column.at("cards").as_array())
        titles.emplace_back(each.at("title").as_string());
    return titles;
}

}  // namespace

TEST(Snapshots, ShowEveryColumnWithItsTrueCountAndFirstCards) {
    Overviews o;
    for (const char* title : {"a", "b", "c", "d", "e"}) o.card(o.backlog, {{"title", title}});
    o.card(o.done, {{"title", "z"}});
    const Answer all = o.ask("get_board_snapshot", {{"page_size", 2}});
    ASSERT_EQ(all.status, 200) << boost::json::serialize(all.body);
    EXPECT_EQ(all.body.at("board"), o.ask("get_board").body);
    const auto& columns = all.body.at("columns").as_array();
    ASSERT_EQ(columns.size(), 3U);
    EXPECT_EQ(columns[0].at("card_count"), 5);
    EXPECT_THAT(titles_of(columns[0]), ElementsAre("a", "b"));
    EXPECT_TRUE(columns[1].at("next_cursor").is_null());
    EXPECT_THAT(titles_of(columns[2]), ElementsAre("z"));
    EXPECT_TRUE(columns[2].at("next_cursor").is_null());
    const std::string id(columns[0].at_pointer("/cards/0/id").as_string());
    EXPECT_EQ(columns[0].at_pointer("/cards/0"), o.get(*Uuid::parse(id)).body);
    const value column =
        in_process()
            .must(
                o.owner, "get_column", {{"board_id", o.board.str()}, {"column_id", o.backlog.str()}}
            )
            .body;
    for (const auto& [name, each] : column.as_object()) EXPECT_EQ(columns[0].at(name), each);
}

TEST(Snapshots, GoOnColumnByColumn) {
    Overviews o;
    for (const char* title : {"a", "b", "c", "d", "e"}) o.card(o.backlog, {{"title", title}});
    for (const char* title : {"x", "y", "z"}) o.card(o.done, {{"title", title}});
    value from = o.ask("get_board_snapshot", {{"page_size", 2}}).body.at_pointer("/columns/0");
    std::vector<std::string> rest;
    while (!from.at("next_cursor").is_null()) {
        const Answer more = o.ask(
            "get_board_snapshot", {{"page_size", 2}, {"start_cursor", from.at("next_cursor")}}
        );
        ASSERT_EQ(more.body.at("columns").as_array().size(), 1U);
        from = more.body.at_pointer("/columns/0");
        EXPECT_EQ(from.at("card_count"), 5);
        for (const std::string& title : titles_of(from)) rest.push_back(title);
    }
    EXPECT_THAT(rest, ElementsAre("c", "d", "e"));
    const Answer forged =
        o.ask("get_board_snapshot", {{"start_cursor", "AAAAAAAAAAAAAAAAAAAAAAAAAA"}});
    EXPECT_EQ(forged.status, 422);
}

TEST(Snapshots, AreForThoseWhoSeeTheBoard) {
    Overviews o;
    o.ask("update_board", {{"visibility", "private"}});
    const Caller member = in_process().person(o.owner, OrgRole::member, "Me");
    for (const char* operation : {"get_board_snapshot", "get_board_metrics", "list_board_activity"})
        EXPECT_EQ(in_process().ask(member, operation, {{"board_id", o.board.str()}}).status, 404);
}

TEST(Metrics, CountWhatWasToldOfTheCards) {
    Overviews o;
    const std::string slow = o.card(o.done).text("/id"), quick = o.card(o.done).text("/id");
    const std::string old = o.card(o.queue).text("/id");
    in_process().run(
        "UPDATE cards SET created_time = now() - interval '100 hours' WHERE board_id = '" +
        o.board.str() + "'"
    );
    const auto moved = [](const Uuid& to, const Uuid& from) {
        return value{
            {"column_id", to.str()},
            {"changes", {{"column_id", to.str()}}},
            {"previous", {{"column_id", from.str()}}}};
    };
    const auto done = [&](const Uuid& from) {
        value data = moved(o.done, from);
        data.at("changes").as_object()["completed_at"] = "2026-01-01T00:00:00.000Z";
        return data;
    };
    for (const std::string& card : {slow, quick, old})
        o.happened(
            "card.created",
            card,
            {{"column_id", o.backlog.str()}, {"changes", {{"completed_at", nullptr}}}},
            100
        );
    o.happened("card.moved", slow, moved(o.queue, o.backlog), 50);
    o.happened("card.moved", quick, moved(o.queue, o.backlog), 20);
    // Up and down within a column is no step.
    o.happened(
        "card.moved", slow, {{"column_id", o.queue.str()}, {"changes", {{"position", 1}}}}, 15
    );
    o.happened("card.moved", quick, done(o.queue), 10);
    o.happened("card.moved", slow, done(o.queue), 10);
    o.happened("card.moved", old, moved(o.queue, o.backlog), 30);

    const Answer said = o.ask("get_board_metrics", {{"days", 3}});
    ASSERT_EQ(said.status, 200) << boost::json::serialize(said.body);
    const auto hours = [&](const std::string& pointer) {
        return static_cast<int>((said.number(pointer) + 1800) / 3600);
    };
    EXPECT_EQ(said.number("/cycle_time/count"), 2);
    EXPECT_EQ(hours("/cycle_time/median_seconds"), 10);
    EXPECT_EQ(hours("/cycle_time/longest_seconds"), 40);
    EXPECT_EQ(hours("/lead_time/median_seconds"), 90);
    EXPECT_EQ(said.number("/columns/1/card_count"), 1);
    EXPECT_EQ(said.number("/columns/1/entered_count"), 3);
    EXPECT_EQ(said.number("/columns/1/left_count"), 2);
    EXPECT_EQ(hours("/columns/1/stay/longest_seconds"), 40);
    EXPECT_EQ(hours("/columns/1/age/median_seconds"), 30);
    EXPECT_EQ(said.number("/columns/0/left_count"), 3);
    EXPECT_TRUE(said.body.at_pointer("/columns/0/age/median_seconds").is_null());
    const auto& days = said.body.at("throughput").as_array();
    ASSERT_EQ(days.size(), 3U);
    std::int64_t completed = 0, created = 0;
    for (const value& day : days) {
        completed += day.at("completed_count").as_int64();
        created += day.at("created_count").as_int64();
    }
    EXPECT_EQ(completed, 2);
    EXPECT_EQ(created, 0);
    EXPECT_EQ(o.ask("get_board_metrics", {{"days", 91}}).status, 422);
}

TEST(Metrics, OfABoardWhereNothingHappenedAreEmpty) {
    Overviews o;
    o.card(o.backlog);
    const Answer said = o.ask("get_board_metrics");
    ASSERT_EQ(said.status, 200) << boost::json::serialize(said.body);
    EXPECT_TRUE(said.body.at("known_since").is_null());
    EXPECT_EQ(said.number("/cycle_time/count"), 0);
    EXPECT_EQ(said.number("/columns/0/card_count"), 1);
    EXPECT_EQ(said.body.at("throughput").as_array().size(), 30U);
}

TEST(Activity, ListsWhatHappenedNewestFirst) {
    Overviews o;
    for (const char* kind : {"card.created", "grant.created", "card.moved", "column.updated"}) {
        o.happened(kind, new_uuid().str(), {{"changes", {{"a", 2}}}, {"previous", {{"a", 1}}}}, 1);
    }
    const auto kinds = [&](const Caller& who) {
        std::vector<std::string> found;
        boost::json::object query{{"board_id", o.board.str()}, {"page_size", 2}};
        for (;;) {
            const Answer page = in_process().must(who, "list_board_activity", query);
            for (const value& each : page.body.at("results").as_array())
                found.emplace_back(each.at("kind").as_string());
            if (page.body.at("next_cursor").is_null()) return found;
            query["start_cursor"] = page.body.at("next_cursor");
        }
    };
    EXPECT_THAT(
        kinds(o.owner), ElementsAre("column.updated", "card.moved", "grant.created", "card.created")
    );
    const Caller viewer = in_process().person(o.owner, OrgRole::viewer, "Vi");
    EXPECT_THAT(kinds(viewer), ElementsAre("column.updated", "card.moved", "card.created"));
    const Answer page = o.ask("list_board_activity");
    EXPECT_EQ(page.body.at_pointer("/results/0/changes"), value({{"a", 2}}));
    EXPECT_EQ(page.body.at_pointer("/results/0/previous"), value({{"a", 1}}));
    EXPECT_EQ(page.text("/results/0/actor/name"), "Olga Owner");
}

}  // namespace svc::test
