// How leases end and are renewed, on the real modules and database.

#include "tests/support/lock_holder.hpp"
#include "tests/unit/queue/lease_steps.hpp"

#include <gmock/gmock.h>

namespace svc::test {

using testing::ElementsAre;
using testing::IsEmpty;

// ------------------------------------------------------------------- exactly one ending, ever

TEST(Endings, SaidAgainGiveTheLeaseAsItEndedAndTheCardAsItIs) {
    BoardFixture fixture;
    for (const char* word : {"complete_lease", "fail_lease", "release_lease"}) {
        fixture.card(fixture.queue);
        const Answer claim = fixture.claim();
        const Answer first = say(fixture.owner, word, claim);
        ASSERT_EQ(first.status, 200) << word;
        in_process().must(
            fixture.owner,
            "update_card",
            {{"card_id", claim.text("/card/id")}, {"title", "changed since"}}
        );
        in_process().forget_events();
        const Answer again = say(fixture.owner, word, claim);
        EXPECT_EQ(again.status, 200) << word;
        EXPECT_EQ(again.body.at("lease"), first.body.at("lease")) << word;
        EXPECT_EQ(again.text("/card/title"), "changed since") << word;
        EXPECT_THAT(in_process().emitted(), IsEmpty()) << word;
        in_process().run("DELETE FROM cards WHERE board_id = '" + fixture.board.str() + "'");
    }
}

// A worker that is not let go on has not failed.
TEST(Endings, ABoardThatIsArchivedOrDeletedRevokesItsLeases) {
    BoardFixture fixture;
    const value board{{"board_id", fixture.board.str()}};
    fixture.card(fixture.queue);
    for (const char* away : {"archive_board", "delete_board"}) {
        const Answer claim = fixture.claim();
        EXPECT_EQ(claim.body.at_pointer("/lease/attempt"), 1) << away;
        in_process().must(fixture.owner, away, board);
        for (const char* word : {"renew_lease", "complete_lease"}) {
            const Answer refused = say(fixture.owner, word, claim);
            EXPECT_EQ(refused.text("/code"), "lease_lost") << away << word;
            EXPECT_EQ(refused.text("/additional_data/outcome"), "revoked") << away << word;
        }
        in_process().must(fixture.owner, "restore_board", board);
    }
}

TEST(Endings, AnotherEndingIsRefusedWithHowItEnded) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    const Answer claim = fixture.claim();
    ASSERT_EQ(say(fixture.owner, "complete_lease", claim).status, 200);
    for (const char* word : {"fail_lease", "release_lease", "renew_lease"}) {
        const Answer refused = say(fixture.owner, word, claim);
        EXPECT_EQ(refused.status, 409) << word;
        EXPECT_EQ(refused.text("/code"), "lease_lost") << word;
        EXPECT_EQ(refused.text("/additional_data/outcome"), "completed") << word;
    }
}

TEST(Endings, OfSixteenAtOnceOneKindWins) {
    BoardFixture fixture;
    for (int round = 0; round < 5; ++round) {
        fixture.card(fixture.queue);
        const Answer claim = fixture.claim();
        std::mutex mutex;
        std::map<std::string, std::vector<value>> answers;
        std::atomic<int> lost{0}, odd{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 16; ++t)
            threads.emplace_back([&, t] {
                const char* word = t % 2 ? "complete_lease" : "fail_lease";
                const Answer said = say(fixture.owner, word, claim, {});
                if (said.status == 200) {
                    const std::scoped_lock lock(mutex);
                    answers[word].push_back(said.body);
                } else if (said.status == 409 && said.text("/code") == "lease_lost") {
                    ++lost;
                } else {
                    ++odd;
                }
            });
        for (auto& thread : threads) thread.join();
        EXPECT_EQ(odd, 0);
        EXPECT_EQ(lost, 8);
        ASSERT_EQ(answers.size(), 1U);
        const auto& same = answers.begin()->second;
        EXPECT_THAT(same, testing::Each(same.front())) << "every winner got the same answer";
        EXPECT_EQ(
            in_process().run(
                "SELECT count(*) FROM lease_outcomes WHERE lease_id = '" + claim.text("/lease/id") +
                "'"
            ),
            "1"
        );
        in_process().run("DELETE FROM cards WHERE board_id = '" + fixture.board.str() + "'");
    }
}

TEST(Endings, ATokenThatIsNotOfTheLeaseIsRefusedAndTheLeaseOfAStrangerNotFound) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    fixture.card(fixture.queue);
    const Answer mine = fixture.claim(), other = fixture.claim();
    const Caller stranger = in_process().owner_of_new_org("Other");
    const auto complete = [&](const Caller& who, std::string lease, std::string token) {
        return in_process()
            .ask(who, "complete_lease", {{"lease_id", lease}, {"lease_token", token}})
            .status;
    };
    const std::string lease = mine.text("/lease/id"), token = mine.text("/lease_token");
    std::string forged = token;
    forged.back() = forged.back() == 'A' ? 'B' : 'A';
    forged[30] = forged[30] == 'A' ? 'B' : 'A';
    EXPECT_EQ(complete(fixture.owner, lease, other.text("/lease_token")), 403);
    EXPECT_EQ(complete(fixture.owner, lease, forged), 403);
    EXPECT_EQ(complete(fixture.owner, lease, "lt_nonsense"), 403);
    const Answer refused = in_process().ask(
        fixture.owner, "renew_lease", {{"lease_id", lease}, {"lease_token", "lt_nonsense"}}
    );
    EXPECT_EQ(refused.text("/code"), "lease_token_invalid");
    EXPECT_EQ(complete(fixture.owner, new_uuid().str(), token), 404);
    EXPECT_EQ(complete(stranger, lease, token), 404);
    EXPECT_EQ(complete(fixture.owner, lease, token), 200);
    EXPECT_EQ(complete(stranger, lease, token), 404) << "nor after it is over";
    EXPECT_EQ(complete(fixture.owner, lease, forged), 409) << "whatever the token, it is over";
}

TEST(Endings, WhoeverMayNotEditTheBoardWaitsForNobodyWithATokenThatIsMadeUp) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    const Answer claim = fixture.claim();
    const Caller viewer = in_process().agent(fixture.owner, OrgRole::member, "Viewer");
    in_process().grant(fixture.board, viewer, "viewer");
    boost::json::object made_up{
        {"lease_id", claim.text("/lease/id")}, {"lease_token", claim.text("/lease_token")}
    };
    auto& token = made_up["lease_token"].as_string();
    token[30] = token[30] == 'A' ? 'B' : 'A';
    const std::string card = claim.text("/card/id");
    const LockHolder holder(
        "SELECT 1 FROM cards WHERE id = '" + card +
        "' FOR UPDATE; SELECT 1 FROM queue WHERE card_id = '" + card + "' FOR UPDATE"
    );
    const auto from = std::chrono::steady_clock::now();
    for (const char* word : {"complete_lease", "fail_lease", "release_lease", "renew_lease"})
        EXPECT_EQ(in_process().ask(viewer, word, made_up).status, 403) << word;
    EXPECT_LT(std::chrono::steady_clock::now() - from, std::chrono::seconds(5));
}

// ------------------------------------------------------------------------- failing, releasing

TEST(Failing, KeepsTheCardBackForAWhile) {
    BoardFixture fixture;
    fixture.card(fixture.queue, {{"title", "first"}});
    fixture.card(fixture.queue, {{"title", "second"}});
    const Answer claim = fixture.claim();
    const Answer failed =
        say(fixture.owner, "fail_lease", claim, {{"error", "no luck"}, {"retry_after_seconds", 600}}
        );
    EXPECT_EQ(failed.text("/lease/state"), "failed");
    EXPECT_EQ(failed.text("/lease/error"), "no luck");
    EXPECT_EQ(failed.text("/card/queue/state"), "backoff");
    EXPECT_EQ(failed.text("/card/queue/last_error"), "no luck");
    EXPECT_EQ(failed.number("/card/queue/attempts"), 1);
    EXPECT_EQ(failed.body.at("card"), fixture.get(claim.id("/card/id")).body);
    EXPECT_THAT(claim_all(fixture), ElementsAre("second"));
    EXPECT_GT(fixture.claim().number("/retry_after_seconds"), 30);

    let_pause_end(claim);
    const Answer again = fixture.claim();
    EXPECT_EQ(again.text("/card/title"), "first") << "it keeps its place";
    EXPECT_EQ(again.number("/lease/attempt"), 2);
    EXPECT_EQ(again.number("/lease/epoch"), 2);
}

TEST(Failing, TheLastTryExhaustsTheCard) {
    BoardFixture fixture({{"enabled", true}, {"max_attempts", 2}, {"backoff_seconds", 0}});
    const Answer made = fixture.card(fixture.queue);
    say(fixture.owner, "fail_lease", fixture.claim());
    const Answer last = fixture.claim();
    in_process().forget_events();
    const Answer failed = say(fixture.owner, "fail_lease", last, {{"error", "again"}});
    EXPECT_EQ(failed.text("/card/queue/state"), "exhausted");
    EXPECT_EQ(failed.body.at("card"), fixture.get(made.id()).body);
    EXPECT_THAT(in_process().emitted(), ElementsAre("card.exhausted", "lease.failed"));
    EXPECT_FALSE(fixture.claim().body.at("claimed").as_bool());
}

TEST(Failing, AnExhaustedCardGoesWhereItsColumnSays) {
    BoardFixture fixture;
    in_process().run(
        "UPDATE columns SET on_exhausted_column_id = '" + fixture.backlog.str() + "' WHERE id = '" +
        fixture.queue.str() + "'"
    );
    const Answer made = fixture.card(fixture.queue);
    const Answer failed = say(
        fixture.owner, "fail_lease", fixture.claim(), {{"error", "hopeless"}, {"retryable", false}}
    );
    EXPECT_EQ(failed.text("/card/column_id"), fixture.backlog.str());
    EXPECT_EQ(failed.text("/card/queue/state"), "idle");
    EXPECT_EQ(failed.text("/card/queue/last_error"), "hopeless");
    EXPECT_EQ(failed.body.at("card"), fixture.get(made.id()).body);
}

TEST(Releasing, DoesNotCountAsATry) {
    BoardFixture fixture;
    const Answer made = fixture.card(fixture.queue);
    in_process().forget_events();
    const Answer claim = fixture.claim();
    const Answer released = say(fixture.owner, "release_lease", claim);
    EXPECT_EQ(released.text("/lease/state"), "released");
    EXPECT_EQ(released.text("/card/queue/state"), "ready");
    EXPECT_EQ(released.number("/card/queue/attempts"), 0);
    EXPECT_EQ(released.body.at("card"), fixture.get(made.id()).body);
    EXPECT_THAT(in_process().emitted(), ElementsAre("lease.claimed", "lease.released"));
    const Answer again = fixture.claim();
    EXPECT_EQ(again.number("/lease/attempt"), 1);
    EXPECT_EQ(again.number("/lease/epoch"), 2);
}

TEST(Renewing, EndsWithTheGrant) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    const Caller robot = in_process().agent(fixture.owner, OrgRole::member, "Robot");
    in_process().grant(fixture.board, robot, "editor");
    const Answer claim = fixture.claim(robot);
    ASSERT_TRUE(claim.body.at("claimed").as_bool());
    EXPECT_EQ(say(robot, "renew_lease", claim).status, 200);
    in_process().run(
        "UPDATE board_grants SET role = 'viewer' WHERE principal_id = '" + robot.id.str() + "'"
    );
    EXPECT_EQ(say(robot, "renew_lease", claim).status, 403);
    const Answer named =
        say(robot, "complete_lease", claim, {{"target_column_id", fixture.done.str()}});
    EXPECT_EQ(named.status, 403);
    // What it has begun it may still finish, where its column sends it.
    EXPECT_EQ(say(robot, "complete_lease", claim).status, 200);
}

TEST(Renewing, IsForNobodyWhoseGrantIsForAnotherBoard) {
    BoardFixture fixture;
    const Uuid other =
        in_process()
            .must(
                fixture.owner,
                "create_board",
                {{"name", "Other"}, {"columns", boost::json::value(boost::json::array())}}
            )
            .id();
    fixture.card(fixture.queue);
    const Caller robot = in_process().agent(fixture.owner, OrgRole::member, "Robot");
    const Answer claim = fixture.claim(robot);
    in_process().grant(other, robot, "editor");
    EXPECT_EQ(say(robot, "renew_lease", claim).status, 404);
    EXPECT_EQ(say(robot, "release_lease", claim).status, 200);
}

TEST(Renewing, MovesTheEndAndIsNoEvent) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    const Answer claim = fixture.claim(fixture.owner, {{"lease_ttl_seconds", 10}});
    in_process().forget_events();
    const Answer renewed = say(fixture.owner, "renew_lease", claim, {{"lease_ttl_seconds", 3600}});
    ASSERT_EQ(renewed.status, 200);
    EXPECT_GT(renewed.text("/lease/expires_at"), claim.text("/lease/expires_at"));
    EXPECT_TRUE(renewed.body.at_pointer("/lease/renewed_at").is_string());
    EXPECT_EQ(renewed.number("/lease/lease_ttl_seconds"), 3600);
    EXPECT_THAT(in_process().emitted(), IsEmpty());
    const Answer lease =
        in_process().must(fixture.owner, "get_lease", {{"lease_id", claim.text("/lease/id")}});
    EXPECT_EQ(lease.body, renewed.body.at("lease"));
}

}  // namespace svc::test
