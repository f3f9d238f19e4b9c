// The order of cards, whatever is done to it.

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

#include <random>
#include <set>
#include <sstream>

namespace svc::test {

namespace {

using boost::json::object;
using Titles = std::vector<std::string>;

/// A column, and what it should look like.
struct Model {
    BoardFixture fixture;
    std::mt19937 dice;
    Titles expected{};
    std::map<std::string, std::string> ids{};

    explicit Model(unsigned seed) : dice(seed) {}

    std::size_t pick(std::size_t below) { return dice() % below; }

    /// Puts `title` beside a random other, and says so in the request.
    void place(const std::string& title, object& request) {
        if (expected.empty() || pick(4) == 0) return expected.push_back(title);
        const std::size_t at = pick(expected.size());
        const auto here = expected.begin() + static_cast<std::ptrdiff_t>(at);
        const bool before = pick(2) == 0;
        request[before ? "before_id" : "after_id"] = ids.at(*here);
        if (!before && at + 1 < expected.size() && pick(2) == 0)
            request["before_id"] = ids.at(*(here + 1));
        expected.insert(before ? here : here + 1, title);
    }
    void create() {
        const std::string title = "card " + std::to_string(ids.size());
        object request{{"title", title}};
        place(title, request);
        ids[title] = fixture.card(fixture.backlog, request).text("/id");
    }
    void move() {
        const std::string title = expected.at(pick(expected.size()));
        std::erase(expected, title);
        object request{{"card_id", ids.at(title)}, {"column_id", fixture.backlog.str()}};
        place(title, request);
        in_process().must(fixture.owner, "move_card", request);
    }
    void leave_and_return(const char* out) {
        const std::string title = expected.at(pick(expected.size()));
        const value card{{"card_id", ids.at(title)}};
        in_process().ask(fixture.owner, out, card);
        in_process().must(fixture.owner, "restore_card", card);
    }
};

int longest_position(const BoardFixture& fixture) {
    return std::stoi(in_process().run(
        "SELECT max(length(position)) FROM cards WHERE board_id = '" + fixture.board.str() + "'"
    ));
}

}  // namespace

TEST(Sequences, RandomOnesEndAsAListWould) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
        Model model(seed);
        for (int step = 0; step < 60; ++step) {
            const auto what = model.pick(10);
            if (model.expected.size() < 3 || what < 4) model.create();
            else if (what < 8) model.move();
            else model.leave_and_return(what == 8 ? "archive_card" : "delete_card");
        }
        EXPECT_EQ(model.fixture.titles(model.fixture.backlog), model.expected) << "seed " << seed;
    }
}

TEST(Sequences, AThousandInsertsAtOneSpotAllFindTheirPlace) {
    BoardFixture fixture;
    const std::string top = fixture.card(fixture.backlog, {{"title", "top"}}).text("/id");
    const std::string bottom = fixture.card(fixture.backlog, {{"title", "bottom"}}).text("/id");
    for (int round = 0; round < 10; ++round) {
        boost::json::array operations;
        for (int i = 0; i < 100; ++i)
            operations.push_back(object{
                {"create",
                 {{"board_id", fixture.board.str()},
                  {"column_id", fixture.backlog.str()},
                  {"title", std::to_string(round * 100 + i)},
                  {"after_id", top}}}});
        in_process().must(fixture.owner, "batch_cards", {{"operations", operations}});
    }
    object query{{"column_id", fixture.backlog.str()}, {"page_size", 100}};
    Titles found;
    for (;;) {
        const Answer page = in_process().must(fixture.owner, "list_cards", query);
        for (const value& each : page.body.at("results").as_array())
            found.emplace_back(each.at("title").as_string());
        if (page.body.at("next_cursor").is_null()) break;
        query["start_cursor"] = page.body.at("next_cursor");
    }
    ASSERT_EQ(found.size(), 1002u);
    EXPECT_EQ(found.front(), "top");
    EXPECT_EQ(found.back(), "bottom");
    for (int i = 0; i < 1000; ++i)
        ASSERT_EQ(found.at(static_cast<std::size_t>(i) + 1), std::to_string(999 - i));
    EXPECT_LE(longest_position(fixture), 66);
}

namespace {

/// Puts a card into a gap that every further one makes narrower, on a random side.
struct Gap {
    BoardFixture& fixture;
    std::mt19937 dice;
    Titles order{};
    std::map<std::string, std::string> ids{};
    std::size_t at = 1;  // the gap is in front of this one

    std::string make(const std::string& title, object beside = {}) {
        beside["title"] = title;
        return ids[title] = fixture.card(fixture.backlog, beside).text("/id");
    }
    object next(const std::string& title) {
        object request{{"after_id", ids.at(order[at - 1])}, {"before_id", ids.at(order[at])}};
        order.insert(order.begin() + static_cast<std::ptrdiff_t>(at), title);
        at += dice() % 2;
        return request;
    }
};

}  // namespace

TEST(Sequences, AGapThatIsChosenTimeAndAgainFindsRoomAgain) {
    BoardFixture fixture;
    Gap gap{fixture, std::mt19937(1)};
    for (const char* title : {"top", "bottom"}) {
        gap.make(title);
        gap.order.emplace_back(title);
    }
    for (int i = 0; i < 900; ++i) {
        const std::string title = std::to_string(i);
        gap.make(title, gap.next(title));
    }
    Titles found;
    std::istringstream titles(in_process().run(
        "SELECT string_agg(title, ' ' ORDER BY position, id) FROM cards WHERE board_id = '" +
        fixture.board.str() + "'"
    ));
    for (std::string title; titles >> title;) found.push_back(title);
    EXPECT_EQ(found, gap.order);
    EXPECT_LE(longest_position(fixture), 66);
    EXPECT_EQ(
        in_process().run(
            "SELECT count(*) FROM cards WHERE version > 1 AND board_id = '" + fixture.board.str() +
            "'"
        ),
        "0"
    ) << "being given room is no change of a card";
}

TEST(Sequences, WhatIsPutAwayKeepsItsPlaceWhenOthersFindRoom) {
    BoardFixture fixture;
    std::vector<std::string> ids;
    for (int i = 0; i < 9; ++i)
        ids.push_back(fixture.card(fixture.backlog, {{"title", std::to_string(i)}}).text("/id"));
    const Titles before = fixture.titles(fixture.backlog);
    in_process().run(
        "UPDATE cards SET position = 'V0000000' || repeat('V', 60) || number % 10 || 'V' "
        "WHERE board_id = '" +
        fixture.board.str() + "'"
    );
    for (const int i : {2, 6})
        in_process().must(fixture.owner, "archive_card", {{"card_id", ids[i]}});
    in_process().must(fixture.owner, "delete_card", {{"card_id", ids[4]}});
    const std::string extra =
        fixture.card(fixture.backlog, {{"title", "extra"}, {"after_id", ids[0]}}).text("/id");
    EXPECT_LE(longest_position(fixture), 8);
    in_process().must(fixture.owner, "delete_card", {{"card_id", extra}});
    for (const int i : {2, 4, 6})
        in_process().must(fixture.owner, "restore_card", {{"card_id", ids[i]}});
    EXPECT_EQ(fixture.titles(fixture.backlog), before);
}

TEST(Sequences, ThereIsRoomBetweenTwoThatCameToOnePlaceTogether) {
    for (const char* place : {"both", "after", "before"}) {
        BoardFixture fixture;
        std::vector<std::string> ids;
        for (int i = 0; i < 4; ++i)
            ids.push_back(fixture.card(fixture.backlog, {{"title", std::to_string(i)}}).text("/id")
            );
        in_process().run(
            "UPDATE cards SET position = (SELECT position FROM cards WHERE id = '" + ids[1] +
            "') WHERE id = '" + ids[2] + "'"
        );
        const auto tied = fixture.titles(fixture.backlog);  // by their ids: 1 before 2
        ASSERT_EQ(tied, (Titles{"0", "1", "2", "3"}));
        object wanted{{"title", "new"}};
        if (place != std::string("before")) wanted["after_id"] = ids[1];
        if (place != std::string("after")) wanted["before_id"] = ids[2];
        fixture.card(fixture.backlog, wanted);
        EXPECT_EQ(fixture.titles(fixture.backlog), (Titles{"0", "1", "new", "2", "3"})) << place;
        object wrong{{"board_id", fixture.board.str()}, {"column_id", fixture.backlog.str()}};
        wrong["title"] = "wrong";
        wrong["after_id"] = ids[2];
        wrong["before_id"] = ids[1];
        EXPECT_EQ(in_process().ask(fixture.owner, "create_card", wrong).status, 422);
    }
}

TEST(Sequences, SeveralWhoChooseOneGapAtOnceAllFindRoom) {
    BoardFixture fixture;
    std::vector<std::string> ids;
    for (int i = 0; i < 10; ++i)
        ids.push_back(fixture.card(fixture.backlog, {{"title", std::to_string(i)}}).text("/id"));
    in_process().run(
        "UPDATE cards SET position = 'V0000000' || repeat('V', 60) || number % 10 || 'V' "
        "WHERE board_id = '" +
        fixture.board.str() + "'"
    );
    std::vector<std::thread> movers;
    for (unsigned seed = 0; seed < 4; ++seed)
        movers.emplace_back([&, seed] {
            for (unsigned i = 0; i < 60; ++i) {
                const std::string& card = ids[seed * 2 + i % 2];
                object request{{"card_id", card}, {"column_id", fixture.backlog.str()}};
                request[i % 3 ? "before_id" : "after_id"] = ids[9];
                EXPECT_EQ(in_process().ask(fixture.owner, "move_card", request).status, 200);
            }
        });
    for (auto& mover : movers) mover.join();
    EXPECT_EQ(fixture.titles(fixture.backlog).size(), ids.size());
    // Whoever comes alone finds room for all.
    const object request{
        {"card_id", ids[0]}, {"column_id", fixture.backlog.str()}, {"after_id", ids[9]}};
    in_process().must(fixture.owner, "move_card", request);
    EXPECT_LE(longest_position(fixture), 90);
}

TEST(Sequences, OfSeveralAtOnceLoseNobodyAndLeaveOneOrder) {
    BoardFixture fixture;
    std::vector<std::string> ids;
    for (int i = 0; i < 8; ++i)
        ids.push_back(fixture.card(fixture.backlog, {{"title", std::to_string(i)}}).text("/id"));
    std::vector<std::thread> movers;
    for (unsigned seed = 0; seed < 3; ++seed)
        movers.emplace_back([&, seed] {
            std::mt19937 dice(seed);
            for (int i = 0; i < 25; ++i) {
                const std::string& card = ids[dice() % 8];
                const std::string& other = ids[dice() % 8];
                object request{{"card_id", card}, {"column_id", fixture.backlog.str()}};
                if (card != other) request[dice() % 2 ? "before_id" : "after_id"] = other;
                EXPECT_EQ(in_process().ask(fixture.owner, "move_card", request).status, 200);
            }
        });
    for (auto& mover : movers) mover.join();
    const Titles titles = fixture.titles(fixture.backlog);
    EXPECT_EQ(titles.size(), ids.size());
    EXPECT_EQ(std::set<std::string>(titles.begin(), titles.end()).size(), ids.size());
    EXPECT_EQ(fixture.titles(fixture.backlog), titles);
    const Answer between = fixture.card(fixture.backlog, {{"title", "new"}, {"after_id", ids[0]}});
    const Titles after = fixture.titles(fixture.backlog);
    const auto anchor = std::ranges::find(after, "0");
    ASSERT_NE(anchor, after.end());
    EXPECT_GT(std::ranges::find(after, "new"), anchor);
}

}  // namespace svc::test
