// Finding cards, and not finding what is hidden, on the real modules and database.

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

#include <random>

namespace svc::test {

using testing::ElementsAre;

namespace {

/// The results of all pages, by this member, each page asked for with the cursor of the last.
std::vector<std::string> all_pages(
    const Caller& caller, boost::json::object query, const char* member = "title"
) {
    std::vector<std::string> found;
    for (;;) {
        const Answer page = in_process().must(caller, "list_cards", query);
        for (const value& each : page.body.at("results").as_array())
            found.emplace_back(each.at(member).as_string());
        if (page.body.at("next_cursor").is_null()) return found;
        query["start_cursor"] = page.body.at("next_cursor");
    }
}

}  // namespace

// ----------------------------------------------------------------------------------- finding

TEST(Finding, EveryFilterNarrows) {
    BoardFixture fixture;
    const Caller helper = in_process().person(fixture.owner, OrgRole::member, "Hal");
    fixture.card(fixture.backlog, {{"title", "plain"}});
    fixture.card(
        fixture.queue,
        {{"title", "Find ÄRGER here"},
         {"labels", {"Größe"}},
         {"assignees", {helper.id.str()}},
         {"priority", "high"},
         {"due", "2026-06-19"},
         {"external_key", "k1"}}
    );
    const auto found = [&](boost::json::object query) {
        if (!query.contains("column_id")) query["board_id"] = fixture.board.str();
        return all_pages(fixture.owner, query);
    };
    const auto hit = ElementsAre("Find ÄRGER here");
    EXPECT_EQ(found({}).size(), 2U);
    EXPECT_THAT(found({{"column_id", fixture.queue.str()}}), hit);
    EXPECT_THAT(found({{"assignee_id", helper.id.str()}}), hit);
    EXPECT_THAT(found({{"label", "größe"}}), hit);
    EXPECT_THAT(found({{"priority", "high"}}), hit);
    EXPECT_THAT(found({{"due_before", "2026-06-20"}}), hit);
    EXPECT_THAT(found({{"due_before", "2026-06-19T00:00:01Z"}}), hit);
    EXPECT_TRUE(found({{"due_before", "2026-06-19"}}).empty());
    EXPECT_TRUE(found({{"due_before", "2026-06-19T00:00:00Z"}}).empty());
    EXPECT_THAT(found({{"external_key", "k1"}}), hit);
    EXPECT_THAT(found({{"text", "ärger"}}), hit);
    EXPECT_TRUE(found({{"text", "100%_"}}).empty());
    EXPECT_TRUE(found({{"updated_since", "2999-01-01T00:00:00Z"}}).empty());
    EXPECT_TRUE(found({{"label", "größe"}, {"priority", "low"}}).empty());
}

TEST(Finding, EverySortPagesWithoutLossOrRepeat) {
    BoardFixture fixture;
    std::mt19937 random(11);
    constexpr const char* priorities[] = {"none", "low", "medium", "high", "urgent"};
    std::set<std::string> all;
    for (int i = 0; i < 23; ++i) {
        boost::json::object what{
            {"title", "card " + std::to_string(i)}, {"priority", priorities[random() % 5]}};
        if (random() % 2) what["due"] = "2026-06-" + std::to_string(10 + random() % 4);
        if (random() % 2) what["assignees"] = {fixture.owner.id.str()};
        fixture.card(random() % 2 ? fixture.backlog : fixture.queue, what);
        all.insert("card " + std::to_string(i));
    }
    for (const char* sort : {"created", "position", "updated", "due", "priority"}) {
        const auto small = all_pages(
            fixture.owner, {{"board_id", fixture.board.str()}, {"sort", sort}, {"page_size", 4}}
        );
        EXPECT_EQ(small.size(), all.size()) << sort;
        EXPECT_EQ(std::set(small.begin(), small.end()), all) << sort;
        EXPECT_EQ(
            small,
            all_pages(
                fixture.owner,
                {{"board_id", fixture.board.str()}, {"sort", sort}, {"page_size", 100}}
            )
        ) << sort;
    }
    const boost::json::object mine{{"assignee_id", fixture.owner.id.str()}, {"page_size", 3}};
    const auto assigned = all_pages(fixture.owner, mine);
    EXPECT_EQ(
        std::to_string(assigned.size()),
        in_process().run(
            "SELECT count(*) FROM card_assignees WHERE principal_id = '" + fixture.owner.id.str() +
            "'"
        )
    );
    const auto workspace = all_pages(fixture.owner, {{"page_size", 7}});
    EXPECT_EQ(workspace.size(), all.size());
}

TEST(Finding, SortsAreWhatTheySay) {
    BoardFixture fixture;
    fixture.card(fixture.backlog, {{"title", "a"}, {"priority", "low"}, {"due", "2026-06-20"}});
    fixture.card(fixture.backlog, {{"title", "b"}, {"priority", "urgent"}});
    const std::string c =
        fixture.card(fixture.backlog, {{"title", "c"}, {"due", "2026-06-19"}}).text("/id");
    in_process().must(
        fixture.owner,
        "move_card",
        {{"card_id", c},
         {"column_id", fixture.backlog.str()},
         {"before_id",
          fixture.get(*Uuid::parse(all_pages(fixture.owner, {{"text", "a"}}, "id")[0]))
              .text("/id")}}
    );
    const auto by = [&](const char* sort) {
        return all_pages(fixture.owner, {{"board_id", fixture.board.str()}, {"sort", sort}});
    };
    EXPECT_THAT(by("created"), ElementsAre("c", "b", "a"));
    EXPECT_THAT(by("position"), ElementsAre("c", "a", "b"));
    EXPECT_THAT(by("updated"), ElementsAre("c", "b", "a"));
    EXPECT_THAT(by("due"), ElementsAre("c", "a", "b"));
    EXPECT_THAT(by("priority"), ElementsAre("b", "a", "c"));
}

TEST(Finding, PagesAreStableUnderInserts) {
    BoardFixture fixture;
    for (int i = 0; i < 6; ++i) fixture.card(fixture.backlog, {{"title", std::to_string(i)}});
    boost::json::object query{{"column_id", fixture.backlog.str()}, {"page_size", 2}};
    std::string seen;
    for (;;) {
        const Answer page = in_process().must(fixture.owner, "list_cards", query);
        for (const value& each : page.body.at("results").as_array())
            seen += std::string(each.at("title").as_string());
        // On top of the column, where the reader has been already.
        const std::string first =
            all_pages(fixture.owner, {{"column_id", fixture.backlog.str()}}, "id")[0];
        fixture.card(fixture.backlog, {{"title", "new"}, {"before_id", first}});
        if (page.body.at("next_cursor").is_null()) break;
        query["start_cursor"] = page.body.at("next_cursor");
    }
    EXPECT_EQ(seen, "012345");
}

TEST(Finding, HiddenBoardsStayHidden) {
    BoardFixture fixture;
    fixture.card(fixture.backlog);
    const Answer board = in_process().must(
        fixture.owner, "create_board", {{"name", "Secret"}, {"visibility", "private"}}
    );
    in_process().must(
        fixture.owner,
        "create_card",
        {{"board_id", board.text("/id")},
         {"column_id", board.text("/column_ids/0")},
         {"title", "s"}}
    );
    const Caller member = in_process().person(fixture.owner, OrgRole::member, "Me");
    EXPECT_EQ(all_pages(fixture.owner, {}).size(), 2U);
    EXPECT_EQ(all_pages(member, {}).size(), 1U);
    EXPECT_TRUE(all_pages(member, {{"board_id", board.text("/id")}}).empty());
    EXPECT_TRUE(all_pages(in_process().owner_of_new_org("Other"), {}).empty());
}

TEST(RowLevelSecurity, HidesOneWorkspaceFromAnotherWhateverTheStatement) {
    BoardFixture fixture;
    fixture.card(fixture.queue, {{"labels", {"x"}}, {"assignees", {fixture.owner.id.str()}}});
    fixture.claim();
    const Caller stranger = in_process().owner_of_new_org("Other");
    static constexpr Sql tables[] = {
        {"test.boards", "SELECT count(*) AS count FROM boards"},
        {"test.counters", "SELECT count(*) AS count FROM board_counters"},
        {"test.columns", "SELECT count(*) AS count FROM columns"},
        {"test.labels", "SELECT count(*) AS count FROM labels"},
        {"test.cards", "SELECT count(*) AS count FROM cards"},
        {"test.assignees", "SELECT count(*) AS count FROM card_assignees"},
        {"test.queue", "SELECT count(*) AS count FROM queue"},
        {"test.card_view", "SELECT count(*) AS count FROM card_view"},
        {"test.board_view", "SELECT count(*) AS count FROM board_view"},
        {"test.column_view", "SELECT count(*) AS count FROM column_view"},
    };
    for (const Sql& table : tables)
        for (const Caller* who : std::initializer_list<const Caller*>{&fixture.owner, &stranger})
            in_process().kernel().transact(Tx::Mode::read, [&](Tx& tx) {
                tx.set_scope(who->org_id, who->user_id);
                Result rows = tx.queue(table);
                const bool any = rows.at(0, 0).text() != "0";
                EXPECT_EQ(any, who == &fixture.owner) << table.name;
            });
}

// ---------------------------------------------------------------------------------- the trash

TEST(Trash, IsListedForThoseWhoMayRestoreWhatIsInIt) {
    BoardFixture fixture;
    const Caller viewer = in_process().person(fixture.owner, OrgRole::viewer, "Vi");
    const Caller member = in_process().person(fixture.owner, OrgRole::member, "Mia");
    std::vector<std::string> gone;
    for (const char* title : {"first", "second", "third"}) {
        const Answer card = fixture.card(fixture.backlog, {{"title", title}});
        in_process().must(fixture.owner, "delete_card", {{"card_id", card.text("/id")}});
    }
    fixture.card(fixture.backlog, {{"title", "stays"}});
    const auto listed = [&](const Caller& by) {
        return all_pages(by, {{"in_trash", true}, {"page_size", 2}});
    };
    EXPECT_THAT(listed(fixture.owner), ElementsAre("third", "second", "first"));
    EXPECT_TRUE(listed(viewer).empty());
    EXPECT_EQ(listed(member).size(), listed(fixture.owner).size());
    EXPECT_THAT(
        all_pages(fixture.owner, {{"board_id", fixture.board.str()}}), ElementsAre("stays")
    );
    EXPECT_THAT(
        all_pages(fixture.owner, {{"in_trash", true}, {"text", "sec"}}), ElementsAre("second")
    );
    for (const char* other : {"archived", "sort"}) {
        boost::json::object query{{"in_trash", true}};
        if (other == std::string("sort")) query["sort"] = "due";
        else query["archived"] = true;
        EXPECT_EQ(in_process().ask(fixture.owner, "list_cards", query).status, 422) << other;
    }
}

TEST(Trash, ListsBoardsAndWhatIsOnThemAnswersAlike) {
    BoardFixture fixture;
    const Caller member = in_process().person(fixture.owner, OrgRole::member, "Mia");
    const std::string card = fixture.card(fixture.backlog).text("/id");
    const auto boards = [&](const Caller& by, bool in_trash) {
        return in_process()
            .must(by, "list_boards", {{"in_trash", in_trash}})
            .body.at("results")
            .as_array()
            .size();
    };
    EXPECT_EQ(boards(fixture.owner, true), 0U);
    in_process().must(fixture.owner, "delete_board", {{"board_id", fixture.board.str()}});
    EXPECT_EQ(boards(fixture.owner, true), 1U);
    EXPECT_EQ(boards(fixture.owner, false), 0U);
    EXPECT_EQ(boards(member, true), 0U);
    for (const char* read :
         {"get_card", "list_card_activity", "list_card_versions", "get_card_context"})
        EXPECT_EQ(in_process().ask(fixture.owner, read, {{"card_id", card}}).status, 200) << read;
    for (const char* read : {"get_board", "get_board_snapshot", "list_board_activity"})
        EXPECT_EQ(
            in_process().ask(fixture.owner, read, {{"board_id", fixture.board.str()}}).status, 200
        ) << read;
    for (const char* write : {"archive_card", "restore_card", "delete_card"})
        EXPECT_EQ(in_process().ask(fixture.owner, write, {{"card_id", card}}).status, 404) << write;
    EXPECT_TRUE(all_pages(fixture.owner, {{"in_trash", true}}).empty());
    in_process().must(fixture.owner, "restore_board", {{"board_id", fixture.board.str()}});
    EXPECT_EQ(boards(fixture.owner, false), 1U);
}

// ------------------------------------------------------------------------------------- keys

TEST(Keys, NameACardWhereverBoardsTakeItsId) {
    BoardFixture fixture;
    const Answer first = fixture.card(fixture.backlog, {{"title", "first"}});
    const std::string key = first.text("/key"), id = first.text("/id");
    in_process().must(
        fixture.owner,
        "create_property",
        {{"board_id", fixture.board.str()}, {"name", "See"}, {"type", "relation"}}
    );
    const Answer made = fixture.card(
        fixture.backlog,
        {{"title", "second"},
         {"parent_card_id", key},
         {"blocked_by", {key}},
         {"before_id", key},
         {"properties", {{"See", {key}}}}}
    );
    EXPECT_EQ(made.text("/parent_card_id"), id);
    EXPECT_EQ(made.text("/blocked_by/0"), id);
    EXPECT_EQ(made.text("/properties/See/relation/0/id"), id);
    EXPECT_THAT(fixture.titles(fixture.backlog), ElementsAre("second", "first"));
    const std::string other = made.text("/key");
    in_process().must(
        fixture.owner,
        "move_card",
        {{"card_id", other}, {"column_id", fixture.backlog.str()}, {"after_id", key}}
    );
    EXPECT_THAT(fixture.titles(fixture.backlog), ElementsAre("first", "second"));
    const auto change = [&](boost::json::object what) {
        what["card_id"] = other;
        return in_process().ask(fixture.owner, "update_card", what);
    };
    EXPECT_EQ(
        change({{"parent_card_id", nullptr}, {"blocked_by", value(boost::json::array())}}).status,
        200
    );
    const std::string lower = "des-" + key.substr(4);
    const Answer again = change(
        {{"parent_card_id", lower},
         {"blocked_by", {key}},
         {"properties", {{"See", {{{"id", key}}}}}}}
    );
    EXPECT_EQ(again.status, 200) << boost::json::serialize(again.body);
    EXPECT_EQ(again.text("/parent_card_id"), id);
    EXPECT_EQ(change({{"blocked_by", {"DES-999"}}}).status, 422);
    EXPECT_EQ(change({{"parent_card_id", "NONE-1"}}).status, 422);
    EXPECT_EQ(change({{"properties", {{"See", {"DES-999"}}}}}).status, 422);
    const Answer batch = in_process().ask(
        fixture.owner,
        "batch_cards",
        {{"operations",
          {{{"update", {{"card_id", other}, {"blocked_by", {key}}, {"title", "by batch"}}}},
           {{"create",
             {{"board_id", fixture.board.str()},
              {"column_id", fixture.backlog.str()},
              {"title", "third"},
              {"parent_card_id", key}}}}}}}
    );
    EXPECT_EQ(batch.number("/succeeded_count"), 2) << boost::json::serialize(batch.body);
    const Answer link = in_process().must(
        fixture.owner, "create_share_link", {{"board_id", fixture.board.str()}, {"card_id", key}}
    );
    EXPECT_EQ(link.text("/card_id"), id);
    EXPECT_EQ(
        in_process()
            .ask(
                fixture.owner,
                "create_share_link",
                {{"board_id", fixture.board.str()}, {"card_id", "DES-999"}}
            )
            .status,
        422
    );
}

}  // namespace svc::test
