// What one workspace's faults and floods do to the sweeps of the others: nothing.

#include "tests/unit/queue/lease_steps.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace svc::test {

namespace {

/// Refuses every write to the queues of a workspace, as a fault that lasts would.
class Broken {
public:
    explicit Broken(const BoardFixture& of) : where_("queue_of_" + of.queue.str().substr(24)) {
        in_process().run(
            "CREATE OR REPLACE FUNCTION refuse_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "RAISE EXCEPTION 'out of order'; END $$; GRANT EXECUTE ON FUNCTION refuse_it TO "
            "PUBLIC; CREATE TRIGGER " +
            where_ + " BEFORE UPDATE ON queue FOR EACH ROW WHEN (OLD.org_id = '" +
            of.owner.org_id->str() + "') EXECUTE FUNCTION refuse_it()"
        );
    }
    ~Broken() { in_process().run("DROP TRIGGER " + where_ + " ON queue"); }
    Broken(const Broken&) = delete;
    Broken& operator=(const Broken&) = delete;

private:
    const std::string where_;
};

std::string state_of(const Answer& claim) {
    return in_process().run(
        "SELECT state FROM queue WHERE card_id = '" + claim.text("/card/id") + "'"
    );
}

}  // namespace

TEST(Sweeps, AFaultInOneWorkspaceHoldsUpNoOther) {
    BoardFixture one({{"enabled", true}, {"backoff_seconds", 60}}),
        two({{"enabled", true}, {"backoff_seconds", 60}});
    for (BoardFixture* fixture : {&one, &two}) fixture->card(fixture->queue);
    for (const int attempts : {9, 9, 1, 1}) {
        const bool is_last = attempts == 1;
        std::swap(one, two);  // whichever is swept first
        for (const BoardFixture* fixture : {&one, &two})
            in_process().run(
                "UPDATE columns SET max_attempts = " + std::to_string(attempts) + " WHERE id = '" +
                fixture->queue.str() + "'"
            );
        const Answer claims[]{one.claim(), two.claim()};
        const auto sweep = [&](const char* job, const char* column, const char* state) {
            in_process().run(
                std::string("UPDATE queue SET ") + column +
                " = now() - interval '1 second' WHERE " + column + " IS NOT NULL"
            );
            {
                const Broken fault(one);
                EXPECT_ANY_THROW(in_process().run_job(job)) << "somebody is to hear of it";
                EXPECT_EQ(state_of(claims[1]), state);
            }
            in_process().run_job(job);
            EXPECT_EQ(state_of(claims[0]), state);
        };
        sweep("queue.expire_leases", "expires_at", is_last ? "exhausted" : "backoff");
        if (!is_last) sweep("queue.end_pauses", "available_at", "ready");
        for (const auto& [fixture, claim] :
             {std::pair(&one, &claims[0]), std::pair(&two, &claims[1])})
            in_process().must(
                fixture->owner, "requeue_card", {{"card_id", claim->text("/card/id")}}
            );
    }
}

// The numbers of the transactions say in which order they were made.
TEST(Sweeps, AWorkspaceInWhichMuchIsDueHoldsUpNoOther) {
    BoardFixture one({{"enabled", true}, {"backoff_seconds", 60}}),
        two({{"enabled", true}, {"backoff_seconds", 60}});
    for (const auto& [busy, calm] : {std::pair(&one, &two), std::pair(&two, &one)}) {
        for (BoardFixture* fixture : {busy, calm}) fixture->card(fixture->queue);
        const Answer of_calm = calm->claim(), of_busy = busy->claim();
        in_process().run(
            "SET session_replication_role = replica; INSERT INTO queue (org_id, card_id, board_id, "
            "column_id, state, urgency, place, attempt, epoch, lease_id, lease_digest, holder_id, "
            "lease_ttl_seconds, claimed_at, expires_at) SELECT org_id, gen_random_uuid(), "
            "board_id, column_id, state, urgency, place, attempt, epoch, gen_random_uuid(), "
            "lease_digest, holder_id, lease_ttl_seconds, claimed_at, expires_at FROM queue, "
            "generate_series(1, 600) WHERE card_id = '" +
            of_busy.text("/card/id") + "'"
        );
        const auto come_first = [&](const char* job, const char* column) {
            in_process().run(
                std::string("UPDATE queue SET ") + column +
                " = now() - interval '1 second' WHERE " + column + " IS NOT NULL"
            );
            in_process().run_job(job);
            EXPECT_EQ(
                in_process().run(
                    "SELECT xmin::text::bigint < (SELECT max(xmin::text::bigint) FROM queue WHERE "
                    "column_id = '" +
                    busy->queue.str() + "') FROM queue WHERE card_id = '" +
                    of_calm.text("/card/id") + "'"
                ),
                "t"
            ) << job;
        };
        come_first("queue.expire_leases", "expires_at");
        come_first("queue.end_pauses", "available_at");
        in_process().run(
            "DELETE FROM queue q WHERE NOT EXISTS (SELECT FROM cards c WHERE c.id = q.card_id)"
        );
        for (BoardFixture* fixture : {busy, calm}) fixture->claim();
    }
}

// What another server did is known by its events alone, which come once.
TEST(Sweeps, RightsThatEndedElsewhereAreLookedAtAgainWhereverAFaultWas) {
    BoardFixture one, two;
    std::vector<Answer> claims;
    std::vector<StoredEvent> events;
    for (BoardFixture* fixture : {&one, &two}) {
        const Caller bot = in_process().agent(fixture->owner, OrgRole::member, "Bot");
        fixture->card(fixture->queue);
        claims.push_back(fixture->claim(bot));
        in_process().run("UPDATE agents SET status = 'disabled' WHERE id = '" + bot.id.str() + "'");
        StoredEvent& event = events.emplace_back();
        event.org_id = *fixture->owner.org_id;
        event.kind = "agent.disabled";
        event.object = "agent";
        event.object_id = bot.id;
    }
    for (const EventListener& each : in_process().kernel().impl().listeners) each(events);
    {
        const Broken first(one), second(two);
        EXPECT_ANY_THROW(in_process().run_job("queue.look_at_rights"));
    }
    in_process().run_job("queue.look_at_rights");
    for (const Answer& each : claims) EXPECT_EQ(state_of(each), "ready");
}

}  // namespace svc::test
