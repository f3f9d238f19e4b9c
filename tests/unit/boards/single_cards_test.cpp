// Copies of a card, and its way into the trash and back.

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

namespace svc::test {

using testing::ElementsAre;

namespace {

struct TwoCards {
    BoardFixture fixture;
    std::string a = fixture.card(fixture.backlog, {{"title", "a"}}).text("/id"),
                b = fixture.card(fixture.backlog, {{"title", "b"}}).text("/id");

    TwoCards() { in_process().forget_events(); }
};

}  // namespace

TEST(Duplicates, SayTheSameButForWhatIsTheOriginalsOwn) {
    TwoCards cards;
    in_process().must(
        cards.fixture.owner,
        "update_card",
        {{"card_id", cards.a},
         {"labels", {"x"}},
         {"assignees", {cards.fixture.owner.id.str()}},
         {"due", "2026-01-01"},
         {"priority", "high"},
         {"estimate", 2},
         {"parent_card_id", cards.b},
         {"blocked_by", {cards.b}},
         {"external_key", "k"}}
    );
    const value original = cards.fixture.get(*Uuid::parse(cards.a)).body;
    const Answer copy =
        in_process().must(cards.fixture.owner, "duplicate_card", {{"card_id", cards.a}});
    EXPECT_EQ(copy.status, 201);
    for (const char* same :
         {"title",
          "labels",
          "assignees",
          "due",
          "priority",
          "estimate",
          "parent_card_id",
          "column_id",
          "properties"})
        EXPECT_EQ(copy.body.at(same), original.at(same)) << same;
    EXPECT_TRUE(copy.body.at("blocked_by").as_array().empty());
    EXPECT_TRUE(copy.body.at("external_key").is_null());
    EXPECT_EQ(cards.fixture.get(copy.id()).body, copy.body);
    EXPECT_THAT(cards.fixture.titles(cards.fixture.backlog), ElementsAre("a", "a", "b"));
    const Answer elsewhere = in_process().must(
        cards.fixture.owner,
        "duplicate_card",
        {{"card_id", cards.a}, {"column_id", cards.fixture.queue.str()}, {"title", "Copy"}}
    );
    EXPECT_EQ(elsewhere.text("/title"), "Copy");
    EXPECT_EQ(elsewhere.text("/queue/state"), "ready");
}

TEST(Deleting, TakesACardOffTheBoardAndRestoringBringsItBack) {
    TwoCards cards;
    const value wanted{{"card_id", cards.a}};
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(in_process().ask(cards.fixture.owner, "delete_card", wanted).status, 204);
    EXPECT_THAT(cards.fixture.titles(cards.fixture.backlog), ElementsAre("b"));
    EXPECT_TRUE(cards.fixture.get(*Uuid::parse(cards.a)).body.at("in_trash").as_bool());
    const auto count = [&] {
        return in_process()
            .must(cards.fixture.owner, "get_board", {{"board_id", cards.fixture.board.str()}})
            .number("/card_count");
    };
    EXPECT_EQ(count(), 1);
    for (const char* operation : {"archive_card", "duplicate_card"})
        EXPECT_EQ(in_process().ask(cards.fixture.owner, operation, wanted).status, 409)
            << operation;
    in_process().must(cards.fixture.owner, "restore_card", wanted);
    EXPECT_THAT(cards.fixture.titles(cards.fixture.backlog), ElementsAre("a", "b"));
    EXPECT_EQ(count(), 2);
    EXPECT_THAT(in_process().emitted(), ElementsAre("card.deleted", "card.restored"));
}

TEST(Deleting, AnArchivedCardIsCountedOnce) {
    TwoCards cards;
    const value wanted{{"card_id", cards.a}};
    for (const char* operation : {"archive_card", "delete_card", "restore_card"})
        EXPECT_LT(in_process().ask(cards.fixture.owner, operation, wanted).status, 300);
    const Answer board = in_process().must(
        cards.fixture.owner, "get_board", {{"board_id", cards.fixture.board.str()}}
    );
    EXPECT_EQ(board.number("/card_count"), 2);
    const value card = cards.fixture.get(*Uuid::parse(cards.a)).body;
    EXPECT_FALSE(card.at("is_archived").as_bool() || card.at("in_trash").as_bool());
}

TEST(Deleting, TakesTheCardFromItsWorker) {
    BoardFixture fixture;
    const std::string card = fixture.card(fixture.queue).text("/id");
    fixture.claim();
    in_process().must(fixture.owner, "delete_card", {{"card_id", card}});
    EXPECT_TRUE(fixture.get(*Uuid::parse(card)).body.at("lease").is_null());
    EXPECT_FALSE(fixture.claim().body.at("claimed").as_bool());
    const Answer back = in_process().must(fixture.owner, "restore_card", {{"card_id", card}});
    EXPECT_EQ(back.text("/queue/state"), "ready");
    EXPECT_TRUE(fixture.claim().body.at("claimed").as_bool());
}

}  // namespace svc::test
