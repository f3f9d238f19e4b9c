// Claiming and completing, on the real modules and database.

#include "tests/unit/queue/lease_steps.hpp"

#include <gmock/gmock.h>

namespace svc::test {

using boost::json::object;
using testing::ElementsAre;

// ---------------------------------------------------------------------------------- claiming

TEST(Claiming, GivesTheCardWithItsLeaseAndToken) {
    BoardFixture fixture;
    const Answer made = fixture.card(fixture.queue, {{"title", "work"}});
    const Caller bot = in_process().agent(fixture.owner, OrgRole::member, "Bot");
    const Answer claim = fixture.claim(bot, {{"lease_ttl_seconds", 60}});
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
    EXPECT_EQ(claim.body.at("card"), fixture.get(made.id()).body);
    EXPECT_EQ(fixture.get(made.id()).number("/version"), 1) << "a claim is no change of the card";
    const Answer lease =
        in_process().must(bot, "get_lease", {{"lease_id", claim.text("/lease/id")}});
    EXPECT_EQ(lease.body, claim.body.at("lease"));
}

TEST(Claiming, TheTokenIsNowhereInTheDatabase) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    const std::string token = fixture.claim().text("/lease_token");
    for (const char* where : {"queue", "event_log", "lease_outcomes"})
        EXPECT_EQ(
            in_process().run(
                "SELECT count(*) FROM " + std::string(where) + " t WHERE t::text LIKE '%" +
                token.substr(26) + "%'"
            ),
            "0"
        ) << where;
}

// A script is a file: no row names it before it holds something.
TEST(Claiming, ByAScriptIsSeenByEverybodyUnderItsName) {
    BoardFixture fixture;
    const Answer made = fixture.card(fixture.queue);
    Caller script = fixture.owner;
    script.type = PrincipalType::automation;
    script.id = new_uuid();
    script.name = "sweep.lua";
    script.user_id.reset();
    script.surface = Surface::automation;
    for (const char* name : {"sweep.lua", "broom.lua"}) {
        script.name = name;
        const Answer claim = fixture.claim(script);
        ASSERT_TRUE(claim.body.at("claimed").as_bool());
        EXPECT_EQ(claim.text("/lease/holder/name"), name);
        EXPECT_EQ(claim.body.at("card"), fixture.get(made.id()).body);
        const Answer lease =
            in_process().must(fixture.owner, "get_lease", {{"lease_id", claim.text("/lease/id")}});
        EXPECT_EQ(lease.body, claim.body.at("lease"));
        EXPECT_EQ(say(script, "release_lease", claim).status, 200);
    }
    fixture.claim(script);
    in_process().run("DELETE FROM principals WHERE type = 'automation'");
    EXPECT_EQ(fixture.get(made.id()).text("/lease/holder/principal_type"), "automation");
    const Answer leases =
        in_process().must(fixture.owner, "list_leases", {{"card_id", made.text("/id")}});
    EXPECT_EQ(leases.text("/results/0/holder/id"), script.id.str());
    EXPECT_TRUE(leases.body.at_pointer("/results/0/holder/name").is_null());
}

TEST(Claiming, AnEmptyColumnIsNoError) {
    BoardFixture fixture;
    const Answer claim = fixture.claim();
    EXPECT_EQ(claim.status, 200);
    EXPECT_FALSE(claim.body.at("claimed").as_bool());
    EXPECT_TRUE(claim.body.at("lease").is_null());
    EXPECT_TRUE(claim.body.at("card").is_null());
    EXPECT_GE(claim.number("/retry_after_seconds"), 1);
}

TEST(Claiming, AColumnThatIsNoQueueIsRefused) {
    BoardFixture fixture;
    const Answer refused = in_process().ask(
        fixture.owner,
        "claim_next_card",
        {{"board_id", fixture.board.str()}, {"column_id", fixture.backlog.str()}}
    );
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/additional_data/reason"), "not_a_queue");
}

TEST(Claiming, TakesAnEditorOfTheBoard) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    const value where{{"board_id", fixture.board.str()}, {"column_id", fixture.queue.str()}};
    const Caller viewer = in_process().person(fixture.owner, OrgRole::viewer, "Vi");
    const Caller stranger = in_process().owner_of_new_org("Other");
    const Caller limited = in_process().agent(fixture.owner, OrgRole::member, "Bot");
    in_process().grant(fixture.board, limited, "viewer");
    EXPECT_EQ(in_process().ask(viewer, "claim_next_card", where).status, 403);
    EXPECT_EQ(in_process().ask(stranger, "claim_next_card", where).status, 404);
    EXPECT_EQ(in_process().ask(limited, "claim_next_card", where).status, 403);
    EXPECT_TRUE(fixture.claim().body.at("claimed").as_bool()) << "and takes nothing from a refusal";
}

TEST(Claiming, SixteenThreadsGetEachCardOnce) {
    BoardFixture fixture;
    constexpr int cards = 120;
    for (int i = 0; i < cards; ++i) fixture.card(fixture.queue, {{"title", std::to_string(i)}});
    std::mutex mutex;
    std::multiset<std::string> claimed;
    std::vector<std::thread> workers;
    for (int t = 0; t < 16; ++t)
        workers.emplace_back([&] {
            for (;;) {
                const Answer claim = fixture.claim();
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
        in_process().run("SELECT count(*) FROM event_log WHERE kind = 'lease.claimed'"),
        std::to_string(cards)
    );
}

TEST(Claiming, GoesByUrgencyThenByWhatPeopleSeeOnTop) {
    BoardFixture fixture;
    fixture.card(fixture.queue, {{"title", "low"}, {"priority", "low"}});
    const std::string a =
        fixture.card(fixture.queue, {{"title", "a"}, {"priority", "high"}}).text("/id");
    const std::string b =
        fixture.card(fixture.queue, {{"title", "b"}, {"priority", "high"}}).text("/id");
    fixture.card(fixture.queue, {{"title", "c"}, {"priority", "high"}});
    in_process().must(
        fixture.owner,
        "move_card",
        {{"card_id", b}, {"column_id", fixture.queue.str()}, {"before_id", a}}
    );
    const std::string late = fixture.card(fixture.queue, {{"title", "late"}}).text("/id");
    in_process().must(fixture.owner, "update_card", {{"card_id", late}, {"priority", "urgent"}});
    EXPECT_THAT(claim_all(fixture), ElementsAre("late", "b", "a", "c", "low"));
}

TEST(Claiming, GoesByWhatPeopleSeeAlsoWhereCardsAreCrowded) {
    for (const value& order : {value("priority"), value("due")}) {
        BoardFixture fixture(object{{"enabled", true}, {"order", order}});
        for (int i = 0; i < 6; ++i) fixture.card(fixture.queue, {{"title", std::to_string(i)}});
        // As if hundreds had been dropped into one gap.
        in_process().run(
            "WITH crowded AS (UPDATE cards SET position = 'V0000000' || repeat('V', 60) || "
            "position || 'V' WHERE board_id = '" +
            fixture.board.str() +
            "' RETURNING id, position) UPDATE queue q SET place = c.position FROM crowded c WHERE "
            "q.card_id = c.id"
        );
        const auto id = [&](int number) {
            return in_process().run(
                "SELECT id FROM cards WHERE title = '" + std::to_string(number) +
                "' AND board_id = '" + fixture.board.str() + "'"
            );
        };
        in_process().must(
            fixture.owner,
            "move_card",
            {{"card_id", id(5)}, {"column_id", fixture.queue.str()}, {"after_id", id(0)}}
        );
        fixture.card(fixture.queue, {{"title", "new"}, {"after_id", id(1)}});
        const auto seen = fixture.titles(fixture.queue);
        EXPECT_THAT(seen, ElementsAre("0", "5", "1", "new", "2", "3", "4"));
        EXPECT_EQ(claim_all(fixture), seen);
    }
}

TEST(Claiming, AFirstInFirstOutColumnIgnoresWhatIsMovedWithin) {
    BoardFixture fixture({{"enabled", true}, {"order", "fifo"}});
    const std::string a = fixture.card(fixture.queue, {{"title", "a"}}).text("/id");
    fixture.card(fixture.queue, {{"title", "b"}, {"priority", "urgent"}});
    in_process().must(
        fixture.owner, "move_card", {{"card_id", a}, {"column_id", fixture.queue.str()}}
    );
    EXPECT_THAT(fixture.titles(fixture.queue), ElementsAre("b", "a"));
    EXPECT_THAT(claim_all(fixture), ElementsAre("a", "b"));
}

TEST(Claiming, AFirstInFirstOutColumnKnowsTheMicrosecondThatACardCame) {
    BoardFixture fixture({{"enabled", true}, {"order", "fifo"}});
    const std::string card = fixture.card(fixture.queue).text("/id");
    const auto place = [&] {
        return in_process().run("SELECT place FROM queue WHERE card_id = '" + card + "'");
    };
    const testing::Matcher<std::string> exact =
        testing::MatchesRegex("[0-9-]{10}T[0-9:]{8}\\.[0-9]{6}Z");
    const auto must = [&](const char* operation, object what) {
        in_process().must(fixture.owner, operation, what);
    };
    EXPECT_THAT(place(), exact) << "created";
    for (const Uuid& each : {fixture.backlog, fixture.queue})
        must("move_card", {{"card_id", card}, {"column_id", each.str()}});
    EXPECT_THAT(place(), exact) << "moved in";
    for (const char* order : {"priority", "fifo"})
        must(
            "update_column",
            {{"board_id", fixture.board.str()},
             {"column_id", fixture.queue.str()},
             {"queue", object{{"order", order}}}}
        );
    EXPECT_THAT(place(), exact) << "in another order";
}

TEST(Claiming, ADueColumnGoesByDueDate) {
    BoardFixture fixture({{"enabled", true}, {"order", "due"}});
    fixture.card(fixture.queue, {{"title", "never"}});
    const std::string later =
        fixture.card(fixture.queue, {{"title", "later"}, {"due", "2026-07-01"}}).text("/id");
    fixture.card(fixture.queue, {{"title", "soon"}, {"due", "2026-06-20"}});
    in_process().must(
        fixture.owner, "update_card", {{"card_id", later}, {"due", "2026-06-19T12:00:00Z"}}
    );
    EXPECT_THAT(claim_all(fixture), ElementsAre("later", "soon", "never"));
}

TEST(Claiming, AHookMayRefuseAndTheCardStays) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    static std::atomic<bool> refuse{false};
    static const bool once = [] {
        in_process().kernel().veto(
            in_process().kernel().event_kind("lease.claimed"),
            [](Call&, const Event&) -> Verdict {
                if (!refuse) return allow;
                return Refusal{"closed", "No claims today."};
            }
        );
        return true;
    }();
    ASSERT_TRUE(once);
    refuse = true;
    const Answer refused = in_process().ask(
        fixture.owner,
        "claim_next_card",
        {{"board_id", fixture.board.str()}, {"column_id", fixture.queue.str()}}
    );
    refuse = false;
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/code"), "closed");
    fixture.card(fixture.queue);
    const Answer claim = fixture.claim(fixture.owner, {{"max_cards", 2}});
    EXPECT_EQ(claim.number("/lease/epoch"), 1);
    EXPECT_EQ(claim.body.at("additional_claims").as_array().size(), 0u) << "one at a time";
}

// -------------------------------------------------------------------------------- completing

TEST(Completing, SendsTheCardToTheNextColumn) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    const Answer claim = fixture.claim();
    in_process().forget_events();
    const Answer done = say(fixture.owner, "complete_lease", claim, {{"result", {{"answer", 42}}}});
    ASSERT_EQ(done.status, 200);
    EXPECT_EQ(done.text("/lease/state"), "completed");
    EXPECT_EQ(done.number("/lease/result/answer"), 42);
    EXPECT_TRUE(done.body.at_pointer("/lease/ended_at").is_string());
    EXPECT_EQ(done.text("/card/column_id"), fixture.done.str());
    EXPECT_TRUE(done.body.at_pointer("/card/completed_at").is_string());
    EXPECT_EQ(done.text("/card/queue/state"), "idle");
    EXPECT_TRUE(done.body.at_pointer("/card/lease").is_null());
    EXPECT_EQ(done.body.at("card"), fixture.get(claim.id("/card/id")).body);
    EXPECT_THAT(in_process().emitted(), ElementsAre("card.moved", "lease.completed"));
    const Answer lease =
        in_process().must(fixture.owner, "get_lease", {{"lease_id", claim.text("/lease/id")}});
    EXPECT_EQ(lease.body, done.body.at("lease"));
}

TEST(Completing, GoesWhereItIsSaidOrWhereTheColumnSays) {
    BoardFixture fixture;
    const Uuid review = fixture.column({{"name", "Review"}});
    in_process().run(
        "UPDATE columns SET on_complete_column_id = '" + review.str() + "' WHERE id = '" +
        fixture.queue.str() + "'"
    );
    fixture.card(fixture.queue);
    fixture.card(fixture.queue);
    const Answer by_column = say(fixture.owner, "complete_lease", fixture.claim());
    EXPECT_EQ(by_column.text("/card/column_id"), review.str());
    const Answer by_name =
        say(fixture.owner,
            "complete_lease",
            fixture.claim(),
            {{"target_column_id", fixture.backlog.str()}});
    EXPECT_EQ(by_name.text("/card/column_id"), fixture.backlog.str());
}

TEST(Completing, IntoAnotherQueueMakesTheCardReadyThereAfresh) {
    BoardFixture fixture;
    const Uuid next =
        fixture.column({{"name", "Next"}, {"kind", "queue"}, {"after_id", fixture.queue.str()}});
    fixture.card(fixture.queue);
    const Answer failed = fixture.claim();
    say(fixture.owner, "fail_lease", failed, {{"retry_after_seconds", 0}});
    const Answer done = say(fixture.owner, "complete_lease", fixture.claim());
    EXPECT_EQ(done.text("/card/column_id"), next.str());
    EXPECT_EQ(done.text("/card/queue/state"), "ready");
    EXPECT_EQ(done.number("/card/queue/attempts"), 0);
    EXPECT_EQ(done.body.at("card"), fixture.get(done.id("/card/id")).body);
    const Answer claim = in_process().must(
        fixture.owner,
        "claim_next_card",
        {{"board_id", fixture.board.str()}, {"column_id", next.str()}}
    );
    EXPECT_EQ(claim.number("/lease/attempt"), 1);
    EXPECT_EQ(claim.number("/lease/epoch"), 3) << "the fence never falls";
}

TEST(Completing, BackIntoItsOwnQueueMakesItReadyAgain) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    const Answer done =
        say(fixture.owner,
            "complete_lease",
            fixture.claim(),
            {{"target_column_id", fixture.queue.str()}});
    EXPECT_EQ(done.text("/card/queue/state"), "ready");
    EXPECT_EQ(done.body.at("card"), fixture.get(done.id("/card/id")).body);
    EXPECT_EQ(fixture.claim().number("/lease/epoch"), 2);
}

TEST(Completing, InTheLastColumnEndsTheWorkThere) {
    BoardFixture fixture;
    in_process().run("UPDATE columns SET in_trash = true WHERE id = '" + fixture.done.str() + "'");
    fixture.card(fixture.queue);
    const Answer done = say(fixture.owner, "complete_lease", fixture.claim());
    ASSERT_EQ(done.status, 200);
    EXPECT_EQ(done.text("/card/column_id"), fixture.queue.str());
    EXPECT_EQ(done.text("/card/queue/state"), "idle");
    EXPECT_EQ(done.body.at("card"), fixture.get(done.id("/card/id")).body);
    EXPECT_FALSE(fixture.claim().body.at("claimed").as_bool());
}

TEST(Completing, IntoAFullColumnIsRefusedAndTheLeaseHolds) {
    BoardFixture fixture;
    const Uuid tight =
        fixture.column({{"name", "Tight"}, {"wip_limit", 1}, {"wip_policy", "hard"}});
    const std::string first = fixture.card(tight).text("/id");
    fixture.card(fixture.queue);
    const Answer claim = fixture.claim();
    const boost::json::object there{{"target_column_id", tight.str()}};
    const Answer refused = say(fixture.owner, "complete_lease", claim, there);
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/code"), "wip_limit_reached");
    in_process().must(
        fixture.owner, "move_card", {{"card_id", first}, {"column_id", fixture.done.str()}}
    );
    EXPECT_EQ(say(fixture.owner, "complete_lease", claim, there).status, 200);
}

TEST(Completing, ACardOfAnotherBoardsColumnIsRefused) {
    BoardFixture fixture, other;
    fixture.card(fixture.queue);
    const Answer refused = say(
        fixture.owner, "complete_lease", fixture.claim(), {{"target_column_id", other.done.str()}}
    );
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(refused.text("/detail/0/loc/1"), "target_column_id");
}

TEST(Completing, ALargeResultIsRefused) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    const Answer claim = fixture.claim();
    const boost::json::object large{{"result", {{"text", std::string(70'000, 'x')}}}};
    EXPECT_EQ(say(fixture.owner, "complete_lease", claim, large).status, 422);
    const boost::json::object no_object{{"result", {1, 2}}};
    EXPECT_EQ(say(fixture.owner, "complete_lease", claim, no_object).status, 422);
}

}  // namespace svc::test
