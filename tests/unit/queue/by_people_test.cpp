// What people do to queues and see of them, on the real modules and database.

#include "tests/unit/queue/lease_steps.hpp"

#include <gmock/gmock.h>

namespace svc::test {

using boost::json::object;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

namespace {

Answer do_to(const Caller& who, const char* operation, const Uuid& card) {
    return in_process().ask(who, operation, {{"card_id", card.str()}});
}

Answer revoke(const Caller& who, const Answer& claim) {
    return in_process().ask(who, "revoke_lease", {{"lease_id", claim.text("/lease/id")}});
}

std::string reason(const Answer& refused) { return refused.text("/additional_data/reason"); }

bool claims_nothing(BoardFixture& fixture) { return !fixture.claim().body.at("claimed").as_bool(); }

}  // namespace

// --------------------------------------------------------------------------- hold and requeue

TEST(HoldAndRequeue, AHeldCardIsGivenToNobodyUntilItIsRequeued) {
    BoardFixture fixture;
    const Uuid card = fixture.card(fixture.queue).id();
    in_process().forget_events();
    const Answer held = do_to(fixture.owner, "hold_card", card);
    ASSERT_EQ(held.status, 200);
    EXPECT_EQ(held.text("/queue/state"), "held");
    EXPECT_EQ(held.body, fixture.get(card).body);
    EXPECT_TRUE(claims_nothing(fixture));
    EXPECT_EQ(do_to(fixture.owner, "hold_card", card).body, held.body);
    const Answer ready = do_to(fixture.owner, "requeue_card", card);
    EXPECT_EQ(ready.text("/queue/state"), "ready");
    EXPECT_EQ(do_to(fixture.owner, "requeue_card", card).body, ready.body);
    EXPECT_THAT(in_process().emitted(), ElementsAre("card.held", "card.requeued"));
    EXPECT_EQ(fixture.claim().text("/card/id"), card.str());
}

TEST(HoldAndRequeue, AnExhaustedCardStartsAfresh) {
    BoardFixture fixture({{"enabled", true}, {"max_attempts", 1}});
    const Uuid card = fixture.card(fixture.queue).id();
    say(fixture.owner, "fail_lease", fixture.claim(), {{"error", "no paper"}});
    ASSERT_EQ(fixture.get(card).text("/queue/state"), "exhausted");
    const Answer ready = do_to(fixture.owner, "requeue_card", card);
    EXPECT_EQ(ready.text("/queue/state"), "ready");
    EXPECT_EQ(ready.number("/queue/attempts"), 0);
    EXPECT_EQ(ready.text("/queue/last_error"), "no paper") << "for the next who tries";
    EXPECT_EQ(fixture.claim().number("/lease/attempt"), 1);
}

TEST(HoldAndRequeue, APauseIsCutShortAndNotEndedWhileHeld) {
    BoardFixture fixture;
    const Uuid card = fixture.card(fixture.queue).id();
    const Answer claim = fixture.claim();
    say(fixture.owner, "fail_lease", claim, {{"retry_after_seconds", 600}});
    ASSERT_EQ(fixture.get(card).text("/queue/state"), "backoff");
    EXPECT_EQ(do_to(fixture.owner, "hold_card", card).text("/queue/state"), "held");
    in_process().run_job("queue.end_pauses");
    EXPECT_EQ(fixture.get(card).text("/queue/state"), "held");
    EXPECT_EQ(do_to(fixture.owner, "requeue_card", card).text("/queue/state"), "ready");
}

TEST(HoldAndRequeue, ACardThatIsWorkedOnIsLeftAlone) {
    BoardFixture fixture;
    const Uuid card = fixture.card(fixture.queue).id();
    const Answer claim = fixture.claim();
    for (const char* each : {"hold_card", "requeue_card"}) {
        const Answer refused = do_to(fixture.owner, each, card);
        EXPECT_EQ(refused.status, 409);
        EXPECT_EQ(reason(refused), "card_leased");
    }
    EXPECT_EQ(say(fixture.owner, "complete_lease", claim).status, 200);
    for (const char* each : {"hold_card", "requeue_card"})
        EXPECT_EQ(reason(do_to(fixture.owner, each, card)), "not_queued") << each;
}

TEST(HoldAndRequeue, AreForEditors) {
    BoardFixture fixture, elsewhere;
    const Uuid card = fixture.card(fixture.queue).id();
    const Caller viewer = in_process().person(fixture.owner, OrgRole::viewer, "Vera");
    for (const char* each : {"hold_card", "requeue_card"}) {
        EXPECT_EQ(do_to(viewer, each, card).status, 403) << each;
        EXPECT_EQ(do_to(elsewhere.owner, each, card).status, 404) << each;
        EXPECT_EQ(do_to(fixture.owner, each, new_uuid()).status, 404) << each;
    }
    EXPECT_EQ(fixture.get(card).text("/queue/state"), "ready");
}

// ------------------------------------------------------------------------------------ revoke

TEST(Revoking, TakesTheCardBackWithoutCountingAnAttempt) {
    BoardFixture fixture;
    const Caller bot = in_process().agent(fixture.owner, OrgRole::member, "Bot");
    const Uuid card = fixture.card(fixture.queue).id();
    const Answer claim = fixture.claim(bot);
    in_process().forget_events();
    const Answer revoked = revoke(fixture.owner, claim);
    ASSERT_EQ(revoked.status, 200);
    EXPECT_EQ(revoked.text("/lease/state"), "revoked");
    EXPECT_EQ(revoked.text("/card/queue/state"), "ready");
    EXPECT_EQ(revoked.number("/card/queue/attempts"), 0);
    EXPECT_EQ(revoked.body.at("card"), fixture.get(card).body);
    EXPECT_EQ(revoke(fixture.owner, claim).body, revoked.body) << "again";
    EXPECT_THAT(in_process().emitted(), ElementsAre("lease.revoked"));
    const Answer late = say(bot, "complete_lease", claim);
    EXPECT_EQ(late.status, 409);
    EXPECT_EQ(late.text("/code"), "lease_lost");
    EXPECT_EQ(late.text("/additional_data/outcome"), "revoked");
    EXPECT_EQ(fixture.claim(bot).text("/card/id"), card.str());
}

TEST(Revoking, IsAPersonsWhateverTheRoleOfAnAgent) {
    BoardFixture fixture;
    const Caller bot = in_process().agent(fixture.owner, OrgRole::admin, "Bot");
    fixture.card(fixture.queue);
    const Answer claim = fixture.claim(bot);
    const Answer refused = revoke(bot, claim);
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(refused.text("/code"), "restricted_resource");
    EXPECT_EQ(say(bot, "release_lease", claim).status, 200) << "it is live still";
}

TEST(Revoking, IsForAdminsOfTheBoardAndLiveLeases) {
    BoardFixture fixture, elsewhere;
    const Caller member = in_process().person(fixture.owner, OrgRole::member, "Max");
    fixture.card(fixture.queue);
    const Answer claim = fixture.claim();
    EXPECT_EQ(revoke(member, claim).status, 403);
    EXPECT_EQ(revoke(elsewhere.owner, claim).status, 404);
    EXPECT_EQ(
        in_process().ask(fixture.owner, "revoke_lease", {{"lease_id", new_uuid().str()}}).status,
        404
    );
    EXPECT_EQ(say(fixture.owner, "complete_lease", claim).status, 200);
    const Answer late = revoke(fixture.owner, claim);
    EXPECT_EQ(late.status, 409);
    EXPECT_EQ(late.text("/additional_data/outcome"), "completed");
}

// ------------------------------------------------------------------------------------- lists

TEST(Queues, AreListedWhereTheCallerMayClaim) {
    BoardFixture fixture;
    for (int i = 0; i < 103; ++i) fixture.card(fixture.queue);
    const Uuid second = fixture.column({{"name", "Second"}, {"kind", "queue"}});
    const auto list = [&](const Caller& who, object what = {}) {
        what["board_id"] = fixture.board.str();
        return in_process().must(who, "list_queues", what).body.at("results").as_array();
    };
    const auto all = list(fixture.owner);
    ASSERT_EQ(all.size(), 2u) << "the other columns are no queues";
    EXPECT_EQ(all[0].at("column_id").as_string(), fixture.queue.str());
    EXPECT_EQ(all[0].at("board_name"), "Desk");
    EXPECT_EQ(all[0].at("role"), "admin");
    EXPECT_EQ(all[0].at("ready"), 100);
    EXPECT_TRUE(all[0].at("oldest_queued_at").is_string());
    EXPECT_EQ(all[1].at("column_id").as_string(), second.str());
    EXPECT_EQ(all[1].at("ready"), 0);
    EXPECT_TRUE(all[1].at("oldest_queued_at").is_null());
    EXPECT_EQ(list(fixture.owner, {{"only_with_work", true}}).size(), 1u);
    const Caller viewer = in_process().person(fixture.owner, OrgRole::viewer, "Vera");
    EXPECT_THAT(list(viewer), IsEmpty());
    const Answer first = in_process().must(
        fixture.owner, "list_queues", {{"board_id", fixture.board.str()}, {"page_size", 1}}
    );
    const Answer next = in_process().must(
        fixture.owner,
        "list_queues",
        {{"board_id", fixture.board.str()},
         {"page_size", 1},
         {"start_cursor", first.text("/next_cursor")}}
    );
    EXPECT_EQ(next.text("/results/0/column_id"), second.str());
    EXPECT_TRUE(next.body.at("next_cursor").is_null());
    in_process().must(fixture.owner, "archive_board", {{"board_id", fixture.board.str()}});
    EXPECT_THAT(list(fixture.owner), IsEmpty());
}

TEST(Queues, AreCountedByState) {
    BoardFixture fixture({{"enabled", true}, {"max_attempts", 1}});
    const value which{{"board_id", fixture.board.str()}, {"column_id", fixture.queue.str()}};
    const auto counts = [&] {
        const Answer state = in_process().must(fixture.owner, "get_queue", which);
        std::vector<std::int64_t> out;
        for (const char* each : {"/ready", "/leased", "/backoff", "/exhausted", "/held"})
            out.push_back(state.number(each));
        return out;
    };
    EXPECT_THAT(counts(), ElementsAre(0, 0, 0, 0, 0));
    for (int i = 0; i < 5; ++i) fixture.card(fixture.queue);
    say(fixture.owner, "fail_lease", fixture.claim());
    const Answer claim = fixture.claim();
    do_to(fixture.owner, "hold_card", fixture.card(fixture.queue).id());
    EXPECT_THAT(counts(), ElementsAre(3, 1, 0, 1, 1));
    in_process().run(
        "UPDATE queue SET state = 'backoff', available_at = now() + interval '1 hour' WHERE card_id"
        " = (SELECT card_id FROM queue WHERE state = 'ready' AND column_id = '" +
        fixture.queue.str() + "' LIMIT 1)"
    );
    EXPECT_THAT(counts(), ElementsAre(2, 1, 1, 1, 1));
    const Answer state = in_process().must(fixture.owner, "get_queue", which);
    EXPECT_TRUE(state.body.at("next_available_at").is_string());
    const Caller viewer = in_process().person(fixture.owner, OrgRole::viewer, "Vera");
    EXPECT_EQ(in_process().ask(viewer, "get_queue", which).status, 200);
    const Answer no_queue = in_process().ask(
        fixture.owner,
        "get_queue",
        {{"board_id", fixture.board.str()}, {"column_id", fixture.done.str()}}
    );
    EXPECT_EQ(no_queue.status, 409);
    EXPECT_EQ(reason(no_queue), "not_a_queue");
    BoardFixture elsewhere;
    EXPECT_EQ(in_process().ask(elsewhere.owner, "get_queue", which).status, 404);
}

TEST(Queues, TellHowFastTheyAreWorkedOff) {
    BoardFixture fixture({{"enabled", true}, {"backoff_seconds", 0}});
    const auto pace = [&] {
        const Answer state = in_process().must(
            fixture.owner,
            "get_queue",
            {{"board_id", fixture.board.str()}, {"column_id", fixture.queue.str()}}
        );
        return std::pair(state.number("/completed_per_hour"), state.number("/failed_per_hour"));
    };
    EXPECT_THAT(pace(), Pair(0, 0));
    const Uuid other = fixture.column({{"name", "Other"}, {"kind", "queue"}});
    for (int i = 0; i < 4; ++i) fixture.card(fixture.queue);
    fixture.card(other);
    const Answer elsewhere = in_process().must(
        fixture.owner,
        "claim_next_card",
        {{"board_id", fixture.board.str()}, {"column_id", other.str()}}
    );
    say(fixture.owner, "complete_lease", elsewhere);
    const Answer first = fixture.claim();
    say(fixture.owner, "complete_lease", first);
    say(fixture.owner, "complete_lease", fixture.claim());
    say(fixture.owner, "fail_lease", fixture.claim());
    say(fixture.owner, "release_lease", fixture.claim());
    let_expire(fixture.claim());
    EXPECT_THAT(pace(), Pair(2, 2));
    in_process().run(
        "UPDATE lease_outcomes SET ended_at = now() - interval '2 hours' WHERE lease_id = '" +
        first.text("/lease/id") + "'"
    );
    EXPECT_THAT(pace(), Pair(1, 2)) << "of the last hour";
    // So many ended that an hour's are not gone through: all of them within the last 36 seconds.
    in_process().run(
        "INSERT INTO lease_outcomes (org_id, lease_id, card_id, digest, state, board_id, column_id,"
        " holder_id, attempt, epoch, lease_ttl_seconds, claimed_at, expires_at, ended_at) SELECT "
        "o.org_id, ('ffffffff' || substr(gen_random_uuid()::text, 9))::uuid, o.card_id, o.digest, "
        "CASE WHEN n <= 100 THEN 'completed' ELSE 'failed' END, o.board_id, o.column_id, "
        "o.holder_id, 1, 1, 60, now() - n * interval '36 milliseconds', now(), now() FROM lease_outcomes o, "
        "generate_series(1, 1000) n WHERE o.lease_id = '" +
        first.text("/lease/id") + "'"
    );
    const auto [completed, failed] = pace();
    EXPECT_NEAR(static_cast<double>(completed), 10'000, 500);
    EXPECT_NEAR(static_cast<double>(failed), 90'000, 5'000);
    in_process().run(
        "DELETE FROM lease_outcomes WHERE lease_id >= 'ffffffff-0000-0000-0000-000000000000'"
    );
}

TEST(Queues, TheOldestIsTheOneThatHasWaitedLongestHoweverManyAreMoreUrgent) {
    BoardFixture fixture;
    const std::string old = fixture.card(fixture.queue).text("/id");
    in_process().run(
        "UPDATE queue SET queued_at = '2020-01-01T00:00:00Z' WHERE card_id = '" + old + "'"
    );
    for (int i = 0; i < 101; ++i) {
        const std::string id = fixture.card(fixture.queue).text("/id");
        in_process().must(fixture.owner, "update_card", {{"card_id", id}, {"priority", "urgent"}});
    }
    const object board{{"board_id", fixture.board.str()}};
    EXPECT_EQ(
        in_process()
            .must(fixture.owner, "list_queues", board)
            .text("/results/0/oldest_queued_at"),
        "2020-01-01T00:00:00.000Z"
    );
    in_process().must(fixture.owner, "hold_card", {{"card_id", old}});
    EXPECT_GT(
        in_process()
            .must(fixture.owner, "list_queues", board)
            .text("/results/0/oldest_queued_at"),
        "2020-01-02"
    ) << "it is not ready";
}

TEST(Queues, ACardThatComesBackHasWaitedSinceThen) {
    BoardFixture fixture;
    const Uuid card = fixture.card(fixture.queue).id();
    in_process().run(
        "UPDATE queue SET queued_at = now() - interval '1 day' WHERE card_id = '" + card.str() + "'"
    );
    for (const Uuid& column : {fixture.backlog, fixture.queue})
        in_process().must(
            fixture.owner, "move_card", {{"card_id", card.str()}, {"column_id", column.str()}}
        );
    EXPECT_EQ(
        in_process().run(
            "SELECT queued_at > now() - interval '1 hour' FROM queue WHERE card_id = '" +
            card.str() + "'"
        ),
        "t"
    );
}

TEST(Leases, AreListedLiveAndByCardWithEarlierAttempts) {
    BoardFixture fixture;
    const Caller bot = in_process().agent(fixture.owner, OrgRole::member, "Bot");
    const Uuid card = fixture.card(fixture.queue).id();
    const Answer failed = fixture.claim(bot);
    say(bot, "fail_lease", failed, {{"retry_after_seconds", 0}, {"error", "no paper"}});
    const Answer live = fixture.claim(bot);
    fixture.card(fixture.queue);
    const Answer own = fixture.claim();
    const auto ids = [&](const Caller& who, object what) {
        std::vector<std::string> out;
        const Answer page = in_process().must(who, "list_leases", what);
        for (const value& each : page.body.at("results").as_array())
            out.emplace_back(each.at("id").as_string());
        return out;
    };
    const std::string board = fixture.board.str();
    EXPECT_THAT(
        ids(fixture.owner, {{"board_id", board}}),
        ElementsAre(live.text("/lease/id"), own.text("/lease/id"))
    );
    EXPECT_THAT(
        ids(fixture.owner, {{"board_id", board}, {"holder_id", bot.id.str()}}),
        ElementsAre(live.text("/lease/id"))
    );
    EXPECT_THAT(
        ids(fixture.owner, {{"card_id", card.str()}}),
        ElementsAre(live.text("/lease/id"), failed.text("/lease/id"))
    );
    EXPECT_THAT(
        ids(fixture.owner, {{"card_id", card.str()}, {"state", "failed"}}),
        ElementsAre(failed.text("/lease/id"))
    );
    EXPECT_EQ(ids(fixture.owner, {{"board_id", board}, {"state", "active"}}).size(), 2U);
    const Answer of_a_board =
        in_process().ask(fixture.owner, "list_leases", {{"board_id", board}, {"state", "failed"}});
    EXPECT_EQ(of_a_board.status, 422) << "those that are over are listed by card";
    EXPECT_EQ(of_a_board.body.at_pointer("/detail/0/loc"), (value{"arguments", "state"}));
    const Answer first = in_process().must(
        fixture.owner, "list_leases", {{"card_id", card.str()}, {"page_size", 1}}
    );
    EXPECT_EQ(first.body.at_pointer("/results/0"), live.body.at("lease"));
    const Answer next = in_process().must(
        fixture.owner,
        "list_leases",
        {{"card_id", card.str()}, {"page_size", 1}, {"start_cursor", first.text("/next_cursor")}}
    );
    EXPECT_EQ(next.text("/results/0/error"), "no paper");
    BoardFixture elsewhere;
    EXPECT_THAT(ids(elsewhere.owner, {{"card_id", card.str()}}), IsEmpty());
    EXPECT_THAT(ids(elsewhere.owner, object()), IsEmpty());
}

}  // namespace svc::test
