// What time and other people do to leases, on the real modules and database.

#include "tests/unit/queue/lease_steps.hpp"

#include <gmock/gmock.h>

#include <set>

namespace svc::test {

using testing::ElementsAre;

// ------------------------------------------------------------------------------- time is over

TEST(Expiry, GivesTheCardToSomebodyElseUnderAHigherFence) {
    BoardFixture desk({{"enabled", true}, {"backoff_seconds", 0}});
    desk.card(desk.queue);
    const Answer claim = desk.claim();
    in_process().forget_events();
    let_expire(claim);
    EXPECT_THAT(in_process().told(), ElementsAre("lease.expired"));
    EXPECT_EQ(
        in_process().run("SELECT actor::json ->> 'principal_type' FROM outbox LIMIT 1"), "system"
    );
    const Answer late = say(desk.owner, "complete_lease", claim);
    EXPECT_EQ(late.status, 409);
    EXPECT_EQ(late.text("/code"), "lease_lost");
    EXPECT_EQ(late.text("/additional_data/outcome"), "expired");
    const Answer next = desk.claim();
    EXPECT_EQ(next.number("/lease/epoch"), 2);
    EXPECT_EQ(next.number("/lease/attempt"), 2);
    EXPECT_EQ(say(desk.owner, "complete_lease", claim).status, 409) << "the fence holds";
    EXPECT_EQ(say(desk.owner, "complete_lease", next).status, 200);
}

TEST(Expiry, TheRowDecidesNotTheClock) {
    BoardFixture desk;
    desk.card(desk.queue);
    const Answer claim = desk.claim();
    in_process().run(
        "UPDATE queue SET expires_at = now() - interval '1 hour' WHERE lease_id = '" +
        claim.text("/lease/id") + "'"
    );
    EXPECT_FALSE(desk.claim().body.at("claimed").as_bool());
    EXPECT_EQ(say(desk.owner, "complete_lease", claim).status, 200);
}

TEST(Expiry, LeasesThatAreRenewedOutliveTheSweeper) {
    BoardFixture desk;
    desk.card(desk.queue);
    const Answer claim = desk.claim();
    in_process().run(
        "UPDATE queue SET expires_at = now() - interval '1 hour' WHERE lease_id = '" +
        claim.text("/lease/id") + "'"
    );
    ASSERT_EQ(say(desk.owner, "renew_lease", claim).status, 200);
    in_process().run_job("queue.expire_leases");
    EXPECT_EQ(say(desk.owner, "complete_lease", claim).status, 200);
}

TEST(Expiry, CountsAsATryAndExhausts) {
    BoardFixture desk({{"enabled", true}, {"max_attempts", 1}});
    in_process().run(
        "UPDATE columns SET on_exhausted_column_id = '" + desk.backlog.str() + "' WHERE id = '" +
        desk.queue.str() + "'"
    );
    const Answer made = desk.card(desk.queue);
    const Answer claim = desk.claim();
    in_process().forget_events();
    let_expire(claim);
    EXPECT_THAT(in_process().told(), ElementsAre("lease.expired", "card.moved", "card.exhausted"));
    const Answer card = desk.get(made.id());
    EXPECT_EQ(card.text("/column_id"), desk.backlog.str());
    EXPECT_EQ(card.text("/queue/state"), "idle");
    EXPECT_EQ(card.text("/last_edited_by/principal_type"), "system");
}

TEST(Expiry, ManyWorkspacesAreSweptEachForItself) {
    BoardFixture one({{"enabled", true}, {"backoff_seconds", 0}}),
        two({{"enabled", true}, {"backoff_seconds", 0}});
    std::vector<Answer> claims;
    for (BoardFixture* desk : {&one, &two})
        for (int i = 0; i < 3; ++i) {
            desk->card(desk->queue);
            claims.push_back(desk->claim());
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
    EXPECT_EQ(in_process().run("SELECT count(*) FROM outbox WHERE kind = 'lease.expired'"), "6");
    EXPECT_EQ(claim_all(one).size(), 3U);
    EXPECT_EQ(claim_all(two).size(), 3U);
}

// ------------------------------------------------------------- people move cards meanwhile

TEST(Revoking, HappensWhenAPersonTakesTheCardElsewhere) {
    BoardFixture desk;
    for (const char* word : {"move_card", "archive_card"}) {
        const std::string id = desk.card(desk.queue).text("/id");
        const Answer claim = desk.claim();
        in_process().forget_events();
        boost::json::object what{{"card_id", id}};
        if (std::string_view(word) == "move_card") what["column_id"] = desk.backlog.str();
        const Answer moved = in_process().must(desk.owner, word, what);
        EXPECT_TRUE(moved.body.at("lease").is_null());
        EXPECT_EQ(moved.body, desk.get(*Uuid::parse(id)).body);
        EXPECT_EQ(in_process().told().back(), "lease.revoked");
        const Answer late = say(desk.owner, "complete_lease", claim);
        EXPECT_EQ(late.status, 409);
        EXPECT_EQ(late.text("/additional_data/outcome"), "revoked");
    }
}

TEST(Revoking, DoesNotHappenByEditingOrMovingWithinTheColumn) {
    BoardFixture desk;
    const std::string id = desk.card(desk.queue).text("/id");
    desk.card(desk.queue);
    const Answer claim = desk.claim();
    in_process().must(
        desk.owner, "update_card", {{"card_id", id}, {"title", "better"}, {"priority", "low"}}
    );
    const Answer moved = in_process().must(
        desk.owner, "move_card", {{"card_id", id}, {"column_id", desk.queue.str()}}
    );
    EXPECT_EQ(moved.text("/queue/state"), "leased");
    EXPECT_EQ(moved.text("/lease/id"), claim.text("/lease/id"));
    EXPECT_EQ(say(desk.owner, "complete_lease", claim).status, 200);
}

TEST(Revoking, RacesWithTheHolderAndOneOfThemWins) {
    BoardFixture desk;
    for (int round = 0; round < 10; ++round) {
        const std::string id = desk.card(desk.queue).text("/id");
        const Answer claim = desk.claim();
        Answer completed, moved;
        std::thread holder([&] { completed = say(desk.owner, "complete_lease", claim); });
        std::thread person([&] {
            moved = in_process().ask(
                desk.owner, "move_card", {{"card_id", id}, {"column_id", desk.backlog.str()}}
            );
        });
        holder.join();
        person.join();
        EXPECT_EQ(moved.status, 200);
        EXPECT_TRUE(completed.status == 200 || completed.status == 409);
        EXPECT_EQ(desk.get(*Uuid::parse(id)).text("/queue/state"), "idle");
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
    BoardFixture desk({{"enabled", true}, {"backoff_seconds", 0}, {"max_attempts", 100}});
    constexpr int cards = 60;
    for (int i = 0; i < cards; ++i) desk.card(desk.queue, {{"title", std::to_string(i)}});
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
                    desk.claim(desk.owner, {{"lease_ttl_seconds", mood == 0 ? 5 : 60}});
                if (!claim.body.at("claimed").as_bool()) continue;
                if (mood == 1) say(desk.owner, "fail_lease", claim);
                else if (mood == 2) say(desk.owner, "release_lease", claim);
                else {
                    const Answer first = say(desk.owner, "complete_lease", claim);
                    const Answer again = say(desk.owner, "complete_lease", claim);
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
    EXPECT_EQ(desk.titles(desk.done).size(), static_cast<std::size_t>(cards));
    EXPECT_EQ(
        in_process().run(
            "SELECT count(*) FROM (SELECT card_id, (lease ->> 'epoch')::int AS epoch FROM"
            " lease_outcomes GROUP BY 1, 2 HAVING count(*) > 1) doubles"
        ),
        "0"
    ) << "no fence was given twice";
}

TEST(Outcomes, AreForgottenAfterAWhile) {
    BoardFixture desk;
    desk.card(desk.queue);
    desk.card(desk.queue);
    const Answer old = desk.claim();
    say(desk.owner, "complete_lease", old);
    const Answer young = desk.claim();
    say(desk.owner, "complete_lease", young);
    // An id of long ago: ids begin with their time.
    const std::string ancient = "01000000-0000-7000-8000-000000000000";
    in_process().run(
        "UPDATE lease_outcomes SET lease_id = '" + ancient + "' WHERE lease_id = '" +
        old.text("/lease/id") + "'"
    );
    in_process().run_job("queue.forget_outcomes");
    EXPECT_EQ(
        in_process().run("SELECT count(*) FROM lease_outcomes WHERE lease_id = '" + ancient + "'"),
        "0"
    );
    EXPECT_EQ(say(desk.owner, "complete_lease", young).status, 200);
}

}  // namespace svc::test
