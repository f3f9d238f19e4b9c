#include "modules/queue/sweeper.hpp"
#include "modules/boards/api/shapes.hpp"
#include "svc/workspace_jobs.hpp"

#include "modules/queue/lib/each_by_itself.hpp"
#include "modules/queue/watcher.hpp"

#include <exception>
#include <set>

namespace svc::queue {

namespace {

constexpr std::int64_t batch = 500;

/// Calls `work` with each workspace for a batch, and again with those in which it found a whole
/// one: one in which much is due holds up the others no longer than that.
template <class Work>
void in_turns(const Kernel& kernel, std::vector<Uuid> orgs, Work work) {
    std::exception_ptr problem;
    while (!orgs.empty() && !kernel.stopping()) {
        std::vector<Uuid> left;
        try {
            each_by_itself(orgs, [&](const Uuid& org) {
                if (work(org) == batch) left.push_back(org);
            });
        } catch (const std::exception&) {
            problem = std::current_exception();
        }
        orgs = std::move(left);
    }
    if (problem) std::rethrow_exception(problem);
}

// ----------------------------------------------------------------------------------- expiry

// The leases are gone through anyway, for no index has their times: what is over before the next
// look is seen on the way. $1 milliseconds.
constexpr std::string_view to_expire = R"(
    SELECT q.org_id, coalesce(bool_or(q.expires_at < now()), false) AS now,
        ceil(extract(epoch FROM min(q.expires_at) FILTER (WHERE q.expires_at >= now()) - now())
            * 1000)::bigint AS next_milliseconds
    FROM queue q
    WHERE q.lease_id IS NOT NULL
        AND q.expires_at < now() + $1::bigint * interval '1 millisecond')";
constexpr std::string_view here = R"(
        AND q.org_id = $2)";
constexpr std::string_view by_workspace = R"(
    GROUP BY q.org_id)";
constexpr Sql workspaces_with_expired{
    "queue.workspaces_with_expired", SqlText<to_expire, by_workspace>::view
};
constexpr Sql next_to_expire{"queue.next_to_expire", SqlText<to_expire, here, by_workspace>::view};

struct ToExpire {
    Uuid org_id;
    bool now = false;
    std::optional<std::int64_t> next_milliseconds;
};
SVC_RECORD(ToExpire, (org_id), (now), (next_milliseconds));

// But for those whose attempts are used up. The rule of each one's column is looked up by its key:
// where a server was away for long, and finds all leases expired, a join goes through all of them
// once for each column.
constexpr Sql take_expired{"queue.take_expired", R"(
    SELECT )" SVC_QUEUE_ROW ", " SVC_HOLDER("q") R"(
    FROM queue q
    CROSS JOIN LATERAL (
        SELECT * FROM columns c WHERE c.org_id = $1 AND c.id = q.column_id OFFSET 0
    ) k
    WHERE q.org_id = $1 AND q.lease_id IS NOT NULL AND q.expires_at < now()
        AND q.attempt < k.max_attempts
    ORDER BY q.expires_at
    LIMIT $2
    FOR UPDATE OF q SKIP LOCKED)"};

constexpr Sql find_last_attempts{"queue.find_expired_last_attempts", R"(
    SELECT q.card_id
    FROM queue q
    CROSS JOIN LATERAL (
        SELECT c.max_attempts FROM columns c WHERE c.org_id = $1 AND c.id = q.column_id OFFSET 0
    ) k
    WHERE q.org_id = $1 AND q.lease_id IS NOT NULL AND q.expires_at < now()
        AND q.attempt >= k.max_attempts
    ORDER BY q.expires_at
    LIMIT $2)"};

struct LastAttempt {
    Uuid card_id;
};
SVC_RECORD(LastAttempt, (card_id));

constexpr std::string_view expiring = "queue.expire_leases";

struct Expired {
    Lease lease;
    boards::CardQueue standing;
};
Expired expired(const Uuid& org, const QueueRow& held) {
    const std::string why = "The worker was not heard of before the lease expired.";
    return {
        ended(lease_of(org, held), LeaseState::expired, held.now),
        after_failure(held, Retry::yes, std::nullopt, why, random_bits())
    };
}

/// The lease ends and the card, exhausted, goes where its column sends such cards: in one
/// transaction, so that a server that stops leaves both to the next sweep, whosever that is. By
/// itself, for cards are locked before their rows.
void expire_last(Kernel& kernel, const Uuid& org, const Uuid& card) {
    in_workspace(kernel, org, expiring, [&](Tx& tx, Actor& actor) {
        const auto caller = boards::BoardCaller::of_system(org);
        auto move = kernel.use<boards::Moves>().begin(
            tx,
            caller,
            boards::MoveWish{card, std::nullopt},
            boards::MoveReason::exhausted,
            kernel.use<OwnWatcher>().watcher.get()
        );
        auto later = lock_held(tx, caller, std::vector{card});
        const bool is_there = move->card() != nullptr;
        const auto held = later.one();
        if (!held || !held->lease_id || held->expires_at >= held->now) return;
        const auto [lease, standing] = expired(org, *held);
        end_leases(kernel, tx, actor, org, {{&lease_expired, lease, *held, {standing}}});
        if (is_there)
            stand(kernel, tx, actor, org, *held, settle(actor, *move, *held, standing).standing);
    });
}

void expire_last_attempts(Kernel& kernel, const Uuid& org) {
    std::vector<LastAttempt> last;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(org, {});
        last = tx.all<LastAttempt>(find_last_attempts, org, batch);
    });
    each_by_itself(last, [&](const LastAttempt& each) {
        if (!kernel.stopping()) expire_last(kernel, org, each.card_id);
    });
}

/// A batch of them; how many these were.
std::int64_t expire_some(Kernel& kernel, const Uuid& org) {
    std::int64_t found = 0;
    in_workspace(kernel, org, expiring, [&](Tx& tx, Actor& actor) {
        const auto rows = tx.all<QueueRow>(take_expired, org, batch);
        for (const QueueRow& held : rows) {
            const auto [lease, standing] = expired(org, held);
            end_leases(kernel, tx, actor, org, {{&lease_expired, lease, held, {standing}}});
        }
        found = std::ssize(rows);
    });
    if (found < batch) expire_last_attempts(kernel, org);
    return found;
}

// ----------------------------------------------------------------------------------- pauses

constexpr Sql workspaces_with_rested{"queue.workspaces_with_rested", R"(
    SELECT DISTINCT q.org_id FROM queue q
    WHERE q.state = 'backoff' AND q.available_at <= now())"};

constexpr std::string_view end_those = R"(
    UPDATE queue SET state = 'ready', available_at = NULL
    WHERE org_id = $1 AND card_id = ANY (ARRAY(
        SELECT r.card_id FROM queue r
        WHERE r.org_id = $1 AND r.state = 'backoff' AND r.available_at <= now())";
constexpr std::string_view in_column = R"( AND r.column_id = $3)";
constexpr std::string_view oldest_first = R"(
        ORDER BY r.available_at
        LIMIT $2
        FOR UPDATE SKIP LOCKED))
    RETURNING column_id)";
constexpr Sql end_pauses_anywhere{"queue.end_pauses", SqlText<end_those, oldest_first>::view};
constexpr Sql end_pauses_in_column{
    "queue.end_pauses_of_column", SqlText<end_those, in_column, oldest_first>::view
};

struct Rested {
    Uuid column_id;
};
SVC_RECORD(Rested, (column_id));

/// A batch of them, by `statement` with what it asks besides; how many these were.
template <class... Arg>
std::int64_t end_some_pauses(
    Kernel& kernel, const Uuid& org, const Sql& statement, const Arg&... arg
) {
    std::int64_t found = 0;
    in_workspace(kernel, org, "queue.end_pauses", [&](Tx& tx, Actor& actor) {
        const auto rested = tx.all<Rested>(statement, org, batch, arg...);
        std::set<Uuid> columns;
        for (const Rested& card : rested) columns.insert(card.column_id);
        for (const Uuid& column : columns)
            actor.after_commit([&kernel, column] { wake_everywhere(kernel, column); });
        found = std::ssize(rested);
    });
    return found;
}

// --------------------------------------------------------------------------------- outcomes

constexpr Sql all_workspaces{"queue.workspaces_with_outcomes", R"(
    SELECT o.id AS org_id FROM orgs o
    WHERE EXISTS (
            SELECT FROM lease_outcomes e
            WHERE e.org_id = o.id AND e.lease_id < $1 AND e.state IN ('released', 'revoked'))
        OR EXISTS (SELECT FROM queue q WHERE q.org_id = o.id AND q.epoch > 1000))"};

constexpr Sql drop_no_attempts{"queue.drop_no_attempts", R"(
    DELETE FROM lease_outcomes
    WHERE org_id = $1 AND lease_id = ANY (ARRAY(
        SELECT e.lease_id FROM lease_outcomes e
        WHERE e.org_id = $1 AND e.lease_id < $2 AND e.state IN ('released', 'revoked')
        LIMIT $3)))"};

// Of a card that is claimed over and over, all but its latest thousand claims.
constexpr Sql drop_oldest_attempts{"queue.drop_oldest_attempts", R"(
    DELETE FROM lease_outcomes
    WHERE org_id = $1 AND lease_id = ANY (ARRAY(
        SELECT e.lease_id
        FROM queue q
        CROSS JOIN LATERAL (
            SELECT o.lease_id FROM lease_outcomes o
            WHERE o.org_id = $1 AND o.card_id = q.card_id AND o.epoch <= q.epoch - 1000
                AND o.lease_id < $2
            ORDER BY o.ended_at
            LIMIT $3
        ) e
        WHERE q.org_id = $1 AND q.epoch > 1000
        LIMIT $3)))"};

void set_alarm(Alarms& alarms, const ToExpire& found) {
    if (found.next_milliseconds)
        alarms.set({found.org_id}, std::chrono::milliseconds(*found.next_milliseconds + 1));
}

}  // namespace

void expire_leases(Kernel& kernel, Alarms& alarms, std::chrono::milliseconds ahead) {
    std::vector<ToExpire> all;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        all = tx.all<ToExpire>(workspaces_with_expired, ahead.count());
    });
    std::vector<Uuid> due;
    for (const ToExpire& each : all) {
        set_alarm(alarms, each);
        if (each.now) due.push_back(each.org_id);
    }
    in_turns(kernel, due, [&](const Uuid& org) { return expire_some(kernel, org); });
}

void expire_leases_of(
    Kernel& kernel, const Uuid& org, Alarms& alarms, std::chrono::milliseconds ahead
) {
    if (expire_some(kernel, org) == batch) return alarms.set({org}, {});  // behind the others
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(org, {});
        for (const auto& each : tx.all<ToExpire>(next_to_expire, ahead.count(), org))
            set_alarm(alarms, each);
    });
}

void end_pauses(Kernel& kernel) {
    std::vector<Uuid> due;
    for (const auto& [org] : workspaces(kernel, workspaces_with_rested)) due.push_back(org);
    in_turns(kernel, due, [&](const Uuid& org) {
        return end_some_pauses(kernel, org, end_pauses_anywhere);
    });
}

void end_pauses_of(Kernel& kernel, const Uuid& org, const Uuid& column) {
    end_some_pauses(kernel, org, end_pauses_in_column, column);
    wake(kernel, column);  // who has waited in vain learns when the next pause ends
}

void add_forgetting(Kernel& kernel, std::chrono::hours kept) {
    const auto before = [kept] {
        const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(kept).count();
        return first_id_at({Timestamp::now().micros - micros});
    };
    constexpr std::size_t at_once = 5'000;
    add_sweep(
        kernel,
        {.name = "queue.forget_outcomes",
         .every = std::chrono::hours(1),
         .find = [&kernel, before] { return workspaces(kernel, all_workspaces, before()); },
         .work =
             [&kernel, before](JobRun& run) {
                 for (const Sql* each : {&drop_no_attempts, &drop_oldest_attempts}) {
                     const auto forget_some = [&](Tx& tx, Actor&) {
                         return tx.run(
                             *each, run.org(), before(), static_cast<std::int64_t>(at_once)
                         );
                     };
                     const auto outcome =
                         in_batches(kernel, run, run.org(), "queue.forget", at_once, forget_some);
                     if (outcome != JobOutcome::done) return outcome;
                 }
                 return JobOutcome::done;
             }}
    );
}

}  // namespace svc::queue
