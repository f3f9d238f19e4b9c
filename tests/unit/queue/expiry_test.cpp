// What time and other people do to leases, on the real modules and database.

#include "tests/unit/queue/lease_steps.hpp"

#include <gmock/gmock.h>

#include <set>

namespace svc::test {

using testing::ElementsAre;

// ------------------------------------------------------------------------------- time is over

TEST(Expiry, GivesTheCardToSomebodyElseUnderAHigherFence) {
    BoardFixture fixture({{"enabled", true}, {"backoff_seconds", 0}});
    fixture.card(fixture.queue);
    const Answer claim = fixture.claim();
    in_process().forget_events();
    let_expire(claim);
    EXPECT_THAT(in_process().emitted(), ElementsAre("lease.expired"));
    EXPECT_EQ(
        in_process().run("SELECT actor_type FROM event_log LIMIT 1"), "system"
    );
    const Answer late = say(fixture.owner, "complete_lease", claim);
    EXPECT_EQ(late.status, 409);
    EXPECT_EQ(late.text("/code"), "lease_lost");
    EXPECT_EQ(late.text("/additional_data/outcome"), "expired");
    const Answer next = fixture.claim();
    EXPECT_EQ(next.number("/lease/epoch"), 2);
    EXPECT_EQ(next.number("/lease/attempt"), 2);
    EXPECT_EQ(say(fixture.owner, "complete_lease", claim).status, 409) << "the fence holds";
    EXPECT_EQ(say(fixture.owner, "complete_lease", next).status, 200);
}

TEST(Expiry, TheRowDecidesNotTheClock) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    const Answer claim = fixture.claim();
    in_process().run(
        "UPDATE queue SET expires_at = now() - interval '1 hour' WHERE lease_id = '" +
        claim.text("/lease/id") + "'"
    );
    EXPECT_FALSE(fixture.claim().body.at("claimed").as_bool());
    EXPECT_EQ(say(fixture.owner, "complete_lease", claim).status, 200);
}

TEST(Expiry, LeasesThatAreRenewedOutliveTheSweeper) {
    BoardFixture fixture;
    fixture.card(fixture.queue);
    const Answer claim = fixture.claim();
    in_process().run(
        "UPDATE queue SET expires_at = now() - interval '1 hour' WHERE lease_id = '" +
        claim.text("/lease/id") + "'"
    );
    ASSERT_EQ(say(fixture.owner, "renew_lease", claim).status, 200);
    in_process().run_job("queue.expire_leases");
    EXPECT_EQ(say(fixture.owner, "complete_lease", claim).status, 200);
}

TEST(Expiry, CountsAsATryAndExhausts) {
    BoardFixture fixture({{"enabled", true}, {"max_attempts", 1}});
    in_process().run(
        "UPDATE columns SET on_exhausted_column_id = '" + fixture.backlog.str() + "' WHERE id = '" +
        fixture.queue.str() + "'"
    );
    const Answer made = fixture.card(fixture.queue);
    const Answer claim = fixture.claim();
    in_process().forget_events();
    let_expire(claim);
    EXPECT_THAT(
        in_process().emitted(), ElementsAre("lease.expired", "card.moved", "card.exhausted")
    );
    const Answer card = fixture.get(made.id());
    EXPECT_EQ(card.text("/column_id"), fixture.backlog.str());
    EXPECT_EQ(card.text("/queue/state"), "idle");
    EXPECT_EQ(card.text("/last_edited_by/principal_type"), "system");
}

TEST(Expiry, ManyWorkspacesAreSweptEachForItself) {
    BoardFixture one({{"enabled", true}, {"backoff_seconds", 0}}),
        two({{"enabled", true}, {"backoff_seconds", 0}});
    std::vector<Answer> claims;
    for (BoardFixture* fixture : {&one, &two})
        for (int i = 0; i < 3; ++i) {
            fixture->card(fixture->queue);
            claims.push_back(fixture->claim());
        }
    for (const Answer& claim : claims)
        in_process().run(
            "UPDATE queue SET expires_at = now() - interval '1 second' WHERE lease_id = '" +
            claim.text("/lease/id") + "'"
        );
    std::vector<std::thread> servers;
    for (int i = 0; i < 4; ++i)
        servers.emplace_back([] { in_process().run_job("queue.expire_leases"); });
    for (auto& server : servers) server.join();
    EXPECT_EQ(in_process().run("SELECT count(*) FROM event_log WHERE kind = 'lease.expired'"), "6");
    EXPECT_EQ(claim_all(one).size(), 3U);
    EXPECT_EQ(claim_all(two).size(), 3U);
}

// ------------------------------------------------------------- people move cards meanwhile

TEST(Revoking, HappensWhenAPersonTakesTheCardElsewhere) {
    BoardFixture fixture;
    for (const char* word : {"move_card", "archive_card"}) {
        const std::string id = fixture.card(fixture.queue).text("/id");
        const Answer claim = fixture.claim();
        in_process().forget_events();
        boost::json::object what{{"card_id", id}};
        if (std::string_view(word) == "move_card") what["column_id"] = fixture.backlog.str();
        const Answer moved = in_process().must(fixture.owner, word, what);
        EXPECT_TRUE(moved.body.at("lease").is_null());
        EXPECT_EQ(moved.body, fixture.get(*Uuid::parse(id)).body);
        EXPECT_EQ(in_process().emitted().back(), "lease.revoked");
        const Answer late = say(fixture.owner, "complete_lease", claim);
        EXPECT_EQ(late.status, 409);
        EXPECT_EQ(late.text("/additional_data/outcome"), "revoked");
    }
}

TEST(Revoking, DoesNotHappenByEditingOrMovingWithinTheColumn) {
    BoardFixture fixture;
    const std::string id = fixture.card(fixture.queue).text("/id");
    fixture.card(fixture.queue);
    const Answer claim = fixture.claim();
    in_process().must(
        fixture.owner, "update_card", {{"card_id", id}, {"title", "better"}, {"priority", "low"}}
    );
    const Answer moved = in_process().must(
        fixture.owner, "move_card", {{"card_id", id}, {"column_id", fixture.queue.str()}}
    );
    EXPECT_EQ(moved.text("/queue/state"), "leased");
    EXPECT_EQ(moved.text("/lease/id"), claim.text("/lease/id"));
    EXPECT_EQ(say(fixture.owner, "complete_lease", claim).status, 200);
}

TEST(Revoking, RacesWithTheHolderAndOneOfThemWins) {
    BoardFixture fixture;
    for (int round = 0; round < 10; ++round) {
        const std::string id = fixture.card(fixture.queue).text("/id");
        const Answer claim = fixture.claim();
        Answer completed, moved;
        std::thread holder([&] { completed = say(fixture.owner, "complete_lease", claim); });
        std::thread person([&] {
            moved = in_process().ask(
                fixture.owner, "move_card", {{"card_id", id}, {"column_id", fixture.backlog.str()}}
            );
        });
        holder.join();
        person.join();
        EXPECT_EQ(moved.status, 200);
        EXPECT_TRUE(completed.status == 200 || completed.status == 409);
        EXPECT_EQ(fixture.get(*Uuid::parse(id)).text("/queue/state"), "idle");
        EXPECT_EQ(
            in_process().run(
                "SELECT count(*) FROM lease_outcomes WHERE lease_id = '" + claim.text("/lease/id") +
                "'"
            ),
            "1"
        );
    }
}

// -------------------------------------------------------------------------- all of it at once

TEST(Storm, WorkersThatStallCrashAndRepeatLoseNoCardAndShareNone) {
    BoardFixture fixture({{"enabled", true}, {"backoff_seconds", 0}, {"max_attempts", 100}});
    constexpr int cards = 60;
    for (int i = 0; i < cards; ++i) fixture.card(fixture.queue, {{"title", std::to_string(i)}});
    std::atomic<int> odd{0}, completed{0};
    std::atomic<bool> over{false};
    std::thread sweeper([&] {
        while (!over) {
            in_process().run(
                "UPDATE queue SET expires_at = now() - interval '1 second'"
                " WHERE lease_ttl_seconds = 5 AND lease_id IS NOT NULL"
            );
            in_process().run_job("queue.expire_leases");
            in_process().run_job("queue.end_pauses");
        }
    });
    std::vector<std::thread> workers;
    for (int t = 0; t < 8; ++t)
        workers.emplace_back([&, t] {
            std::uint64_t luck = static_cast<std::uint64_t>(t) + 1;
            while (completed < cards) {
                luck = luck * 6364136223846793005u + 1442695040888963407u;
                const int mood = static_cast<int>(luck >> 40) % 5;
                // Whoever takes five seconds is one that will be swept from under its work.
                const Answer claim =
                    fixture.claim(fixture.owner, {{"lease_ttl_seconds", mood == 0 ? 5 : 60}});
                if (!claim.body.at("claimed").as_bool()) continue;
                if (mood == 1) say(fixture.owner, "fail_lease", claim);
                else if (mood == 2) say(fixture.owner, "release_lease", claim);
                else {
                    const Answer first = say(fixture.owner, "complete_lease", claim);
                    const Answer again = say(fixture.owner, "complete_lease", claim);
                    if (first.status == 200) ++completed;
                    if (first.status != again.status) ++odd;
                    if (first.status == 200 && first.body != again.body) ++odd;
                    if (first.status != 200 && first.status != 409) ++odd;
                }
            }
        });
    for (auto& worker : workers) worker.join();
    over = true;
    sweeper.join();
    EXPECT_EQ(odd, 0);
    EXPECT_EQ(completed, cards);
    EXPECT_EQ(fixture.titles(fixture.done).size(), static_cast<std::size_t>(cards));
    EXPECT_EQ(
        in_process().run("SELECT count(*) FROM (SELECT card_id, epoch FROM"
                         " lease_outcomes GROUP BY 1, 2 HAVING count(*) > 1) doubles"),
        "0"
    ) << "no fence was given twice";
}

namespace {

/// As if it had been claimed long ago: ids begin with their time.
void age(const Answer& claim) {
    in_process().run(
        "UPDATE lease_outcomes SET lease_id = overlay(lease_id::text PLACING '01000000-0000' FROM "
        "1)::uuid WHERE lease_id = '" +
        claim.text("/lease/id") + "'"
    );
}

std::string states_of(const Answer& claim) {
    return in_process().run(
        "SELECT string_agg(state, ' ' ORDER BY epoch) FROM lease_outcomes WHERE card_id = '" +
        claim.text("/card/id") + "'"
    );
}

}  // namespace

TEST(Outcomes, OfAttemptsLiveAsLongAsTheCardAndOthersAreForgottenAfterAWhile) {
    BoardFixture fixture({{"enabled", true}, {"backoff_seconds", 0}});
    fixture.card(fixture.queue);
    for (const char* how : {"release_lease", "fail_lease", "release_lease"}) {
        const Answer old = fixture.claim();
        say(fixture.owner, how, old);
        age(old);
    }
    const Answer young = fixture.claim();
    say(fixture.owner, "release_lease", young);
    const Answer last = fixture.claim();
    say(fixture.owner, "complete_lease", last);
    age(last);
    in_process().run_job("queue.forget_outcomes");
    EXPECT_EQ(states_of(last), "failed released completed");
    EXPECT_EQ(say(fixture.owner, "release_lease", young).status, 200) << "said again";
    const Answer listed =
        in_process().must(fixture.owner, "list_leases", {{"card_id", last.text("/card/id")}});
    EXPECT_EQ(listed.body.at("results").as_array().size(), 3U);
    in_process().run("DELETE FROM cards WHERE id = '" + last.text("/card/id") + "'");
    EXPECT_EQ(states_of(last), "") << "they go with the card";
}

TEST(Outcomes, OfACardThatIsClaimedOverAndOverAreTheLatestThousand) {
    BoardFixture fixture({{"enabled", true}, {"backoff_seconds", 0}, {"max_attempts", 5}});
    fixture.card(fixture.queue);
    const Answer first = fixture.claim();
    say(fixture.owner, "fail_lease", first);
    age(first);
    in_process().run(
        "UPDATE queue SET epoch = 1000 WHERE card_id = '" + first.text("/card/id") + "'"
    );
    in_process().run_job("queue.forget_outcomes");
    EXPECT_EQ(states_of(first), "failed");
    say(fixture.owner, "fail_lease", fixture.claim());
    in_process().run_job("queue.forget_outcomes");
    EXPECT_EQ(states_of(first), "failed") << "the first is the 1001st from the end";
    EXPECT_EQ(
        in_process().run(
            "SELECT epoch FROM lease_outcomes WHERE card_id = '" + first.text("/card/id") + "'"
        ),
        "1001"
    );
}

}  // namespace svc::test
