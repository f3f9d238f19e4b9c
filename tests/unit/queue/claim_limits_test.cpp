// How many cards may be worked on at a time, pauses, and full columns ahead. Before the tests of
// hooks, which stay in the process: with one, cards are claimed one at a time.

#include "tests/support/lock_holder.hpp"
#include "tests/unit/queue/lease_steps.hpp"

#include <gmock/gmock.h>

#include <thread>

namespace svc::test {

using boost::json::array;
using boost::json::object;

namespace {

void change(const BoardFixture& fixture, const Uuid& column, object what) {
    what["board_id"] = fixture.board.str();
    what["column_id"] = column.str();
    in_process().must(fixture.owner, "update_column", what);
}

void set_queue(const BoardFixture& fixture, object what) {
    change(fixture, fixture.queue, {{"queue", what}});
}

Caller agent_with(const BoardFixture& fixture, int max_leases) {
    const Caller agent = in_process().agent(fixture.owner, OrgRole::member, "Robot");
    in_process().must(
        fixture.owner,
        "update_agent",
        {{"agent_id", agent.id.str()}, {"budgets", {{"max_leases", max_leases}}}}
    );
    return agent;
}

void add_cards(BoardFixture& fixture, int count) {
    for (int i = 0; i < count; ++i)
        fixture.card(fixture.queue, {{"title", "Card " + std::to_string(i)}});
}

std::string reason_of(const Answer& claim) {
    return claim.body.at("claimed").as_bool() ? "" : claim.text("/reason");
}

/// Claims and completes at once; how many were held together at the most, as their holders know.
int most_together(BoardFixture& fixture, const std::vector<Caller>& callers, int threads) {
    std::atomic<int> together{0}, most{0}, idle{0};
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&, who = callers[static_cast<std::size_t>(t) % callers.size()]] {
            for (int empty = 0; empty < 200;) {
                const Answer claim = fixture.claim(who);
                if (!claim.body.at("claimed").as_bool()) {
                    if (reason_of(claim) == "empty") return;
                    ++empty;
                    ++idle;
                    continue;
                }
                const int now = ++together;
                for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
                }
                --together;
                EXPECT_EQ(say(who, "complete_lease", claim).status, 200);
            }
        });
    for (auto& each : all) each.join();
    EXPECT_EQ(claim_all(fixture).size(), 0U) << "cards were left";
    return most;
}

/// As its state and the list of queues say.
bool is_paused(const BoardFixture& fixture) {
    const object board{{"board_id", fixture.board.str()}};
    const Answer list = in_process().must(fixture.owner, "list_queues", board);
    object column = board;
    column["column_id"] = fixture.queue.str();
    const Answer state = in_process().must(fixture.owner, "get_queue", column);
    EXPECT_EQ(state.body.at("paused"), list.body.at_pointer("/results/0/paused"));
    return state.body.at("paused").as_bool();
}

}  // namespace

TEST(Pausing, StopsClaimsAndLetsLeasesFinish) {
    BoardFixture fixture;
    add_cards(fixture, 2);
    const Answer held = fixture.claim();
    EXPECT_FALSE(is_paused(fixture));
    set_queue(fixture, {{"paused", true}});
    EXPECT_TRUE(is_paused(fixture));
    EXPECT_EQ(reason_of(fixture.claim()), "paused");
    const Answer renewed = say(fixture.owner, "renew_lease", held);
    EXPECT_TRUE(renewed.body.at_pointer("/signals/column_paused").as_bool());
    EXPECT_EQ(say(fixture.owner, "complete_lease", held).status, 200);
    EXPECT_EQ(reason_of(fixture.claim()), "paused");
    set_queue(fixture, {{"paused", false}});
    EXPECT_EQ(reason_of(fixture.claim()), "");
    EXPECT_EQ(reason_of(fixture.claim()), "empty");
}

TEST(MaxInFlight, IsAsManyLeasesOfAColumnAsThereMayBe) {
    BoardFixture fixture;
    add_cards(fixture, 5);
    set_queue(fixture, {{"max_in_flight", 2}});
    const Answer first = fixture.claim();
    EXPECT_EQ(reason_of(fixture.claim()), "");
    EXPECT_EQ(reason_of(fixture.claim()), "max_in_flight");
    for (const char* word : {"complete_lease", "release_lease", "fail_lease"}) {
        const Answer held = std::string(word) == "complete_lease" ? first : fixture.claim();
        EXPECT_EQ(say(fixture.owner, word, held).status, 200);
    }
    EXPECT_EQ(reason_of(fixture.claim()), "");
    EXPECT_EQ(reason_of(fixture.claim()), "max_in_flight");
    set_queue(fixture, {{"max_in_flight", nullptr}});
    EXPECT_EQ(reason_of(fixture.claim()), "");
}

TEST(MaxInFlight, HoldsForOneClaimOfMany) {
    BoardFixture fixture;
    add_cards(fixture, 8);
    set_queue(fixture, {{"max_in_flight", 3}});
    for (int round = 0; round < 2; ++round) {
        const Answer claim = fixture.claim(fixture.owner, {{"max_cards", 8}});
        EXPECT_EQ(claim.body.at("additional_claims").as_array().size(), 2U);
        EXPECT_EQ(reason_of(fixture.claim()), "max_in_flight");
        EXPECT_EQ(say(fixture.owner, "complete_lease", claim).status, 200);
        for (const value& each : claim.body.at("additional_claims").as_array())
            EXPECT_EQ(say(fixture.owner, "complete_lease", {200, each}).status, 200);
    }
}

TEST(MaxInFlight, HoldsWhenManyClaimAtOnce) {
    BoardFixture fixture;
    add_cards(fixture, 16);
    set_queue(fixture, {{"max_in_flight", 3}});
    std::atomic<int> claimed{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 12; ++t)
        threads.emplace_back([&] { claimed += fixture.claim().body.at("claimed").as_bool(); });
    for (auto& each : threads) each.join();
    EXPECT_EQ(claimed, 3);
}

TEST(MaxInFlight, HoldsWhileManyClaimAndComplete) {
    BoardFixture fixture;
    add_cards(fixture, 80);
    set_queue(fixture, {{"max_in_flight", 2}});
    const int most = most_together(fixture, {fixture.owner}, 8);
    EXPECT_LE(most, 2);
    EXPECT_GE(most, 1);
}

TEST(MaxInFlight, OnlyClaimsOfALimitedColumnWaitForEachOther) {
    BoardFixture fixture;
    add_cards(fixture, 2);
    LockHolder somebody_claims(
        "SELECT pg_advisory_xact_lock(hashtextextended('queue.limit " + fixture.queue.str() +
        "', 0))"
    );
    EXPECT_EQ(reason_of(fixture.claim()), "") << "no limit, and no waiting";
    set_queue(fixture, {{"max_in_flight", 5}});
    std::atomic<bool> claimed{false};
    std::thread waits([&] { claimed = fixture.claim().body.at("claimed").as_bool(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_FALSE(claimed);
    somebody_claims.commit();
    waits.join();
    EXPECT_TRUE(claimed);
}

TEST(MaxLeases, IsAsManyAsAnAgentMayHoldOverAllQueues) {
    BoardFixture fixture;
    const Uuid other =
        fixture.column({{"name", "Two"}, {"kind", "queue"}, {"queue", {{"enabled", true}}}});
    add_cards(fixture, 4);
    fixture.card(other);
    const Caller robot = agent_with(fixture, 2);
    const Answer held = fixture.claim(robot);
    const auto from_other = [&] {
        return in_process().must(
            robot,
            "claim_next_card",
            {{"board_id", fixture.board.str()}, {"column_id", other.str()}}
        );
    };
    EXPECT_EQ(reason_of(from_other()), "");
    EXPECT_EQ(reason_of(fixture.claim(robot)), "max_leases");
    EXPECT_EQ(reason_of(fixture.claim()), "") << "the others are not concerned";
    EXPECT_EQ(say(robot, "complete_lease", held).status, 200);
    EXPECT_EQ(reason_of(fixture.claim(robot)), "");
    EXPECT_EQ(reason_of(fixture.claim(agent_with(fixture, 0))), "max_leases");
}

TEST(MaxLeases, HoldsWhenAnAgentClaimsManyTimesAtOnce) {
    BoardFixture fixture;
    add_cards(fixture, 60);
    const std::vector<Caller> robots{agent_with(fixture, 2)};
    EXPECT_LE(most_together(fixture, robots, 8), 2);
    add_cards(fixture, 12);
    std::atomic<int> claimed{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 10; ++t)
        threads.emplace_back([&] {
            claimed += fixture.claim(robots.front()).body.at("claimed").as_bool();
        });
    for (auto& each : threads) each.join();
    EXPECT_EQ(claimed, 2);
}

TEST(TargetFull, NobodyIsGivenWorkThatCannotGoOn) {
    BoardFixture fixture;
    add_cards(fixture, 3);
    change(fixture, fixture.done, {{"wip_limit", 1}, {"wip_policy", "hard"}});
    const Answer first = fixture.claim();
    EXPECT_EQ(say(fixture.owner, "complete_lease", first).status, 200);
    EXPECT_EQ(reason_of(fixture.claim()), "target_full");
    change(fixture, fixture.done, {{"wip_policy", "soft"}});
    EXPECT_EQ(reason_of(fixture.claim()), "");
    change(fixture, fixture.done, {{"wip_policy", "hard"}});
    EXPECT_EQ(reason_of(fixture.claim()), "target_full");
    in_process().must(fixture.owner, "archive_card", {{"card_id", first.text("/card/id")}});
    EXPECT_EQ(reason_of(fixture.claim()), "");
}

// ------------------------------------------------------------------------- explain_claim

namespace {

Answer explain(const BoardFixture& fixture, const Caller& who) {
    return in_process().must(
        who,
        "explain_claim",
        {{"board_id", fixture.board.str()}, {"column_id", fixture.queue.str()}}
    );
}

std::vector<std::string> obstacles(const BoardFixture& fixture, const Caller& who) {
    return boost::json::value_to<std::vector<std::string>>(
        explain(fixture, who).body.at("obstacles")
    );
}

}  // namespace

TEST(ExplainClaim, SaysWhatKeepsTheCallerFromACardAndAClaimAgrees) {
    BoardFixture fixture({{"enabled", true}, {"max_attempts", 1}});
    using testing::ElementsAre;
    EXPECT_THAT(obstacles(fixture, fixture.owner), ElementsAre("no_ready_card"));
    add_cards(fixture, 6);
    EXPECT_TRUE(explain(fixture, fixture.owner).body.at("claimable").as_bool());
    const Caller robot = agent_with(fixture, 1);
    fixture.claim(robot);
    set_queue(fixture, {{"max_in_flight", 1}});
    EXPECT_THAT(obstacles(fixture, robot), ElementsAre("max_leases", "max_in_flight"));
    EXPECT_THAT(obstacles(fixture, fixture.owner), ElementsAre("max_in_flight"));
    set_queue(fixture, {{"max_in_flight", 10}, {"paused", true}});
    change(fixture, fixture.done, {{"wip_limit", 1}, {"wip_policy", "hard"}});
    fixture.card(fixture.done);
    EXPECT_THAT(obstacles(fixture, fixture.owner), ElementsAre("paused", "target_full"));
    const Caller viewer = in_process().person(fixture.owner, OrgRole::viewer, "Vera");
    EXPECT_THAT(obstacles(fixture, viewer), ElementsAre("not_permitted", "paused", "target_full"));
    const Caller elsewhere = in_process().agent(fixture.owner, OrgRole::member, "Elsewhere");
    const Uuid another =
        in_process().must(fixture.owner, "create_board", {{"name", "Another"}}).id();
    in_process().grant(another, elsewhere, "editor");
    EXPECT_EQ(
        in_process()
            .ask(
                elsewhere,
                "explain_claim",
                {{"board_id", fixture.board.str()}, {"column_id", fixture.queue.str()}}
            )
            .status,
        404
    );
}

TEST(ExplainClaim, CountsTheCardsThatNobodyIsGiven) {
    BoardFixture fixture({{"enabled", true}, {"max_attempts", 2}});
    add_cards(fixture, 7);
    const auto next = [&] { return fixture.claim().text("/card/id"); };
    next();
    say(fixture.owner, "fail_lease", fixture.claim());
    say(fixture.owner, "fail_lease", fixture.claim(), {{"retryable", false}});
    const std::string held = in_process().run(
        "SELECT card_id FROM queue WHERE state = 'ready' AND column_id = '" + fixture.queue.str() +
        "' ORDER BY place LIMIT 1"
    );
    in_process().must(fixture.owner, "hold_card", {{"card_id", held}});
    const std::string waits = in_process().run(
        "SELECT card_id FROM queue WHERE state = 'ready' AND column_id = '" + fixture.queue.str() +
        "' ORDER BY place LIMIT 1"
    );
    in_process().must(
        fixture.owner,
        "link_cards",
        {{"card_id", fixture.card(fixture.backlog).text("/id")},
         {"target_id", waits},
         {"type", "blocks"}}
    );
    const std::string put_away = in_process().run(
        "SELECT card_id FROM queue WHERE state = 'ready' AND NOT blocked AND column_id = '" +
        fixture.queue.str() + "' ORDER BY place LIMIT 1"
    );
    in_process().must(fixture.owner, "archive_card", {{"card_id", put_away}});
    const Answer why = explain(fixture, fixture.owner);
    for (const char* state : {"leased", "backoff", "exhausted", "held", "blocked", "ready"})
        EXPECT_EQ(why.number(std::string("/queue/") + state), 1) << state;
    EXPECT_EQ(why.number("/archived"), 1);
    EXPECT_EQ(why.number("/leases_held"), 1);
    EXPECT_EQ(why.text("/target_column_id"), fixture.done.str());
}

// ----------------------------------------------------------------------- claim_from_board

namespace {

Answer claim_any(const BoardFixture& fixture, object what = {}) {
    what["board_id"] = fixture.board.str();
    return in_process().ask(fixture.owner, "claim_from_board", what);
}

struct TwoQueues {
    BoardFixture fixture;
    Uuid second =
        fixture.column({{"name", "Two"}, {"kind", "queue"}, {"queue", {{"enabled", true}}}});
    TwoQueues() {
        fixture.card(fixture.queue, {{"title", "left"}});
        fixture.card(second, {{"title", "right"}});
    }
};

}  // namespace

TEST(ClaimFromBoard, FinishesWhatIsBegunFirstUnlessToldOtherwise) {
    TwoQueues queues;
    BoardFixture& fixture = queues.fixture;
    EXPECT_EQ(claim_any(fixture).text("/card/title"), "right");
    EXPECT_EQ(claim_any(fixture).text("/card/title"), "left");
    EXPECT_EQ(reason_of(claim_any(fixture)), "empty");
    TwoQueues again;
    const array order{value(again.fixture.queue.str()), value(again.second.str())};
    EXPECT_EQ(claim_any(again.fixture, {{"column_ids", order}}).text("/card/title"), "left");
}

TEST(ClaimFromBoard, TakesSeveralCardsOverTheColumns) {
    TwoQueues queues;
    const Answer claim = claim_any(queues.fixture, {{"max_cards", 5}});
    EXPECT_EQ(claim.text("/card/title"), "right");
    ASSERT_EQ(claim.body.at("additional_claims").as_array().size(), 1U);
    EXPECT_EQ(claim.text("/additional_claims/0/card/title"), "left");
    EXPECT_EQ(claim.text("/additional_claims/0/lease/column_id"), queues.fixture.queue.str());
}

TEST(ClaimFromBoard, GoesOnWhereOneColumnIsPausedOrLimited) {
    TwoQueues queues;
    BoardFixture& fixture = queues.fixture;
    change(fixture, queues.second, {{"queue", {{"max_in_flight", 1}}}});
    fixture.card(queues.second, {{"title", "more"}});
    EXPECT_EQ(claim_any(fixture).text("/card/title"), "right");
    EXPECT_EQ(claim_any(fixture).text("/card/title"), "left");
    EXPECT_EQ(reason_of(claim_any(fixture)), "max_in_flight");
    change(fixture, queues.second, {{"queue", {{"paused", true}}}});
    fixture.card(fixture.queue, {{"title", "last"}});
    EXPECT_EQ(claim_any(fixture).text("/card/title"), "last");
    EXPECT_EQ(reason_of(claim_any(fixture)), "paused");
}

TEST(ClaimFromBoard, RefusesColumnsThatAreNoneAndCallersWhoMayNot) {
    TwoQueues queues;
    BoardFixture& fixture = queues.fixture;
    array columns{value(fixture.queue.str()), value(new_uuid().str())};
    const Answer unknown = claim_any(fixture, {{"column_ids", columns}});
    EXPECT_EQ(unknown.status, 422);
    EXPECT_EQ(unknown.body.at_pointer("/detail/0/loc"), (value{"arguments", "column_ids", 1}));
    columns[1] = value(fixture.backlog.str());
    const Answer no_queue = claim_any(fixture, {{"column_ids", columns}});
    EXPECT_EQ(no_queue.text("/additional_data/reason"), "not_a_queue");
    EXPECT_EQ(claim_any(fixture, {{"column_ids", array()}}).status, 422);
    const auto ask = [&](const Caller& who) {
        return in_process().ask(
                               who, "claim_from_board", {{"board_id", fixture.board.str()}}
        ).status;
    };
    EXPECT_EQ(ask(in_process().person(fixture.owner, OrgRole::viewer, "Vera")), 403);
    EXPECT_EQ(ask(in_process().owner_of_new_org()), 404);
    EXPECT_EQ(ask(fixture.owner), 200) << "nothing was taken by those who were refused";
}

}  // namespace svc::test
