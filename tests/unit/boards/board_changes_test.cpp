// Boards that are changed, archived, restored and copied; labels that change.

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

namespace svc::test {

using testing::Contains;
using testing::ElementsAre;

namespace {

struct Changing : BoardFixture {
    Answer ask(std::string_view operation, boost::json::object what = {}) {
        return ask_as(owner, operation, std::move(what));
    }
    Answer ask_as(const Caller& who, std::string_view operation, boost::json::object what = {}) {
        what["board_id"] = board.str();
        return in_process().ask(who, operation, what);
    }
    value shown() { return ask("get_board").body; }
};

}  // namespace

TEST(BoardChanges, APatchTouchesOnlyWhatItWasSent) {
    Changing b;
    const std::vector<std::pair<std::string, value>> changes{
        {"name", "Renamed"},
        {"key", "NEWKEY"},
        {"description", "What it is for"},
        {"description", nullptr},
        {"icon", {{"type", "emoji"}, {"emoji", "🚀"}}},
        {"icon", {{"type", "external"}, {"external", {{"url", "https://example.com/a.png"}}}}},
        {"icon", nullptr},
        {"visibility", "private"},
        {"default_view", "table"},
    };
    value before = b.shown();
    for (const auto& [field, to] : changes) {
        const Answer after = b.ask("update_board", {{field, to}});
        ASSERT_EQ(after.status, 200) << field;
        before.as_object()[field] = to;
        before.as_object()["version"] = before.at("version").as_int64() + 1;
        before.as_object()["last_edited_time"] = after.body.at("last_edited_time");
        EXPECT_EQ(after.body, before) << field;
        EXPECT_EQ(b.shown(), before) << field;
        EXPECT_EQ(b.ask("update_board", {{field, to}}).body, before) << "nothing changes";
    }
    EXPECT_EQ(b.ask("update_board").body, before);
    for (const char* field : {"name", "key", "visibility"})
        EXPECT_EQ(b.ask("update_board", {{field, nullptr}}).status, 422) << field;
    EXPECT_EQ(b.ask("update_board", {{"key", "lower"}}).status, 422);
    const value wrong_icon{{"type", "emoji"}, {"external", {{"url", "https://example.com"}}}};
    EXPECT_EQ(b.ask("update_board", {{"icon", wrong_icon}}).status, 422);
}

TEST(BoardChanges, CardsHaveTheNewKeyAtOnce) {
    Changing b;
    const Answer card = b.card(b.backlog);
    b.ask("update_board", {{"key", "NEXT"}});
    EXPECT_EQ(b.get(card.id()).text("/key"), "NEXT-1");
    EXPECT_EQ(in_process().ask(b.owner, "get_card", {{"card_id", "NEXT-1"}}).status, 200);
    EXPECT_EQ(in_process().ask(b.owner, "get_card", {{"card_id", "DES-1"}}).status, 404);
    const Answer other =
        in_process().must(b.owner, "create_board", {{"name", "X"}, {"key", "TAKEN"}});
    const Answer taken = b.ask("update_board", {{"key", "TAKEN"}});
    EXPECT_EQ(taken.status, 409);
    EXPECT_EQ(taken.text("/additional_data/reason"), "key_taken");
}

TEST(BoardChanges, VisibilityIsForTheAdminsOfTheBoard) {
    Changing b;
    const Caller member = in_process().person(b.owner, OrgRole::member, "Me");
    EXPECT_EQ(b.ask_as(member, "update_board", {{"name", "Mine"}}).status, 200);
    EXPECT_EQ(b.ask_as(member, "update_board", {{"visibility", "private"}}).status, 403);
    for (const char* operation : {"delete_board", "archive_board", "restore_board"})
        EXPECT_EQ(b.ask_as(member, operation).status, 403) << operation;
    EXPECT_EQ(b.ask("update_board", {{"visibility", "private"}}).status, 200);
    EXPECT_EQ(b.ask_as(member, "update_board", {{"name", "X"}}).status, 404);
    EXPECT_EQ(b.ask_as(member, "restore_board").status, 404);
}

TEST(BoardChanges, AnArchivedBoardIsReadAndNotChanged) {
    Changing b;
    const Answer card = b.card(b.queue);
    in_process().forget_events();
    EXPECT_EQ(b.ask("archive_board").body.at("is_archived"), true);
    EXPECT_THAT(in_process().emitted(), ElementsAre("board.updated"));
    EXPECT_EQ(b.ask("archive_board").number("/version"), 2);
    EXPECT_EQ(b.ask("get_board").status, 200);
    EXPECT_EQ(b.ask("get_board_snapshot").status, 200);
    const std::vector<std::pair<std::string, boost::json::object>> refused{
        {"update_board", {{"name", "X"}}},
        {"create_label", {{"name", "X"}}},
        {"create_property", {{"name", "X"}, {"type", "url"}}},
        {"create_column", {{"name", "X"}}},
        {"update_column", {{"column_id", b.done.str()}, {"name", "X"}}},
        {"create_card", {{"column_id", b.done.str()}, {"title", "X"}}},
    };
    for (const auto& [operation, what] : refused) {
        const Answer said = b.ask(operation, what);
        EXPECT_EQ(said.status, 409) << operation;
        EXPECT_EQ(said.text("/additional_data/reason"), "board_archived") << operation;
    }
    EXPECT_EQ(b.ask("restore_board").body.at("is_archived"), false);
    EXPECT_EQ(b.ask("restore_board").number("/version"), 3);
    EXPECT_EQ(b.ask("update_board", {{"name", "X"}}).status, 200);
}

TEST(BoardChanges, ATrashedBoardComesBackWhole) {
    Changing b;
    const Answer card = b.card(b.backlog);
    in_process().forget_events();
    EXPECT_EQ(b.ask("delete_board").status, 204);
    EXPECT_EQ(b.ask("delete_board").status, 204);
    EXPECT_THAT(in_process().emitted(), ElementsAre("board.deleted"));
    EXPECT_EQ(b.ask("update_board", {{"name", "X"}}).status, 404);
    EXPECT_EQ(b.ask("archive_board").status, 404);
    const Answer list = in_process().must(b.owner, "list_boards", boost::json::object());
    EXPECT_TRUE(list.body.at("results").as_array().empty());
    const Answer cards = in_process().must(b.owner, "list_cards", boost::json::object());
    EXPECT_TRUE(cards.body.at("results").as_array().empty());
    in_process().forget_events();
    EXPECT_EQ(b.ask("restore_board").body.at("in_trash"), false);
    EXPECT_THAT(in_process().emitted(), ElementsAre("board.restored"));
    EXPECT_THAT(b.titles(b.backlog), ElementsAre("Card"));
}

// --------------------------------------------------------------------------------- duplicates

TEST(Duplicates, HaveEverythingButTheWorkOnIt) {
    Changing b;
    in_process().must(
        b.owner,
        "update_column",
        {{"board_id", b.board.str()},
         {"column_id", b.queue.str()},
         {"wip_limit", 9},
         {"queue", {{"on_complete_column_id", b.done.str()}}}}
    );
    const Answer size = b.ask(
        "create_property",
        {{"name", "Size"}, {"type", "select"}, {"options", {{{"name", "S"}}, {{"name", "L"}}}}}
    );
    const Answer first = b.card(b.queue, {{"title", "first"}, {"labels", {"bug"}}});
    const Answer second = b.card(
        b.queue, {{"title", "second"}, {"assignees", {b.owner.id.str()}}, {"external_key", "k"}}
    );
    const value option = size.body.at_pointer("/options/1");
    const value shown{
        {"Size", {{"id", size.body.at("id")}, {"type", "select"}, {"select", option}}}};
    in_process().run(
        "UPDATE cards SET properties = '" + boost::json::serialize(shown) + "' WHERE id = '" +
        first.text("/id") + "'"
    );
    const Answer gone = b.card(b.backlog);
    in_process().must(b.owner, "archive_card", {{"card_id", gone.text("/id")}});
    b.claim();
    in_process().must(b.owner, "create_share_link", {{"board_id", b.board.str()}});
    in_process().forget_events();

    const Answer copy = b.ask("duplicate_board");
    ASSERT_EQ(copy.status, 201) << boost::json::serialize(copy.body);
    const value made =
        in_process().must(b.owner, "get_board", {{"board_id", copy.text("/id")}}).body;
    EXPECT_EQ(copy.body, made);
    EXPECT_EQ(copy.text("/name"), "Desk (copy)");
    EXPECT_EQ(copy.number("/card_count"), 2);
    EXPECT_THAT(in_process().emitted(), Contains("card.created").Times(2));
    EXPECT_THAT(in_process().emitted(), Contains("column.created").Times(3));
    const Answer page =
        in_process().must(b.owner, "list_columns", {{"board_id", copy.text("/id")}});
    const value& queue = page.body.at_pointer("/results/1");
    EXPECT_EQ(queue.at("wip_limit"), 9);
    EXPECT_EQ(
        queue.at_pointer("/queue/on_complete_column_id"), page.body.at_pointer("/results/2/id")
    );
    const Answer cards = in_process().must(
        b.owner, "list_cards", {{"column_id", queue.at("id")}, {"sort", "position"}}
    );
    const auto& list = cards.body.at("results").as_array();
    ASSERT_EQ(list.size(), 2U);
    EXPECT_EQ(list[0].at("title").as_string(), "first");
    EXPECT_EQ(std::string(list[0].at("key").as_string()), copy.text("/key") + "-1");
    EXPECT_EQ(list[0].at_pointer("/labels/0/id"), made.at_pointer("/labels/0/id"));
    EXPECT_NE(list[0].at_pointer("/labels/0/id"), first.body.at_pointer("/labels/0/id"));
    EXPECT_EQ(list[0].at_pointer("/properties/Size/id"), made.at_pointer("/properties/0/id"));
    EXPECT_EQ(
        list[0].at_pointer("/properties/Size/select"), made.at_pointer("/properties/0/options/1")
    );
    EXPECT_EQ(std::string(list[1].at_pointer("/assignees/0/id").as_string()), b.owner.id.str());
    EXPECT_EQ(list[1].at("external_key").as_string(), "k");
    for (const value& each : list) {
        EXPECT_EQ(each.at_pointer("/queue/state").as_string(), "ready");
        EXPECT_TRUE(each.at("lease").is_null());
        EXPECT_EQ(each.at("version"), 1);
    }
    const Answer links =
        in_process().must(b.owner, "list_share_links", {{"board_id", copy.text("/id")}});
    EXPECT_TRUE(links.body.at("results").as_array().empty());
    const Answer assigned =
        in_process().must(b.owner, "list_cards", {{"assignee_id", b.owner.id.str()}});
    EXPECT_EQ(assigned.body.at("results").as_array().size(), 2U);
    const Answer another = in_process().must(
        b.owner,
        "create_card",
        {{"board_id", copy.text("/id")}, {"column_id", queue.at("id")}, {"title", "third"}}
    );
    EXPECT_EQ(another.text("/key"), copy.text("/key") + "-3");
}

TEST(Duplicates, MayBeNamedAndGoWithoutCards) {
    Changing b;
    b.card(b.backlog);
    const Answer copy = b.ask(
        "duplicate_board",
        {{"name", "Fresh"}, {"key", "FRESH"}, {"include_cards", false}, {"visibility", "private"}}
    );
    EXPECT_EQ(copy.text("/key"), "FRESH");
    EXPECT_EQ(copy.text("/visibility"), "private");
    EXPECT_EQ(copy.number("/card_count"), 0);
    EXPECT_EQ(b.ask("duplicate_board", {{"key", "FRESH"}}).status, 409);
    std::string name;
    for (int i = 0; i < 200; ++i) name += "ß";
    b.ask("update_board", {{"name", name}});
    EXPECT_EQ(b.ask("duplicate_board").text("/name"), name.substr(0, 2 * 193) + " (copy)");
}

TEST(Duplicates, AreForWhoeverMaySeeTheBoardAndMakeOthers) {
    Changing b;
    const Caller viewer = in_process().person(b.owner, OrgRole::viewer, "Vi");
    const Caller member = in_process().person(b.owner, OrgRole::member, "Me");
    const Caller agent = in_process().agent(b.owner, OrgRole::member, "Bot");
    in_process().grant(b.board, agent, "editor");
    EXPECT_EQ(b.ask_as(viewer, "duplicate_board").status, 403);
    EXPECT_EQ(b.ask_as(agent, "duplicate_board").status, 403);
    const Answer mine = b.ask_as(member, "duplicate_board", {{"visibility", "private"}});
    EXPECT_EQ(mine.text("/role"), "admin");
    EXPECT_EQ(in_process().ask(member, "get_board", {{"board_id", mine.text("/id")}}).status, 200);
    b.ask("update_board", {{"visibility", "private"}});
    EXPECT_EQ(b.ask_as(member, "duplicate_board").status, 404);
}

// -------------------------------------------------------------------------------------- labels

TEST(LabelChanges, CardsShowThemAtOnce) {
    Changing b;
    const Answer card = b.card(b.backlog, {{"labels", {"bug", "ui"}}});
    const std::string id = card.text("/labels/0/id");
    in_process().forget_events();
    const Answer after =
        b.ask("update_label", {{"label_id", id}, {"name", "Defect"}, {"color", "red"}});
    ASSERT_EQ(after.status, 200);
    EXPECT_EQ(after.number("/version"), 2);
    const Answer shown = b.get(card.id());
    EXPECT_EQ(shown.text("/labels/0/name"), "Defect");
    EXPECT_EQ(shown.text("/labels/0/color"), "red");
    EXPECT_EQ(shown.text("/labels/1/name"), "ui");
    EXPECT_EQ(shown.number("/version"), 1);
    EXPECT_THAT(in_process().emitted(), ElementsAre("label.updated"));
    EXPECT_EQ(b.ask("update_label", {{"label_id", id}, {"name", "UI"}}).status, 409);
    EXPECT_EQ(b.ask("update_label", {{"label_id", id}, {"name", "DEFECT"}}).status, 200);
    EXPECT_EQ(b.ask("update_label", {{"label_id", id}}).number("/version"), 3);

    EXPECT_EQ(b.ask("delete_label", {{"label_id", id}}).status, 204);
    EXPECT_EQ(b.ask("delete_label", {{"label_id", id}}).status, 404);
    EXPECT_EQ(b.get(card.id()).body.at("labels").as_array().size(), 1U);
    b.ask("delete_label", {{"label_id", card.text("/labels/1/id")}});
    EXPECT_EQ(b.get(card.id()).body.at("labels"), value(boost::json::array()));
}

TEST(LabelChanges, LeaveNoCardWithTheOldNameHoweverCloselyTheyMeet) {
    Changing b;
    const Answer label = b.ask("create_label", {{"name", "n"}});
    std::vector<std::string> cards;
    for (int i = 0; i < 6; ++i) cards.push_back(b.card(b.backlog).text("/id"));
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
        for (int i = 0; i < 12; ++i)
            EXPECT_EQ(
                b.ask(
                     "update_label",
                     {{"label_id", label.text("/id")}, {"name", "n" + std::to_string(i)}}
                ).status,
                200
            );
    });
    for (const std::string& card : cards)
        threads.emplace_back([&, card] {
            for (int i = 0; i < 6; ++i) {
                const boost::json::array labels =
                    i % 2 ? boost::json::array() : boost::json::array{label.text("/id")};
                EXPECT_EQ(
                    in_process()
                        .ask(b.owner, "update_card", {{"card_id", card}, {"labels", labels}})
                        .status,
                    200
                );
            }
            in_process().must(
                b.owner, "update_card", {{"card_id", card}, {"labels", {label.text("/id")}}}
            );
        });
    for (auto& thread : threads) thread.join();
    in_process().run_job("boards.rewrite_cards");  // those that somebody held
    for (const std::string& card : cards)
        EXPECT_EQ(b.get(*Uuid::parse(card)).text("/labels/0/name"), "n11");
}

TEST(LabelChanges, TakeTheRightToEditTheBoard) {
    Changing b;
    const Answer label = b.ask("create_label", {{"name", "n"}});
    const Caller viewer = in_process().person(b.owner, OrgRole::viewer, "Vi");
    const Caller stranger = in_process().owner_of_new_org("Other");
    for (const char* operation : {"update_label", "delete_label"}) {
        const boost::json::object what{{"label_id", label.text("/id")}};
        EXPECT_EQ(b.ask_as(viewer, operation, what).status, 403);
        EXPECT_EQ(b.ask_as(stranger, operation, what).status, 404);
    }
    EXPECT_EQ(b.ask("update_label", {{"label_id", new_uuid().str()}, {"name", "x"}}).status, 404);
}

}  // namespace svc::test
