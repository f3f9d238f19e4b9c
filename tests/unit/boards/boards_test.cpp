// Boards, columns and labels, on the real modules and database.

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

namespace svc::test {

using testing::ElementsAre;
using testing::IsSupersetOf;

TEST(Boards, ANewBoardHasTheUsualColumnsAndAKeyFromItsName) {
    const Caller owner = in_process().owner_of_new_org();
    const Answer board = in_process().must(owner, "create_board", {{"name", "Product Design"}});
    EXPECT_EQ(board.status, 201);
    EXPECT_EQ(board.text("/object"), "board");
    EXPECT_EQ(board.text("/key"), "PD");
    EXPECT_EQ(board.text("/role"), "admin");
    EXPECT_EQ(board.text("/url"), "https://board.example/boards/" + board.text("/id"));
    const Answer columns =
        in_process().must(owner, "list_columns", {{"board_id", board.text("/id")}});
    const auto& list = columns.body.at("results").as_array();
    ASSERT_EQ(list.size(), 3U);
    for (std::size_t i = 0; i < list.size(); ++i) {
        EXPECT_EQ(list[i].at("position").as_int64(), static_cast<std::int64_t>(i));
        EXPECT_EQ(board.body.at("column_ids").as_array().at(i), list[i].at("id"));
    }
    EXPECT_EQ(list[2].at("kind").as_string(), "done");
}

TEST(Boards, CreatingAnswersWhatReadingGives) {
    const Caller owner = in_process().owner_of_new_org();
    const Answer made = in_process().must(
        owner,
        "create_board",
        {{"name", "One"}, {"description", "About it"}, {"visibility", "private"}}
    );
    const Answer read = in_process().must(owner, "get_board", {{"board_id", made.text("/id")}});
    EXPECT_EQ(made.body, read.body);
}

TEST(Boards, DerivedKeysAreUniqueEvenWhenMadeAtOnce) {
    const Caller owner = in_process().owner_of_new_org();
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            for (int j = 0; j < 3; ++j) in_process().must(owner, "create_board", {{"name", "Ops"}});
        });
    for (auto& thread : threads) thread.join();
    const Answer page = in_process().must(owner, "list_boards", {{"page_size", 100}});
    std::set<std::string> keys;
    for (const value& each : page.body.at("results").as_array())
        keys.emplace(each.at("key").as_string());
    EXPECT_EQ(keys.size(), 24U);
    EXPECT_TRUE(keys.contains("OPS") && keys.contains("OPS2") && keys.contains("OPS24"));
}

TEST(Boards, AKeyThatIsTakenIsRefusedByName) {
    const Caller owner = in_process().owner_of_new_org();
    in_process().must(owner, "create_board", {{"name", "A"}, {"key", "ENG"}});
    const Answer again = in_process().ask(owner, "create_board", {{"name", "B"}, {"key", "ENG"}});
    EXPECT_EQ(again.status, 409);
    EXPECT_EQ(again.text("/additional_data/reason"), "key_taken");
    const Caller other = in_process().owner_of_new_org();
    EXPECT_EQ(in_process().ask(other, "create_board", {{"name", "B"}, {"key", "ENG"}}).status, 201);
}

TEST(Boards, PagesGoByNameAndAreStableUnderInserts) {
    const Caller owner = in_process().owner_of_new_org();
    for (const char* name : {"d", "b", "f", "a", "e"})
        in_process().must(owner, "create_board", {{"name", name}});
    std::string names;
    value cursor = nullptr;
    do {
        boost::json::object query{{"page_size", 2}};
        if (!cursor.is_null()) query["start_cursor"] = cursor;
        const Answer page = in_process().must(owner, "list_boards", query);
        for (const value& each : page.body.at("results").as_array())
            names += std::string(each.at("name").as_string());
        cursor = page.body.at("next_cursor");
        // Behind the reader, and so never seen.
        in_process().must(owner, "create_board", {{"name", "0" + names}});
    } while (!cursor.is_null());
    EXPECT_EQ(names, "abdef");
}

TEST(Boards, MakingOneIsToldWithItsColumns) {
    const Caller owner = in_process().owner_of_new_org();
    in_process().forget_events();
    in_process().must(owner, "create_board", {{"name", "Told"}});
    EXPECT_THAT(
        in_process().emitted(),
        ElementsAre("board.created", "column.created", "column.created", "column.created")
    );
}

// ----------------------------------------------------------------------------- who may what

struct Rights {
    Caller owner = in_process().owner_of_new_org();
    Uuid open = board("org"), closed = board("private");

    Uuid board(const char* visibility) {
        return in_process()
            .must(owner, "create_board", {{"name", visibility}, {"visibility", visibility}})
            .id();
    }
    int reads(const Caller& who, const Uuid& board) {
        return in_process().ask(who, "get_board", {{"board_id", board.str()}}).status;
    }
    int writes(const Caller& who, const Uuid& board) {
        return in_process()
            .ask(who, "create_label", {{"board_id", board.str()}, {"name", new_uuid().str()}})
            .status;
    }
};

TEST(BoardRights, TheWorkspaceRoleDecidesOnOpenBoards) {
    Rights r;
    const Caller viewer = in_process().person(r.owner, OrgRole::viewer, "Vi");
    const Caller member = in_process().person(r.owner, OrgRole::member, "Me");
    EXPECT_EQ(r.reads(viewer, r.open), 200);
    EXPECT_EQ(r.writes(viewer, r.open), 403);
    EXPECT_EQ(r.writes(member, r.open), 201);
    EXPECT_EQ(
        in_process().must(member, "get_board", {{"board_id", r.open.str()}}).text("/role"), "editor"
    );
}

TEST(BoardRights, PrivateBoardsDoNotExistForOthers) {
    Rights r;
    const Caller member = in_process().person(r.owner, OrgRole::member, "Me");
    const Caller admin = in_process().person(r.owner, OrgRole::admin, "Ad");
    EXPECT_EQ(r.reads(member, r.closed), 404);
    EXPECT_EQ(r.writes(member, r.closed), 404);
    EXPECT_EQ(r.reads(admin, r.closed), 200);
    const Answer list = in_process().must(member, "list_boards", boost::json::object());
    EXPECT_EQ(list.body.at("results").as_array().size(), 1U);
}

TEST(BoardRights, TheMakerOfAPrivateBoardHasAllRights) {
    Rights r;
    const Caller member = in_process().person(r.owner, OrgRole::member, "Me");
    const Answer mine =
        in_process().must(member, "create_board", {{"name", "Mine"}, {"visibility", "private"}});
    EXPECT_EQ(
        in_process().must(member, "get_board", {{"board_id", mine.text("/id")}}).text("/role"),
        "admin"
    );
}

TEST(BoardRights, AGrantWidensAndNarrowsAPerson) {
    Rights r;
    const Caller viewer = in_process().person(r.owner, OrgRole::viewer, "Vi");
    const Caller member = in_process().person(r.owner, OrgRole::member, "Me");
    in_process().grant(r.closed, viewer, "editor");
    in_process().grant(r.open, member, "viewer");
    EXPECT_EQ(r.writes(viewer, r.closed), 201);
    EXPECT_EQ(r.reads(member, r.open), 200);
    EXPECT_EQ(r.writes(member, r.open), 403);
}

TEST(BoardRights, ATokenNeverGetsMoreThanItsRole) {
    Rights r;
    Caller token = in_process().person(r.owner, OrgRole::viewer, "Vi");
    in_process().grant(r.closed, token, "editor");
    token.token_id = new_uuid();
    EXPECT_EQ(r.reads(token, r.closed), 200);
    EXPECT_EQ(r.writes(token, r.closed), 403);
}

TEST(BoardRights, AnAgentWithGrantsSeesOnlyGrantedBoards) {
    Rights r;
    const Caller agent = in_process().agent(r.owner, OrgRole::member, "Bot");
    EXPECT_EQ(r.writes(agent, r.open), 201);
    in_process().grant(r.closed, agent, "editor");
    EXPECT_EQ(r.writes(agent, r.closed), 201);
    EXPECT_EQ(r.reads(agent, r.open), 404);
    const Answer list = in_process().must(agent, "list_boards", boost::json::object());
    EXPECT_EQ(list.body.at("results").as_array().size(), 1U);
}

TEST(BoardRights, AnAdminAgentWithAGrantHasJustThat) {
    Rights r;
    const Caller agent = in_process().agent(r.owner, OrgRole::admin, "Bot");
    in_process().grant(r.open, agent, "viewer");
    EXPECT_EQ(r.reads(agent, r.open), 200);
    EXPECT_EQ(r.writes(agent, r.open), 403);
    EXPECT_EQ(r.reads(agent, r.closed), 404);
}

TEST(BoardRights, ViewersMakeNoBoards) {
    Rights r;
    const Caller viewer = in_process().person(r.owner, OrgRole::viewer, "Vi");
    EXPECT_EQ(in_process().ask(viewer, "create_board", {{"name", "No"}}).status, 403);
}

TEST(BoardRights, AnotherWorkspaceSeesNothing) {
    Rights r;
    const Caller stranger = in_process().owner_of_new_org("Other");
    EXPECT_EQ(r.reads(stranger, r.open), 404);
    EXPECT_EQ(r.writes(stranger, r.open), 404);
    const Answer list = in_process().must(stranger, "list_boards", boost::json::object());
    EXPECT_TRUE(list.body.at("results").as_array().empty());
}

// ----------------------------------------------------------------------------------- columns

TEST(Columns, StandWhereTheyArePut) {
    BoardFixture fixture;
    const Uuid first = fixture.column({{"name", "First"}, {"before_id", fixture.backlog.str()}});
    const Uuid third = fixture.column({{"name", "Third"}, {"after_id", fixture.backlog.str()}});
    const Answer board =
        in_process().must(fixture.owner, "get_board", {{"board_id", fixture.board.str()}});
    std::vector<std::string> ids;
    for (const value& id : board.body.at("column_ids").as_array()) ids.emplace_back(id.as_string());
    EXPECT_THAT(
        ids,
        ElementsAre(
            first.str(), fixture.backlog.str(), third.str(), fixture.queue.str(), fixture.done.str()
        )
    );
    const Answer read = in_process().must(
        fixture.owner, "get_column", {{"board_id", fixture.board.str()}, {"column_id", third.str()}}
    );
    EXPECT_EQ(read.number("/position"), 2);
}

TEST(Columns, CreatingAnswersWhatReadingGives) {
    BoardFixture fixture;
    const Answer made = in_process().must(
        fixture.owner,
        "create_column",
        {{"board_id", fixture.board.str()},
         {"name", "Work"},
         {"kind", "queue"},
         {"color", "green"},
         {"wip_limit", 5},
         {"wip_policy", "hard"},
         {"queue",
          {{"enabled", true}, {"order", "due"}, {"on_exhausted_column_id", fixture.done.str()}}}}
    );
    const Answer read = in_process().must(
        fixture.owner,
        "get_column",
        {{"board_id", fixture.board.str()}, {"column_id", made.text("/id")}}
    );
    EXPECT_EQ(made.body, read.body);
}

TEST(Columns, AQueueColumnIsEnabledUnlessToldOtherwise) {
    BoardFixture fixture;
    const auto enabled = [&](boost::json::object what) {
        what["board_id"] = fixture.board.str();
        what["name"] = "Q";
        return in_process()
            .must(fixture.owner, "create_column", what)
            .body.at_pointer("/queue/enabled")
            .as_bool();
    };
    EXPECT_TRUE(enabled({{"kind", "queue"}}));
    EXPECT_FALSE(enabled({{"kind", "active"}}));
    EXPECT_FALSE(enabled({{"kind", "queue"}, {"queue", {{"enabled", false}}}}));
}

TEST(Columns, CardsAreNotSentToAnotherBoardsColumn) {
    BoardFixture fixture, other;
    const Answer refused = in_process().ask(
        fixture.owner,
        "create_column",
        {{"board_id", fixture.board.str()},
         {"name", "Q"},
         {"queue", {{"enabled", true}, {"on_complete_column_id", other.done.str()}}}}
    );
    EXPECT_EQ(refused.status, 422);
    const Answer elsewhere = in_process().ask(
        fixture.owner,
        "create_column",
        {{"board_id", fixture.board.str()}, {"name", "Q"}, {"after_id", other.done.str()}}
    );
    EXPECT_EQ(elsewhere.status, 422);
    EXPECT_EQ(elsewhere.text("/detail/0/loc/1"), "after_id");
}

TEST(Labels, NamesAreUniqueInAnyScriptAndCase) {
    BoardFixture fixture;
    const auto make = [&](const char* name) {
        return in_process()
            .ask(fixture.owner, "create_label", {{"board_id", fixture.board.str()}, {"name", name}})
            .status;
    };
    EXPECT_EQ(make("Größe"), 201);
    EXPECT_EQ(make("GRÖSSE"), 201) << "sharp s is a letter of its own";
    EXPECT_EQ(make("GRÖße"), 409);
    EXPECT_EQ(make("Ünder"), 201);
    EXPECT_EQ(make("ünder"), 409);
}

}  // namespace svc::test
