// What time and other people do to leases, on the real modules and database.

#include "tests/unit/queue/holder.hpp"

#include <gmock/gmock.h>

#include <set>

namespace svc::test {

using testing::ElementsAre;

// ------------------------------------------------------------------------------- time is over

TEST(Expiry, GivesTheCardToSomebodyElseUnderAHigherFence) {
    Desk desk({{"enabled", true}, {"backoff_seconds", 0}});
    desk.card(desk.queue);
    const Said claim = desk.claim();
    world().forget_events();
    let_expire(claim);
    EXPECT_THAT(world().told(), ElementsAre("lease.expired"));
    EXPECT_EQ(world().run("SELECT actor::json ->> 'principal_type' FROM outbox LIMIT 1"), "system");
    const Said late = say(desk.owner, "complete_lease", claim);
    EXPECT_EQ(late.status, 409);
    EXPECT_EQ(late.text("/code"), "lease_lost");
    EXPECT_EQ(late.text("/additional_data/outcome"), "expired");
    const Said next = desk.claim();
    EXPECT_EQ(next.number("/lease/epoch"), 2);
    EXPECT_EQ(next.number("/lease/attempt"), 2);
    EXPECT_EQ(say(desk.owner, "complete_lease", claim).status, 409) << "the fence holds";
    EXPECT_EQ(say(desk.owner, "complete_lease", next).status, 200);
}

TEST(Expiry, TheRowDecidesNotTheClock) {
    Desk desk;
    desk.card(desk.queue);
    const Said claim = desk.claim();
    world().run(
        "UPDATE queue SET expires_at = now() - interval '1 hour' WHERE lease_id = '" +
        claim.text("/lease/id") + "'"
    );
    EXPECT_FALSE(desk.claim().body.at("claimed").as_bool());
    EXPECT_EQ(say(desk.owner, "complete_lease", claim).status, 200);
}

TEST(Expiry, LeasesThatAreRenewedOutliveTheSweeper) {
    Desk desk;
    desk.card(desk.queue);
    const Said claim = desk.claim();
    world().run(
        "UPDATE queue SET expires_at = now() - interval '1 hour' WHERE lease_id = '" +
        claim.text("/lease/id") + "'"
    );
    ASSERT_EQ(say(desk.owner, "renew_lease", claim).status, 200);
    world().run_job("queue.expire_leases");
    EXPECT_EQ(say(desk.owner, "complete_lease", claim).status, 200);
}

TEST(Expiry, CountsAsATryAndExhausts) {
    Desk desk({{"enabled", true}, {"max_attempts", 1}});
    world().run(
        "UPDATE columns SET on_exhausted_column_id = '" + desk.backlog.str() + "' WHERE id = '" +
        desk.queue.str() + "'"
    );
    const Said made = desk.card(desk.queue);
    const Said claim = desk.claim();
    world().forget_events();
    let_expire(claim);
    EXPECT_THAT(world().told(), ElementsAre("lease.expired", "card.moved", "card.exhausted"));
    const Said card = desk.get(made.id());
    EXPECT_EQ(card.text("/column_id"), desk.backlog.str());
    EXPECT_EQ(card.text("/queue/state"), "idle");
    EXPECT_EQ(card.text("/last_edited_by/principal_type"), "system");
}

TEST(Expiry, ManyWorkspacesAreSweptEachForItself) {
    Desk one({{"enabled", true}, {"backoff_seconds", 0}}),
        two({{"enabled", true}, {"backoff_seconds", 0}});
    std::vector<Said> claims;
    for (Desk* desk : {&one, &two})
        for (int i = 0; i < 3; ++i) {
            desk->card(desk->queue);
            claims.push_back(desk->claim());
        }
    for (const Said& claim : claims)
        world().run(
            "UPDATE queue SET expires_at = now() - interval '1 second' WHERE lease_id = '" +
            claim.text("/lease/id") + "'"
        );
    std::vector<std::thread> servers;
    for (int i = 0; i < 4; ++i)
        servers.emplace_back([] { world().run_job("queue.expire_leases"); });
    for (auto& server : servers) server.join();
    EXPECT_EQ(world().run("SELECT count(*) FROM outbox WHERE kind = 'lease.expired'"), "6");
    EXPECT_EQ(claim_all(one).size(), 3U);
    EXPECT_EQ(claim_all(two).size(), 3U);
}

// ------------------------------------------------------------- people move cards meanwhile

TEST(Revoking, HappensWhenAPersonTakesTheCardElsewhere) {
    Desk desk;
    for (const char* word : {"move_card", "archive_card"}) {
        const std::string id = desk.card(desk.queue).text("/id");
        const Said claim = desk.claim();
        world().forget_events();
        boost::json::object what{{"card_id", id}};
        if (std::string_view(word) == "move_card") what["column_id"] = desk.backlog.str();
        const Said moved = world().must(desk.owner, word, what);
        EXPECT_TRUE(moved.body.at("lease").is_null());
        EXPECT_EQ(moved.body, desk.get(*Uuid::parse(id)).body);
        EXPECT_EQ(world().told().back(), "lease.revoked");
        const Said late = say(desk.owner, "complete_lease", claim);
        EXPECT_EQ(late.status, 409);
        EXPECT_EQ(late.text("/additional_data/outcome"), "revoked");
    }
}

TEST(Revoking, DoesNotHappenByEditingOrMovingWithinTheColumn) {
    Desk desk;
    const std::string id = desk.card(desk.queue).text("/id");
    desk.card(desk.queue);
    const Said claim = desk.claim();
    world().must(
        desk.owner, "update_card", {{"card_id", id}, {"title", "better"}, {"priority", "low"}}
    );
    const Said moved =
        world().must(desk.owner, "move_card", {{"card_id", id}, {"column_id", desk.queue.str()}});
    EXPECT_EQ(moved.text("/queue/state"), "leased");
    EXPECT_EQ(moved.text("/lease/id"), claim.text("/lease/id"));
    EXPECT_EQ(say(desk.owner, "complete_lease", claim).status, 200);
}

TEST(Revoking, RacesWithTheHolderAndOneOfThemWins) {
    Desk desk;
    for (int round = 0; round < 10; ++round) {
        const std::string id = desk.card(desk.queue).text("/id");
        const Said claim = desk.claim();
        Said completed, moved;
        std::thread holder([&] { completed = say(desk.owner, "complete_lease", claim); });
        std::thread person([&] {
            moved = world().ask(
                desk.owner, "move_card", {{"card_id", id}, {"column_id", desk.backlog.str()}}
            );
        });
        holder.join();
        person.join();
        EXPECT_EQ(moved.status, 200);
        EXPECT_TRUE(completed.status == 200 || completed.status == 409);
        EXPECT_EQ(desk.get(*Uuid::parse(id)).text("/queue/state"), "idle");
        EXPECT_EQ(
            world().run(
                "SELECT count(*) FROM lease_outcomes WHERE lease_id = '" + claim.text("/lease/id") +
                "'"
            ),
            "1"
        );
    }
}

// -------------------------------------------------------------------------- all of it at once

TEST(Storm, WorkersThatStallCrashAndRepeatLoseNoCardAndShareNone) {
    Desk desk({{"enabled", true}, {"backoff_seconds", 0}, {"max_attempts", 100}});
    constexpr int cards = 60;
    for (int i = 0; i < cards; ++i) desk.card(desk.queue, {{"title", std::to_string(i)}});
    std::atomic<int> odd{0}, completed{0};
    std::atomic<bool> over{false};
    std::thread sweeper([&] {
        while (!over) {
            world().run(
                "UPDATE queue SET expires_at = now() - interval '1 second'"
                " WHERE lease_ttl_seconds = 5 AND lease_id IS NOT NULL"
            );
            world().run_job("queue.expire_leases");
            world().run_job("queue.end_pauses");
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
                const Said claim =
                    desk.claim(desk.owner, {{"lease_ttl_seconds", mood == 0 ? 5 : 60}});
                if (!claim.body.at("claimed").as_bool()) continue;
                if (mood == 1) say(desk.owner, "fail_lease", claim);
                else if (mood == 2) say(desk.owner, "release_lease", claim);
                else {
                    const Said first = say(desk.owner, "complete_lease", claim);
                    const Said again = say(desk.owner, "complete_lease", claim);
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
        world().run("SELECT count(*) FROM (SELECT card_id, (lease ->> 'epoch')::int AS epoch FROM"
                    " lease_outcomes GROUP BY 1, 2 HAVING count(*) > 1) doubles"),
        "0"
    ) << "no fence was given twice";
}

TEST(Outcomes, AreForgottenAfterAWhile) {
    Desk desk;
    desk.card(desk.queue);
    desk.card(desk.queue);
    const Said old = desk.claim();
    say(desk.owner, "complete_lease", old);
    const Said young = desk.claim();
    say(desk.owner, "complete_lease", young);
    // An id of long ago: ids begin with their time.
    const std::string ancient = "01000000-0000-7000-8000-000000000000";
    world().run(
        "UPDATE lease_outcomes SET lease_id = '" + ancient + "' WHERE lease_id = '" +
        old.text("/lease/id") + "'"
    );
    world().run_job("queue.forget_outcomes");
    EXPECT_EQ(
        world().run("SELECT count(*) FROM lease_outcomes WHERE lease_id = '" + ancient + "'"), "0"
    );
    EXPECT_EQ(say(desk.owner, "complete_lease", young).status, 200);
}

}  // namespace svc::test
