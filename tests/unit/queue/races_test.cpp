// Everybody who may end a lease does so at once: its holder in every way, a person who revokes it
// or puts the card away and back, and the time.

#include "tests/unit/queue/lease_steps.hpp"

#include <gmock/gmock.h>

#include <thread>

namespace svc::test {

namespace {

using boost::json::object;

std::string ended_of(const Answer& claim) {
    return in_process().run(
        "SELECT count(*) FROM lease_outcomes WHERE lease_id = '" + claim.text("/lease/id") + "'"
    );
}

std::string told_of(const Answer& claim) {
    return in_process().run(
        "SELECT count(*) FILTER (WHERE kind = 'lease.claimed') || ' ' || count(*) FROM event_log "
        "WHERE object = 'lease' AND object_id = '" +
        claim.text("/lease/id") + "'"
    );
}

}  // namespace

TEST(Races, OfAllWhoEndALeaseOneDoesAndTheCardIsNobodysTwice) {
    BoardFixture fixture(
        {{"enabled", true}, {"max_in_flight", 2}, {"max_attempts", 3}, {"backoff_seconds", 0}}
    );
    const Caller bot = in_process().agent(fixture.owner, OrgRole::member, "Bot");
    for (int i = 0; i < 4; ++i) fixture.card(fixture.queue);
    for (int round = 0; round < 40; ++round) {
        const Answer claim = fixture.claim(bot);
        ASSERT_TRUE(claim.body.at("claimed").as_bool()) << claim.body << " in round " << round;
        const value card{{"card_id", claim.text("/card/id")}};
        in_process().run(
            "UPDATE queue SET expires_at = now() - interval '1 second' WHERE lease_id = '" +
            claim.text("/lease/id") + "'"
        );
        std::atomic<int> faults{0};
        const auto tell = [&](const Answer& answer) {
            if (answer.status >= 500) ++faults;
        };
        const auto here = [&](const char* word, const value& what) {
            tell(in_process().ask(fixture.owner, word, what));
        };
        std::vector<std::function<void()>> steps{
            [&] {
                tell(say(bot, "complete_lease", claim, {{"target_column_id", fixture.queue.str()}})
                );
            },
            [&] { tell(say(bot, "fail_lease", claim)); },
            [&] { tell(say(bot, "release_lease", claim)); },
            [&] { tell(say(bot, "renew_lease", claim)); },
            [&] { here("revoke_lease", {{"lease_id", claim.text("/lease/id")}}); },
            [&] { in_process().run_job("queue.expire_leases"); },
            [&] {
                here("archive_card", card);
                here("restore_card", card);
            },
            [&] {
                here("hold_card", card);
                here("requeue_card", card);
            },
            [&] {
                const Answer other = fixture.claim(bot);
                if (other.body.at("claimed").as_bool()) tell(say(bot, "release_lease", other));
            },
        };
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < steps.size(); ++i)  // each is first now and then
            threads.emplace_back(steps[(i + static_cast<std::size_t>(round)) % steps.size()]);
        for (auto& each : threads) each.join();
        EXPECT_EQ(faults, 0);
        // Whoever renewed in time may hold it still.
        if (ended_of(claim) == "0") EXPECT_EQ(say(bot, "release_lease", claim).status, 200);
        EXPECT_EQ(ended_of(claim), "1");
        EXPECT_EQ(told_of(claim), "1 2");
        EXPECT_EQ(
            in_process().run(
                "SELECT count(*) FROM queue WHERE (state = 'leased') <> (lease_id IS NOT NULL) OR "
                "(state = 'backoff') <> (available_at IS NOT NULL) OR attempt < 0"
            ),
            "0"
        );
        EXPECT_EQ(
            in_process().run(
                "SELECT count(*) FROM queue WHERE state = 'leased' AND column_id = '" +
                fixture.queue.str() + "'"
            ),
            "0"
        ) << "nobody holds any of them";
        const Answer now = fixture.get(*Uuid::parse(claim.text("/card/id")));
        if (now.text("/queue/state") != "ready") here("requeue_card", card);
        if (now.text("/column_id") != fixture.queue.str())
            here(
                "move_card",
                {{"card_id", claim.text("/card/id")}, {"column_id", fixture.queue.str()}}
            );
    }
}

}  // namespace svc::test
