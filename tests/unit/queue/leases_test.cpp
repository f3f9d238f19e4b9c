// Claiming and completing, on the real modules and database.

#include "tests/unit/queue/lease_steps.hpp"

#include <gmock/gmock.h>

#include <set>

namespace svc::test {

using boost::json::object;
using testing::ElementsAre;

// ---------------------------------------------------------------------------------- claiming

TEST(Claiming, GivesTheCardWithItsLeaseAndToken) {
    BoardFixture desk;
    const Answer made = desk.card(desk.queue, {{"title", "work"}});
    const Caller bot = in_process().agent(desk.owner, OrgRole::member, "Bot");
    const Answer claim = desk.claim(bot, {{"lease_ttl_seconds", 60}});
    EXPECT_TRUE(claim.body.at("claimed").as_bool());
    EXPECT_EQ(claim.text("/card/id"), made.text("/id"));
    EXPECT_EQ(claim.text("/card/queue/state"), "leased");
    EXPECT_EQ(claim.text("/card/lease/id"), claim.text("/lease/id"));
    EXPECT_EQ(claim.text("/lease/state"), "active");
    EXPECT_EQ(claim.text("/lease/holder/name"), "Bot");
    EXPECT_EQ(claim.text("/lease/holder/principal_type"), "agent");
    EXPECT_EQ(claim.number("/lease/attempt"), 1);
    EXPECT_EQ(claim.number("/lease/epoch"), 1);
    EXPECT_EQ(claim.number("/lease/lease_ttl_seconds"), 60);
    EXPECT_TRUE(claim.text("/lease_token").starts_with("lt_"));
    EXPECT_EQ(claim.body.at("card"), desk.get(made.id()).body);
    EXPECT_EQ(desk.get(made.id()).number("/version"), 1) << "a claim is no change of the card";
    const Answer lease =
        in_process().must(bot, "get_lease", {{"lease_id", claim.text("/lease/id")}});
    EXPECT_EQ(lease.body, claim.body.at("lease"));
}

TEST(Claiming, TheTokenIsNowhereInTheDatabase) {
    BoardFixture desk;
    desk.card(desk.queue);
    const std::string token = desk.claim().text("/lease_token");
    for (const char* where : {"queue", "outbox", "lease_outcomes"})
        EXPECT_EQ(
            in_process().run(
                "SELECT count(*) FROM " + std::string(where) + " t WHERE t::text LIKE '%" +
                token.substr(26) + "%'"
            ),
            "0"
        ) << where;
}

TEST(Claiming, AnEmptyColumnIsNoError) {
    BoardFixture desk;
    const Answer claim = desk.claim();
    EXPECT_EQ(claim.status, 200);
    EXPECT_FALSE(claim.body.at("claimed").as_bool());
    EXPECT_TRUE(claim.body.at("lease").is_null());
    EXPECT_TRUE(claim.body.at("card").is_null());
    EXPECT_GE(claim.number("/retry_after_seconds"), 1);
}

TEST(Claiming, AColumnThatIsNoQueueIsRefused) {
    BoardFixture desk;
    const Answer refused = in_process().ask(
        desk.owner,
        "claim_next_card",
        {{"board_id", desk.board.str()}, {"column_id", desk.backlog.str()}}
    );
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/additional_data/reason"), "not_a_queue");
}

TEST(Claiming, TakesAnEditorOfTheBoard) {
    BoardFixture desk;
    desk.card(desk.queue);
    const value where{{"board_id", desk.board.str()}, {"column_id", desk.queue.str()}};
    const Caller viewer = in_process().person(desk.owner, OrgRole::viewer, "Vi");
    const Caller stranger = in_process().owner_of_new_org("Other");
    const Caller limited = in_process().agent(desk.owner, OrgRole::member, "Bot");
    in_process().grant(desk.board, limited, "viewer");
    EXPECT_EQ(in_process().ask(viewer, "claim_next_card", where).status, 403);
    EXPECT_EQ(in_process().ask(stranger, "claim_next_card", where).status, 404);
    EXPECT_EQ(in_process().ask(limited, "claim_next_card", where).status, 403);
    EXPECT_TRUE(desk.claim().body.at("claimed").as_bool()) << "and takes nothing from a refusal";
}

TEST(Claiming, SixteenThreadsGetEachCardOnce) {
    BoardFixture desk;
    constexpr int cards = 120;
    for (int i = 0; i < cards; ++i) desk.card(desk.queue, {{"title", std::to_string(i)}});
    std::mutex mutex;
    std::multiset<std::string> claimed;
    std::vector<std::thread> workers;
    for (int t = 0; t < 16; ++t)
        workers.emplace_back([&] {
            for (;;) {
                const Answer claim = desk.claim();
                if (!claim.body.at("claimed").as_bool()) {
                    // Others may still hold the last ones in unfinished claims.
                    const std::scoped_lock lock(mutex);
                    if (claimed.size() == cards) return;
                    continue;
                }
                const std::scoped_lock lock(mutex);
                claimed.insert(claim.text("/card/title"));
            }
        });
    for (auto& worker : workers) worker.join();
    EXPECT_EQ(claimed.size(), static_cast<std::size_t>(cards));
    for (int i = 0; i < cards; ++i) EXPECT_EQ(claimed.count(std::to_string(i)), 1U) << i;
    EXPECT_EQ(
        in_process().run("SELECT count(*) FROM outbox WHERE kind = 'lease.claimed'"),
        std::to_string(cards)
    );
}

TEST(Claiming, GoesByUrgencyThenByWhatPeopleSeeOnTop) {
    BoardFixture desk;
    desk.card(desk.queue, {{"title", "low"}, {"priority", "low"}});
    const std::string a = desk.card(desk.queue, {{"title", "a"}, {"priority", "high"}}).text("/id");
    const std::string b = desk.card(desk.queue, {{"title", "b"}, {"priority", "high"}}).text("/id");
    desk.card(desk.queue, {{"title", "c"}, {"priority", "high"}});
    in_process().must(
        desk.owner, "move_card", {{"card_id", b}, {"column_id", desk.queue.str()}, {"before_id", a}}
    );
    const std::string late = desk.card(desk.queue, {{"title", "late"}}).text("/id");
    in_process().must(desk.owner, "update_card", {{"card_id", late}, {"priority", "urgent"}});
    EXPECT_THAT(claim_all(desk), ElementsAre("late", "b", "a", "c", "low"));
}

TEST(Claiming, GoesByWhatPeopleSeeAlsoWhereCardsAreCrowded) {
    for (const value& order : {value("priority"), value("due")}) {
        BoardFixture desk(object{{"enabled", true}, {"order", order}});
        for (int i = 0; i < 6; ++i) desk.card(desk.queue, {{"title", std::to_string(i)}});
        // As if hundreds had been dropped into one gap.
        in_process().run(
            "WITH crowded AS (UPDATE cards SET position = 'V0000000' || repeat('V', 60) || "
            "position || 'V' WHERE board_id = '" +
            desk.board.str() +
            "' RETURNING id, position) UPDATE queue q SET place = c.position FROM crowded c WHERE "
            "q.card_id = c.id"
        );
        const auto id = [&](int number) {
            return in_process().run(
                "SELECT id FROM cards WHERE title = '" + std::to_string(number) +
                "' AND board_id = '" + desk.board.str() + "'"
            );
        };
        in_process().must(
            desk.owner,
            "move_card",
            {{"card_id", id(5)}, {"column_id", desk.queue.str()}, {"after_id", id(0)}}
        );
        desk.card(desk.queue, {{"title", "new"}, {"after_id", id(1)}});
        const auto seen = desk.titles(desk.queue);
        EXPECT_THAT(seen, ElementsAre("0", "5", "1", "new", "2", "3", "4"));
        EXPECT_EQ(claim_all(desk), seen);
    }
}

TEST(Claiming, AFirstInFirstOutColumnIgnoresWhatIsMovedWithin) {
    BoardFixture desk({{"enabled", true}, {"order", "fifo"}});
    const std::string a = desk.card(desk.queue, {{"title", "a"}}).text("/id");
    desk.card(desk.queue, {{"title", "b"}, {"priority", "urgent"}});
    in_process().must(desk.owner, "move_card", {{"card_id", a}, {"column_id", desk.queue.str()}});
    EXPECT_THAT(desk.titles(desk.queue), ElementsAre("b", "a"));
    EXPECT_THAT(claim_all(desk), ElementsAre("a", "b"));
}

TEST(Claiming, ADueColumnGoesByDueDate) {
    BoardFixture desk({{"enabled", true}, {"order", "due"}});
    desk.card(desk.queue, {{"title", "never"}});
    const std::string later =
        desk.card(desk.queue, {{"title", "later"}, {"due", "2026-07-01"}}).text("/id");
    desk.card(desk.queue, {{"title", "soon"}, {"due", "2026-06-20"}});
    in_process().must(
        desk.owner, "update_card", {{"card_id", later}, {"due", "2026-06-19T12:00:00Z"}}
    );
    EXPECT_THAT(claim_all(desk), ElementsAre("later", "soon", "never"));
}

TEST(Claiming, AHookMayRefuseAndTheCardStays) {
    BoardFixture desk;
    desk.card(desk.queue);
    static std::atomic<bool> refuse{false};
    static const bool once = [] {
        in_process().kernel().before("lease.claimed", [](Call&, const Event&) -> Verdict {
            if (!refuse) return allow;
            return Refusal{"closed", "No claims today."};
        });
        return true;
    }();
    ASSERT_TRUE(once);
    refuse = true;
    const Answer refused = in_process().ask(
        desk.owner,
        "claim_next_card",
        {{"board_id", desk.board.str()}, {"column_id", desk.queue.str()}}
    );
    refuse = false;
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/code"), "closed");
    EXPECT_EQ(desk.claim().number("/lease/epoch"), 1);
}

// -------------------------------------------------------------------------------- completing

TEST(Completing, SendsTheCardToTheNextColumn) {
    BoardFixture desk;
    desk.card(desk.queue);
    const Answer claim = desk.claim();
    in_process().forget_events();
    const Answer done = say(desk.owner, "complete_lease", claim, {{"result", {{"answer", 42}}}});
    ASSERT_EQ(done.status, 200);
    EXPECT_EQ(done.text("/lease/state"), "completed");
    EXPECT_EQ(done.number("/lease/result/answer"), 42);
    EXPECT_TRUE(done.body.at_pointer("/lease/ended_at").is_string());
    EXPECT_EQ(done.text("/card/column_id"), desk.done.str());
    EXPECT_TRUE(done.body.at_pointer("/card/completed_at").is_string());
    EXPECT_EQ(done.text("/card/queue/state"), "idle");
    EXPECT_TRUE(done.body.at_pointer("/card/lease").is_null());
    EXPECT_EQ(done.body.at("card"), desk.get(claim.id("/card/id")).body);
    EXPECT_THAT(in_process().told(), ElementsAre("card.moved", "lease.completed"));
    const Answer lease =
        in_process().must(desk.owner, "get_lease", {{"lease_id", claim.text("/lease/id")}});
    EXPECT_EQ(lease.body, done.body.at("lease"));
}

TEST(Completing, GoesWhereItIsSaidOrWhereTheColumnSays) {
    BoardFixture desk;
    const Uuid review = desk.column({{"name", "Review"}});
    in_process().run(
        "UPDATE columns SET on_complete_column_id = '" + review.str() + "' WHERE id = '" +
        desk.queue.str() + "'"
    );
    desk.card(desk.queue);
    desk.card(desk.queue);
    const Answer by_column = say(desk.owner, "complete_lease", desk.claim());
    EXPECT_EQ(by_column.text("/card/column_id"), review.str());
    const Answer by_name =
        say(desk.owner, "complete_lease", desk.claim(), {{"target_column_id", desk.backlog.str()}});
    EXPECT_EQ(by_name.text("/card/column_id"), desk.backlog.str());
}

TEST(Completing, IntoAnotherQueueMakesTheCardReadyThereAfresh) {
    BoardFixture desk;
    const Uuid next =
        desk.column({{"name", "Next"}, {"kind", "queue"}, {"after_id", desk.queue.str()}});
    desk.card(desk.queue);
    const Answer failed = desk.claim();
    say(desk.owner, "fail_lease", failed, {{"retry_after_seconds", 0}});
    const Answer done = say(desk.owner, "complete_lease", desk.claim());
    EXPECT_EQ(done.text("/card/column_id"), next.str());
    EXPECT_EQ(done.text("/card/queue/state"), "ready");
    EXPECT_EQ(done.number("/card/queue/attempts"), 0);
    EXPECT_EQ(done.body.at("card"), desk.get(done.id("/card/id")).body);
    const Answer claim = in_process().must(
        desk.owner, "claim_next_card", {{"board_id", desk.board.str()}, {"column_id", next.str()}}
    );
    EXPECT_EQ(claim.number("/lease/attempt"), 1);
    EXPECT_EQ(claim.number("/lease/epoch"), 3) << "the fence never falls";
}

TEST(Completing, BackIntoItsOwnQueueMakesItReadyAgain) {
    BoardFixture desk;
    desk.card(desk.queue);
    const Answer done =
        say(desk.owner, "complete_lease", desk.claim(), {{"target_column_id", desk.queue.str()}});
    EXPECT_EQ(done.text("/card/queue/state"), "ready");
    EXPECT_EQ(done.body.at("card"), desk.get(done.id("/card/id")).body);
    EXPECT_EQ(desk.claim().number("/lease/epoch"), 2);
}

TEST(Completing, InTheLastColumnEndsTheWorkThere) {
    BoardFixture desk;
    in_process().run("UPDATE columns SET in_trash = true WHERE id = '" + desk.done.str() + "'");
    desk.card(desk.queue);
    const Answer done = say(desk.owner, "complete_lease", desk.claim());
    ASSERT_EQ(done.status, 200);
    EXPECT_EQ(done.text("/card/column_id"), desk.queue.str());
    EXPECT_EQ(done.text("/card/queue/state"), "idle");
    EXPECT_EQ(done.body.at("card"), desk.get(done.id("/card/id")).body);
    EXPECT_FALSE(desk.claim().body.at("claimed").as_bool());
}

TEST(Completing, IntoAFullColumnIsRefusedAndTheLeaseHolds) {
    BoardFixture desk;
    const Uuid tight = desk.column({{"name", "Tight"}, {"wip_limit", 1}, {"wip_policy", "hard"}});
    const std::string first = desk.card(tight).text("/id");
    desk.card(desk.queue);
    const Answer claim = desk.claim();
    const boost::json::object there{{"target_column_id", tight.str()}};
    const Answer refused = say(desk.owner, "complete_lease", claim, there);
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/code"), "wip_limit_reached");
    in_process().must(
        desk.owner, "move_card", {{"card_id", first}, {"column_id", desk.done.str()}}
    );
    EXPECT_EQ(say(desk.owner, "complete_lease", claim, there).status, 200);
}

TEST(Completing, ACardOfAnotherBoardsColumnIsRefused) {
    BoardFixture desk, other;
    desk.card(desk.queue);
    const Answer refused =
        say(desk.owner, "complete_lease", desk.claim(), {{"target_column_id", other.done.str()}});
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(refused.text("/detail/0/loc/1"), "target_column_id");
}

TEST(Completing, ALargeResultIsRefused) {
    BoardFixture desk;
    desk.card(desk.queue);
    const Answer claim = desk.claim();
    const boost::json::object large{{"result", {{"text", std::string(70'000, 'x')}}}};
    EXPECT_EQ(say(desk.owner, "complete_lease", claim, large).status, 422);
    const boost::json::object no_object{{"result", {1, 2}}};
    EXPECT_EQ(say(desk.owner, "complete_lease", claim, no_object).status, 422);
}

}  // namespace svc::test
