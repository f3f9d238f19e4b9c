// Cards on the move, and out of sight, on the real modules and database.

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

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

// ------------------------------------------------------------------------------------ moving

TEST(Moving, PutsACardWhereItIsTold) {
    BoardFixture fixture;
    std::map<std::string, std::string> ids;
    for (const char* title : {"a", "b", "c", "d"})
        ids[title] = fixture.card(fixture.backlog, {{"title", title}}).text("/id");
    const auto move = [&](const char* card, boost::json::object where) {
        where["card_id"] = ids[card];
        where["column_id"] = fixture.backlog.str();
        in_process().must(fixture.owner, "move_card", where);
        return fixture.titles(fixture.backlog);
    };
    EXPECT_THAT(move("d", {{"after_id", ids["a"]}}), ElementsAre("a", "d", "b", "c"));
    EXPECT_THAT(move("c", {{"before_id", ids["a"]}}), ElementsAre("c", "a", "d", "b"));
    EXPECT_THAT(move("c", {}), ElementsAre("a", "d", "b", "c"));
    EXPECT_THAT(
        move("a", {{"after_id", ids["b"]}, {"before_id", ids["c"]}}),
        ElementsAre("d", "b", "a", "c")
    );
}

TEST(Moving, WhatIsMovedToTheEndStandsInFrontOfWhatIsCreatedNext) {
    BoardFixture fixture;
    const std::string moved = fixture.card(fixture.backlog, {{"title", "moved"}}).text("/id");
    fixture.card(fixture.backlog, {{"title", "another"}});
    in_process().must(
        fixture.owner, "move_card", {{"card_id", moved}, {"column_id", fixture.backlog.str()}}
    );
    // Keys follow the clock: one that ran ahead of it would be overtaken in the next two seconds.
    std::vector<std::string> in_order{"another", "moved"};
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(2200)) {
        in_order.push_back(std::to_string(in_order.size()));
        fixture.card(fixture.backlog, {{"title", in_order.back()}});
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_EQ(all_pages(fixture.owner, {{"column_id", fixture.backlog.str()}}), in_order);
}

TEST(Moving, AnAnchorElsewhereIsRefused) {
    BoardFixture fixture;
    const std::string here = fixture.card(fixture.backlog).text("/id");
    const std::string there = fixture.card(fixture.queue).text("/id");
    const Answer refused = in_process().ask(
        fixture.owner,
        "move_card",
        {{"card_id", here}, {"column_id", fixture.backlog.str()}, {"after_id", there}}
    );
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(refused.text("/detail/0/loc/1"), "after_id");
}

TEST(Moving, ReachingDoneCompletesAndLeavingReopens) {
    BoardFixture fixture;
    const std::string id = fixture.card(fixture.backlog).text("/id");
    const auto move = [&](const Uuid& column) {
        return in_process().must(
            fixture.owner, "move_card", {{"card_id", id}, {"column_id", column.str()}}
        );
    };
    const Answer done = move(fixture.done);
    EXPECT_TRUE(done.body.at("completed_at").is_string());
    EXPECT_EQ(done.number("/version"), 2);
    EXPECT_EQ(fixture.get(done.id()).body, done.body);
    const Answer queued = move(fixture.queue);
    EXPECT_TRUE(queued.body.at("completed_at").is_null());
    EXPECT_EQ(queued.text("/queue/state"), "ready");
    EXPECT_EQ(fixture.get(done.id()).body, queued.body);
}

TEST(Moving, TwoAtTheSameSpotBothSucceedAndTheOrderIsTotal) {
    BoardFixture fixture;
    const std::string top = fixture.card(fixture.backlog, {{"title", "top"}}).text("/id");
    fixture.card(fixture.backlog, {{"title", "bottom"}});
    std::vector<std::string> ids;
    for (int i = 0; i < 40; ++i) ids.push_back(fixture.card(fixture.queue).text("/id"));
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            for (std::size_t i = t; i < ids.size(); i += 8)
                in_process().must(
                    fixture.owner,
                    "move_card",
                    {{"card_id", ids[i]}, {"column_id", fixture.backlog.str()}, {"after_id", top}}
                );
        });
    for (auto& thread : threads) thread.join();
    const auto titles = fixture.titles(fixture.backlog);
    EXPECT_EQ(titles.size(), 42U);
    EXPECT_EQ(titles.front(), "top");
    EXPECT_EQ(titles.back(), "bottom");
    EXPECT_EQ(
        all_pages(fixture.owner, {{"column_id", fixture.backlog.str()}, {"page_size", 5}}, "id"),
        all_pages(fixture.owner, {{"column_id", fixture.backlog.str()}, {"page_size", 100}}, "id")
    );
}

TEST(Moving, AHardLimitHoldsHoweverManyComeAtOnce) {
    BoardFixture fixture;
    const Uuid tight =
        fixture.column({{"name", "Tight"}, {"wip_limit", 3}, {"wip_policy", "hard"}});
    std::vector<std::string> ids;
    for (int i = 0; i < 12; ++i) ids.push_back(fixture.card(fixture.backlog).text("/id"));
    std::atomic<int> moved{0}, refused{0};
    std::vector<std::thread> threads;
    for (const std::string& id : ids)
        threads.emplace_back([&, id] {
            const Answer said = in_process().ask(
                fixture.owner, "move_card", {{"card_id", id}, {"column_id", tight.str()}}
            );
            moved += said.status == 200;
            if (said.status != 409) return;
            refused += said.text("/code") == "wip_limit_reached" &&
                       said.text("/additional_data/limit") == "3" &&
                       said.text("/additional_data/count") == "3";
        });
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            const Answer said = in_process().ask(
                fixture.owner,
                "create_card",
                {{"board_id", fixture.board.str()}, {"column_id", tight.str()}, {"title", "New"}}
            );
            moved += said.status == 201;
            refused += said.status == 409;
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(moved, 3);
    EXPECT_EQ(refused, 13);
    EXPECT_EQ(fixture.titles(tight).size(), 3U);
}

TEST(Moving, WithinAFullColumnIsStillAllowed) {
    BoardFixture fixture;
    const Uuid tight =
        fixture.column({{"name", "Tight"}, {"wip_limit", 2}, {"wip_policy", "hard"}});
    const std::string first = fixture.card(tight, {{"title", "a"}}).text("/id");
    fixture.card(tight, {{"title", "b"}});
    in_process().must(fixture.owner, "move_card", {{"card_id", first}, {"column_id", tight.str()}});
    EXPECT_THAT(fixture.titles(tight), ElementsAre("b", "a"));
}

TEST(Moving, ASoftLimitRefusesNobody) {
    BoardFixture fixture;
    const Uuid soft = fixture.column({{"name", "Soft"}, {"wip_limit", 1}});
    fixture.card(soft);
    fixture.card(soft);
    EXPECT_EQ(fixture.titles(soft).size(), 2U);
}

TEST(Archiving, TakesACardOffTheBoardAndBack) {
    BoardFixture fixture;
    const Answer made = fixture.card(fixture.queue, {{"title", "x"}});
    const std::string id = made.text("/id");
    const auto count = [&] {
        return in_process().must(
                               fixture.owner, "get_board", {{"board_id", fixture.board.str()}}
        ).number("/card_count");
    };
    const Answer away = in_process().must(fixture.owner, "archive_card", {{"card_id", id}});
    EXPECT_TRUE(away.body.at("is_archived").as_bool());
    EXPECT_EQ(away.text("/queue/state"), "idle");
    EXPECT_EQ(fixture.get(made.id()).body, away.body);
    EXPECT_EQ(count(), 0);
    EXPECT_TRUE(fixture.titles(fixture.queue).empty());
    EXPECT_EQ(
        all_pages(fixture.owner, {{"board_id", fixture.board.str()}, {"archived", true}}).size(), 1U
    );
    EXPECT_EQ(
        in_process()
            .ask(fixture.owner, "move_card", {{"card_id", id}, {"column_id", fixture.done.str()}})
            .status,
        409
    );
    EXPECT_EQ(in_process().must(fixture.owner, "archive_card", {{"card_id", id}}).body, away.body);

    const Answer back = in_process().must(fixture.owner, "restore_card", {{"card_id", id}});
    EXPECT_FALSE(back.body.at("is_archived").as_bool());
    EXPECT_EQ(back.text("/queue/state"), "ready");
    EXPECT_EQ(fixture.get(made.id()).body, back.body);
    EXPECT_EQ(count(), 1);
}

// Removing a column takes its archived cards elsewhere; one that was being archived meanwhile may be left.
TEST(Archiving, ACardWhoseColumnIsGoneDoesNotComeBackToIt) {
    BoardFixture fixture;
    const std::string id = fixture.card(fixture.backlog).text("/id");
    in_process().must(fixture.owner, "archive_card", {{"card_id", id}});
    in_process().run(
        "UPDATE columns SET in_trash = true WHERE id = '" + fixture.backlog.str() + "'"
    );
    const Answer refused = in_process().ask(fixture.owner, "restore_card", {{"card_id", id}});
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/additional_data/reason"), "column_in_trash");
    EXPECT_TRUE(fixture.get(Uuid::parse(id).value()).body.at("is_archived").as_bool());
}

TEST(ArchivedBoards, RefuseChanges) {
    BoardFixture fixture;
    const std::string id = fixture.card(fixture.backlog).text("/id");
    in_process().run(
        "UPDATE boards SET is_archived = true WHERE id = '" + fixture.board.str() + "'"
    );
    EXPECT_EQ(in_process().ask(fixture.owner, "get_card", {{"card_id", id}}).status, 200);
    const Answer refused =
        in_process().ask(fixture.owner, "update_card", {{"card_id", id}, {"title", "No"}});
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/additional_data/reason"), "board_archived");
}

}  // namespace svc::test
