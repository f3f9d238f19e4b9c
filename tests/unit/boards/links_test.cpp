// What cards have to do with each other, on the real modules and database.

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

#include <random>

namespace svc::test {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

namespace {

struct Web {
    BoardFixture fixture;
    std::vector<std::string> ids;

    explicit Web(int count) {
        for (int i = 0; i < count; ++i)
            ids.push_back(fixture.card(fixture.backlog, {{"title", std::to_string(i)}}).text("/id")
            );
        in_process().forget_events();
    }
    Answer link(const std::string& card, const std::string& target, const char* type = "blocks") {
        return in_process().ask(
            fixture.owner, "link_cards", {{"card_id", card}, {"target_id", target}, {"type", type}}
        );
    }
    Answer link(std::size_t card, std::size_t target, const char* type = "blocks") {
        return link(ids.at(card), ids.at(target), type);
    }
    Answer move(std::size_t card, const Uuid& column) {
        return in_process().must(
            fixture.owner, "move_card", {{"card_id", ids.at(card)}, {"column_id", column.str()}}
        );
    }
    bool blocked(std::size_t card) {
        return fixture.get(*Uuid::parse(ids.at(card))).body.at("blocked").as_bool();
    }
    Answer update(std::size_t card, boost::json::object what) {
        what["card_id"] = ids.at(card);
        return in_process().ask(fixture.owner, "update_card", what);
    }
};

}  // namespace

TEST(Links, ABlockedCardShowsWhomItWaitsFor) {
    Web web(2);
    const Answer made = web.link(0, 1);
    EXPECT_EQ(made.status, 201);
    const value waiting = web.fixture.get(*Uuid::parse(web.ids[1])).body;
    EXPECT_TRUE(waiting.at("blocked").as_bool());
    EXPECT_EQ(waiting.at_pointer("/blocked_by/0").as_string(), web.ids[0]);
    EXPECT_EQ(waiting.at("version").as_int64(), 2);
    EXPECT_FALSE(web.blocked(0));
    EXPECT_THAT(in_process().emitted(), ElementsAre("card.updated", "card.blocked", "card.linked"));
}

TEST(Links, ARepeatAnswersWithTheLinkThatIsThere) {
    Web web(2);
    for (const char* type : {"blocks", "relates", "duplicates"}) {
        const Answer made = web.link(0, 1, type);
        EXPECT_EQ(made.status, 201);
        const Answer again = web.link(0, 1, type);
        EXPECT_EQ(again.status, 200);
        EXPECT_EQ(again.body, made.body) << type;
    }
    EXPECT_EQ(web.link(1, 0, "relates").status, 200) << "they relate to each other already";
    EXPECT_EQ(web.link(1, 0, "duplicates").status, 201);
}

TEST(Links, TheLastBlockerDoneFreesTheCardAndReopeningHoldsItAgain) {
    Web web(3);
    web.link(0, 2);
    web.link(1, 2);
    in_process().forget_events();
    web.move(0, web.fixture.done);
    EXPECT_TRUE(web.blocked(2));
    EXPECT_THAT(in_process().emitted(), Not(Contains("card.unblocked")));
    web.move(1, web.fixture.done);
    EXPECT_FALSE(web.blocked(2));
    EXPECT_THAT(in_process().emitted(), ElementsAre("card.moved", "card.moved", "card.unblocked"));
    in_process().forget_events();
    web.move(1, web.fixture.backlog);
    EXPECT_TRUE(web.blocked(2));
    EXPECT_THAT(in_process().emitted(), ElementsAre("card.moved", "card.blocked"));
}

TEST(Links, AColumnThatBecomesDoneFreesWhoWaitedForItsCards) {
    Web web(4);
    const Uuid doing = web.fixture.column({{"name", "Doing"}, {"kind", "active"}});
    for (const std::size_t card : {0U, 1U}) web.move(card, doing);
    web.link(0, 1);
    web.link(0, 2);
    web.link(1, 2);
    web.link(0, 3);
    web.link(2, 3);
    const auto becomes = [&](const char* kind) {
        in_process().forget_events();
        in_process().must(
            web.fixture.owner,
            "update_column",
            {{"board_id", web.fixture.board.str()}, {"column_id", doing.str()}, {"kind", kind}}
        );
        return in_process().emitted();
    };
    EXPECT_THAT(
        becomes("done"),
        ElementsAre("column.updated", "card.updated", "card.updated", "card.unblocked")
    ) << "the last card waits for another still, and one of the two is done itself";
    EXPECT_FALSE(web.blocked(2));
    EXPECT_TRUE(web.blocked(3));
    EXPECT_THAT(
        becomes("active"),
        ElementsAre("column.updated", "card.updated", "card.updated", "card.blocked")
    );
    EXPECT_TRUE(web.blocked(2));
}

TEST(Links, AColumnThatIsRemovedTakesItsCardsToTheDoneAndFreesWhoWaited) {
    Web web(3);
    const Uuid doing = web.fixture.column({{"name", "Doing"}, {"kind", "active"}});
    web.link(0, 2);
    web.link(1, 2);
    const auto remove_column = [&](const Uuid& column, const Uuid& to) {
        in_process().forget_events();
        in_process().must(
            web.fixture.owner,
            "delete_column",
            {{"board_id", web.fixture.board.str()},
             {"column_id", column.str()},
             {"move_cards_to", to.str()}}
        );
        return in_process().emitted();
    };
    for (const std::size_t card : {0U, 1U}) web.move(card, doing);
    EXPECT_THAT(remove_column(doing, web.fixture.queue), Not(Contains("card.unblocked")));
    EXPECT_TRUE(web.blocked(2));
    EXPECT_THAT(
        remove_column(web.fixture.queue, web.fixture.done), Contains("card.unblocked").Times(1)
    );
    EXPECT_FALSE(web.blocked(2));
}

TEST(Links, WhatIsPutAwayOrDeletedHoldsNobodyUp) {
    Web web(3);
    web.link(0, 2);
    web.link(1, 2);
    in_process().must(web.fixture.owner, "archive_card", {{"card_id", web.ids[0]}});
    EXPECT_TRUE(web.blocked(2));
    EXPECT_THAT(in_process().emitted(), Not(Contains("card.unblocked")));
    in_process().must(web.fixture.owner, "delete_card", {{"card_id", web.ids[1]}});
    EXPECT_FALSE(web.blocked(2));
    EXPECT_THAT(in_process().emitted(), Contains("card.unblocked"));
    in_process().must(web.fixture.owner, "restore_card", {{"card_id", web.ids[1]}});
    EXPECT_TRUE(web.blocked(2));
}

TEST(Links, TakingTheLinkAwayFreesTheCard) {
    Web web(2);
    const std::string link = web.link(0, 1).text("/id");
    in_process().forget_events();
    const value wanted{{"card_id", web.ids[0]}, {"link_id", link}};
    EXPECT_EQ(in_process().ask(web.fixture.owner, "unlink_cards", wanted).status, 204);
    EXPECT_FALSE(web.blocked(1));
    EXPECT_THAT(
        in_process().emitted(), ElementsAre("card.updated", "card.unblocked", "card.unlinked")
    );
    EXPECT_EQ(in_process().ask(web.fixture.owner, "unlink_cards", wanted).status, 404);
}

TEST(Links, AThirdCardDoesNotLendItsName) {
    Web web(3);
    const std::string link = web.link(0, 1, "relates").text("/id");
    const Answer refused = in_process().ask(
        web.fixture.owner, "unlink_cards", {{"card_id", web.ids[2]}, {"link_id", link}}
    );
    EXPECT_EQ(refused.status, 404);
}

TEST(Links, AHundredCardsWaitForOneAndNoMore) {
    Web web(102);
    for (std::size_t i = 1; i <= 100; ++i) EXPECT_EQ(web.link(0, i).status, 201);
    for (const Answer& refused :
         {web.link(0, 101), web.update(101, {{"blocked_by", {web.ids[0]}}})}) {
        EXPECT_EQ(refused.status, 409);
        EXPECT_EQ(refused.text("/additional_data/reason"), "too_many_links");
        EXPECT_EQ(refused.text("/additional_data/card_id"), web.ids[0]);
    }
    EXPECT_EQ(web.link(0, 100).status, 200) << "it waits already";
    EXPECT_EQ(web.update(100, {{"blocked_by", {web.ids[0], web.ids[101]}}}).status, 200);
}

TEST(Links, CirclesAreLookedForAmongTenThousand) {
    Web web(3);
    // What waits for the first card: a hundred times a hundred, and one more.
    const std::string first = web.ids[0];
    in_process().run(
        "WITH made AS ("
        " INSERT INTO cards (org_id, id, board_id, column_id, number, position, title, created_by,"
        "  last_edited_by) SELECT c.org_id, gen_random_uuid(), c.board_id, c.column_id, 1000 + n,"
        "  'V' || lpad(n::text, 7, '0'), 'Card', c.created_by, c.created_by"
        " FROM cards c, generate_series(1, 10001) n WHERE c.id = '" +
        first +
        "' RETURNING org_id, id, number, created_by)"
        " INSERT INTO card_links (org_id, card_id, kind, target_id, id, created_by)"
        " SELECT m.org_id, coalesce(p.id, '" +
        first +
        "'), 'blocks', m.id, gen_random_uuid(), m.created_by FROM made m"
        " LEFT JOIN made p ON p.number = 1000 + (m.number - 951) / 100"
    );
    EXPECT_EQ(web.link(0, 1).status, 201);
    const Answer refused = web.link(1, 0);
    EXPECT_EQ(refused.status, 409);
    const Answer far = web.link(2, 0);
    EXPECT_EQ(far.status, 409);
    EXPECT_EQ(far.text("/additional_data/reason"), "too_many_links");
}

TEST(Links, PartsOfPartsAreAThousandDeepAtMost) {
    Web web(2);
    // The last of a chain of 1,001 cards, each a part of the one before.
    const std::string last = in_process().run(
        "INSERT INTO cards (org_id, id, board_id, column_id, number, position, title, created_by,"
        "  last_edited_by, parent_card_id)"
        " SELECT c.org_id, md5('deep ' || c.id || n)::uuid, c.board_id, c.column_id, 1000 + n,"
        "  'V' || lpad(n::text, 7, '0'), 'Card', c.created_by, c.created_by,"
        "  CASE WHEN n > 1 THEN md5('deep ' || c.id || n - 1)::uuid END"
        " FROM cards c, generate_series(1, 1001) n WHERE c.id = '" +
        web.ids[0] + "'; SELECT id FROM cards WHERE number = 2001 AND board_id = '" +
        web.fixture.board.str() + "'"
    );
    const std::string above =
        in_process().run("SELECT parent_card_id FROM cards WHERE id = '" + last + "'");
    EXPECT_EQ(web.update(0, {{"parent_card_id", above}}).status, 200);
    const Answer refused = web.update(1, {{"parent_card_id", last}});
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/additional_data/reason"), "too_many_links");
}

TEST(Links, CirclesAreRefusedHoweverLong) {
    Web web(4);
    for (std::size_t i = 0; i + 1 < web.ids.size(); ++i) EXPECT_EQ(web.link(i, i + 1).status, 201);
    const Answer refused = web.link(3, 0);
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/additional_data/reason"), "circle");
    EXPECT_EQ(web.link(3, 0, "relates").status, 201) << "that makes nobody wait";
    EXPECT_EQ(web.update(0, {{"blocked_by", {web.ids[3]}}}).status, 409);
    EXPECT_EQ(web.update(0, {{"blocked_by", {web.ids[0]}}}).status, 409);
    EXPECT_EQ(web.link(0, 0).status, 422);
}

TEST(Links, TwoAtOnceNeverCloseACircle) {
    for (int round = 0; round < 10; ++round) {
        Web web(2);
        int first = 0, second = 0;
        std::thread other([&] { first = web.link(0, 1).status; });
        second = web.update(0, {{"blocked_by", {web.ids[1]}}}).status;
        other.join();
        EXPECT_EQ(std::max(first, second), 409);
        EXPECT_LT(std::min(first, second), 300);
    }
}

TEST(Links, RandomLinksOfManyAtOnceNeverCloseACircle) {
    Web web(8);
    std::vector<std::thread> linkers;
    for (unsigned seed = 0; seed < 4; ++seed)
        linkers.emplace_back([&web, seed] {
            std::mt19937 dice(seed);
            for (int i = 0; i < 15; ++i) {
                const int status = web.link(dice() % 8, dice() % 8).status;
                EXPECT_TRUE(status == 200 || status == 201 || status == 409 || status == 422)
                    << status;
            }
        });
    for (auto& linker : linkers) linker.join();
    EXPECT_EQ(
        in_process().run(
            "WITH RECURSIVE reach AS (SELECT card_id, target_id FROM card_links"
            " WHERE org_id = '" +
            web.fixture.owner.org_id->str() +
            "' UNION SELECT r.card_id, l.target_id FROM reach r JOIN card_links l"
            " ON l.card_id = r.target_id) SELECT count(*) FROM reach WHERE card_id = target_id"
        ),
        "0"
    );
}

TEST(Links, WhatTheCardShowsIsWhatTheLinksSay) {
    Web web(4);
    web.update(3, {{"blocked_by", {web.ids[0], web.ids[1], web.ids[0]}}});
    web.link(2, 3);
    EXPECT_EQ(web.update(3, {{"blocked_by", {web.ids[2], web.ids[1]}}}).status, 200);
    const auto shown = web.fixture.get(*Uuid::parse(web.ids[3])).body.at("blocked_by");
    EXPECT_EQ(shown, (value{web.ids[2], web.ids[1]}));
    EXPECT_EQ(
        in_process().run("SELECT count(*) FROM card_links WHERE target_id = '" + web.ids[3] + "'"),
        "2"
    );
}

TEST(Links, NobodyIsTiedToWhatHeCannotSee) {
    Web web(1);
    BoardFixture other;
    const std::string foreign = other.card(other.backlog).text("/id");
    const std::string unknown = new_uuid().str();
    for (const std::string& id : {foreign, unknown}) {
        EXPECT_EQ(web.link(web.ids[0], id).status, 422);
        EXPECT_EQ(web.update(0, {{"blocked_by", {id}}}).text("/detail/0/loc/1"), "blocked_by");
        EXPECT_EQ(
            web.update(0, {{"parent_card_id", id}}).text("/detail/0/loc/1"), "parent_card_id"
        );
        EXPECT_EQ(web.link(id, web.ids[0]).status, 404);
    }
}

TEST(Links, WhatACardIsTiedToAlreadyMayBeSentBack) {
    Web web(4);
    const Caller helper = in_process().person(web.fixture.owner, OrgRole::member, "Hal");
    const auto owners = [&](std::string_view operation, const value& arguments) {
        return in_process().must(web.fixture.owner, operation, arguments);
    };
    const std::string secret =
        owners("create_board", {{"name", "Secret"}, {"visibility", "private"}}).text("/id");
    const std::string column = owners("list_columns", {{"board_id", secret}}).text("/results/0/id");
    const std::string hidden =
        owners(
            "create_card", {{"board_id", secret}, {"column_id", column}, {"title", "X"}}
        ).text("/id");
    EXPECT_EQ(web.update(3, {{"blocked_by", {web.ids[0], web.ids[1], hidden}}}).status, 200);
    EXPECT_EQ(web.update(2, {{"parent_card_id", web.ids[0]}}).status, 200);
    owners("delete_card", {{"card_id", web.ids[0]}});
    const auto his = [&](std::size_t card, boost::json::object what) {
        what["card_id"] = web.ids.at(card);
        return in_process().ask(helper, "update_card", what);
    };
    const Answer more = his(3, {{"blocked_by", {web.ids[0], web.ids[1], hidden, web.ids[2]}}});
    EXPECT_EQ(more.status, 200) << boost::json::serialize(more.body);
    const Answer fewer = his(3, {{"blocked_by", {web.ids[0], hidden}}});
    EXPECT_EQ(fewer.body.at("blocked_by"), (value{web.ids[0], hidden}));
    EXPECT_EQ(fewer.body.at("blocked"), true);  // by the one that he does not see
    owners("delete_board", {{"board_id", secret}});
    const Answer trashed = his(3, {{"blocked_by", {hidden}}});
    EXPECT_EQ(trashed.body.at("blocked"), true);
    EXPECT_EQ(web.blocked(3), true);
    EXPECT_EQ(his(3, {{"blocked_by", {hidden, web.ids[0]}}}).status, 422);
    EXPECT_EQ(his(3, {{"blocked_by", boost::json::array{}}}).body.at("blocked"), false);
    EXPECT_EQ(his(3, {{"blocked_by", {web.ids[0], hidden}}}).status, 422);
    EXPECT_EQ(his(2, {{"parent_card_id", web.ids[0]}, {"title", "Part"}}).status, 200);
    EXPECT_EQ(his(1, {{"parent_card_id", web.ids[0]}}).status, 422);
}

TEST(Links, WhoeverMayOnlyLookAtTheOtherBoardHoldsNothingUpThere) {
    BoardFixture fixture;
    const Caller helper = in_process().person(fixture.owner, OrgRole::member, "Hal");
    const std::string board =
        in_process().must(fixture.owner, "create_board", {{"name", "Theirs"}}).text("/id");
    in_process().grant(*Uuid::parse(board), helper, "viewer");
    const std::string column =
        in_process().must(
                        fixture.owner, "list_columns", {{"board_id", board}}
        ).text("/results/0/id");
    const std::string here = fixture.card(fixture.backlog).text("/id");
    const std::string there =
        in_process()
            .must(
                fixture.owner,
                "create_card",
                {{"board_id", board}, {"column_id", column}, {"title", "There"}}
            )
            .text("/id");
    const auto link = [&](const std::string& card, const std::string& target, const char* type) {
        return in_process()
            .ask(helper, "link_cards", {{"card_id", card}, {"target_id", target}, {"type", type}})
            .status;
    };
    EXPECT_EQ(link(here, there, "blocks"), 403);
    EXPECT_EQ(link(there, here, "blocks"), 403);
    EXPECT_EQ(link(here, there, "relates"), 201);
}

TEST(Parents, APartIsNoWholeOfItsWhole) {
    Web web(3);
    EXPECT_EQ(web.update(1, {{"parent_card_id", web.ids[0]}}).status, 200);
    EXPECT_EQ(web.update(2, {{"parent_card_id", web.ids[1]}}).status, 200);
    for (std::size_t i = 0; i < 3; ++i) {
        const Answer refused = web.update(0, {{"parent_card_id", web.ids[i]}});
        EXPECT_EQ(refused.status, 409);
        EXPECT_EQ(refused.text("/additional_data/reason"), "circle");
    }
    EXPECT_EQ(web.update(1, {{"parent_card_id", nullptr}}).status, 200);
    EXPECT_EQ(web.update(0, {{"parent_card_id", web.ids[2]}}).status, 200);
}

TEST(Parents, TwoAtOnceNeverBecomePartsOfEachOther) {
    for (int round = 0; round < 10; ++round) {
        Web web(2);
        int first = 0, second = 0;
        std::thread other([&] { first = web.update(0, {{"parent_card_id", web.ids[1]}}).status; });
        second = web.update(1, {{"parent_card_id", web.ids[0]}}).status;
        other.join();
        EXPECT_EQ(std::max(first, second), 409);
        EXPECT_EQ(std::min(first, second), 200);
    }
}

TEST(Watching, IsBegunAndEndedOnceHoweverOftenAsked) {
    Web web(1);
    const Caller viewer = in_process().person(web.fixture.owner, OrgRole::viewer, "Vi");
    const Answer first = in_process().must(viewer, "watch_card", {{"card_id", web.ids[0]}});
    EXPECT_EQ(first.text("/watcher/name"), "Vi");
    EXPECT_EQ(in_process().must(viewer, "watch_card", {{"card_id", "DES-1"}}).body, first.body);
    const auto state = [&](const Caller& who) {
        return in_process().ask(who, "get_card_watch", {{"card_id", web.ids[0]}});
    };
    EXPECT_EQ(state(viewer).body.at("watching"), true);
    EXPECT_EQ(state(viewer).text("/since"), first.text("/created_time"));
    EXPECT_EQ(web.fixture.get(*Uuid::parse(web.ids[0])).number("/version"), 1);
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(in_process().ask(viewer, "unwatch_card", {{"card_id", web.ids[0]}}).status, 204);
    EXPECT_EQ(
        in_process().run("SELECT count(*) FROM card_watchers WHERE card_id = '" + web.ids[0] + "'"),
        "0"
    );
    EXPECT_TRUE(in_process().emitted().empty()) << "who looks is nobody else's business";
    EXPECT_EQ(state(viewer).body.at("watching"), false);
    EXPECT_TRUE(state(viewer).body.at("since").is_null());
    const Caller stranger = in_process().owner_of_new_org("Other");
    EXPECT_EQ(in_process().ask(stranger, "watch_card", {{"card_id", web.ids[0]}}).status, 404);
    EXPECT_EQ(state(stranger).status, 404);
}

}  // namespace svc::test
