#include "modules/webhooks/removal.hpp"

#include "modules/webhooks/holding.hpp"
#include "svc/workspace_jobs.hpp"

#include <algorithm>

namespace svc::webhooks {

namespace {

constexpr std::string_view removing = "webhooks.remove";
constexpr std::int64_t batch = 1'000;

// What somebody is at is left for the next time, so that nothing waits for anybody.
constexpr Sql remove_deliveries{"webhooks.remove_deliveries", R"(
    DELETE FROM webhook_deliveries
    WHERE org_id = $1 AND webhook_id = $2 AND id = ANY (ARRAY(
        SELECT d.id FROM webhook_deliveries d
        WHERE d.org_id = $1 AND d.webhook_id = $2 AND d.id < $3
        ORDER BY d.id
        LIMIT $4
        FOR UPDATE SKIP LOCKED))
    RETURNING id)"};

// First of all, as whoever records and sends does, so that none waits for the other in a circle.
constexpr Sql lock_endpoint{"webhooks.lock_removed", R"(
    SELECT e.webhook_id AS id FROM webhook_endpoints e
    JOIN webhooks w ON w.org_id = $1 AND w.id = $2 AND w.deleted_at IS NOT NULL
    WHERE e.org_id = $1 AND e.webhook_id = $2
    FOR UPDATE OF e)"};

// What came in since goes with it, by the foreign keys.
constexpr Sql remove_webhook{"webhooks.remove", R"(
    DELETE FROM webhooks WHERE org_id = $1 AND id = $2 AND deleted_at IS NOT NULL)"};

// Subqueries with a LIMIT, which are answered by key for each row, whatever the planner believes.
constexpr Sql find_some{"webhooks.find_to_drop", R"(
    SELECT w.org_id, w.id,
        (SELECT d.id FROM webhook_deliveries d
         WHERE d.org_id = w.org_id AND d.webhook_id = w.id AND d.id < $3
         ORDER BY d.id LIMIT 1) IS NOT NULL
        OR (SELECT d.id FROM webhook_deliveries d
            WHERE d.org_id = w.org_id AND d.webhook_id = w.id AND d.next_attempt_at IS NOT NULL
            ORDER BY d.next_attempt_at OFFSET $4 LIMIT 1) IS NOT NULL AS has_some
    FROM (
        SELECT h.org_id, h.id FROM webhooks h
        WHERE (h.org_id, h.id) > ($1, $2)
        ORDER BY h.org_id, h.id
        LIMIT $5) w
    ORDER BY w.org_id, w.id)"};

constexpr Sql find_old{"webhooks.find_old", R"(
    SELECT w.id FROM webhooks w
    WHERE w.org_id = $1
      AND (SELECT d.id FROM webhook_deliveries d
           WHERE d.org_id = $1 AND d.webhook_id = w.id AND d.id < $2
           ORDER BY d.id LIMIT 1) IS NOT NULL)"};

struct Id {
    Uuid id;
};
SVC_RECORD(Id, (id));

struct Found {
    Uuid org_id, id;
    bool has_some = false;
};
SVC_RECORD(Found, (org_id), (id), (has_some));

JobOutcome remove_before(
    Kernel& kernel, const JobRun& run, const Uuid& webhook, const Uuid& before
) {
    return in_batches(kernel, run, run.org(), removing, batch, [&](Tx& tx, Actor&) {
        return tx.all<Id>(remove_deliveries, run.org(), webhook, before, batch).size();
    });
}

JobOutcome remove(Kernel& kernel, JobRun& run) {
    const Uuid webhook = Uuid::parse(run.key()).value();
    const auto outcome = remove_before(kernel, run, webhook, last_id());
    if (outcome == JobOutcome::more) return outcome;
    in_workspace(kernel, run.org(), removing, [&](Tx& tx, Actor&) {
        if (tx.one<Id>(lock_endpoint, run.org(), webhook))
            tx.queue(remove_webhook, run.org(), webhook);
    });
    return JobOutcome::done;
}

/// The first delivery that is not too old.
Uuid first_kept(const Settings& settings) {
    const auto age = std::chrono::microseconds(std::chrono::days(settings.keep_days)).count();
    return first_id_at(Timestamp{Timestamp::now().micros - age});
}

/// Of a workspace. What is dropped is not found again, so that it goes on where it was.
JobOutcome drop(Kernel& kernel, const JobRun& run, const Settings& settings) {
    const Uuid before = first_kept(settings);
    std::vector<Id> old;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(run.org(), std::nullopt);
        old = tx.all<Id>(find_old, run.org(), before);
    });
    for (const Id& each : old)
        if (remove_before(kernel, run, each.id, before) == JobOutcome::more || run.should_yield())
            return JobOutcome::more;
    return drop_overflow(kernel, run, settings);
}

/// Looks where there is something to drop, webhook by webhook in the order of their keys, and goes
/// on behind the last when it had to yield.
class Look {
public:
    Look(Kernel& kernel, const Settings& settings) : kernel_(kernel), settings_(settings) {}

    JobOutcome run(const JobRun& run) {
        constexpr std::int64_t page = 500;
        for (;;) {
            const auto found = read(page);
            enqueue(found);
            const bool is_last = static_cast<std::int64_t>(found.size()) < page;
            behind_ = is_last ? Found{} : found.back();
            if (is_last) return JobOutcome::done;
            if (run.should_yield()) return JobOutcome::more;
        }
    }

private:
    std::vector<Found> read(std::int64_t page) {
        // Where a workspace has too many there is a webhook with more than this.
        const std::int64_t most = std::min(
            settings_.held_per_webhook, settings_.held_per_workspace / settings_.per_workspace
        );
        std::vector<Found> found;
        kernel_.transact(Tx::Mode::read, [&](Tx& tx) {
            tx.set_scope_to_all_orgs();
            found = tx.all<Found>(
                find_some, behind_.org_id, behind_.id, first_kept(settings_), most, page
            );
        });
        return found;
    }
    void enqueue(const std::vector<Found>& found) {
        std::vector<Uuid> orgs;  // in order, as they are found
        for (const Found& each : found)
            if (each.has_some && (orgs.empty() || orgs.back() != each.org_id))
                orgs.push_back(each.org_id);
        if (orgs.empty()) return;
        kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope_to_all_orgs();
            for (const Uuid& each : orgs) enqueue_drop(kernel_, tx, each);
        });
    }

    Kernel& kernel_;
    const Settings settings_;
    Found behind_;  // the nil id: from the beginning
};

}  // namespace

void enqueue_removal(Call& call, const Uuid& webhook) {
    call.use<Jobs>().enqueue(
        call.tx(), {.kind = removing, .org = call.org(), .key = webhook.str()}
    );
}

void enqueue_drop(Kernel& kernel, Tx& tx, const Uuid& org) {
    kernel.use<Jobs>().enqueue(tx, {.kind = dropping, .org = org});
}

void add_removal(Kernel& kernel, const Settings& settings) {
    Jobs& jobs = kernel.use<Jobs>();
    jobs.add({
        .name = std::string(removing),
        .run = [&kernel](JobRun& run) { return remove(kernel, run); },
    });
    jobs.add({
        .name = std::string(dropping),
        .run = [&kernel, settings](JobRun& run) { return drop(kernel, run, settings); },
    });
    jobs.add({
        .name = "webhooks.drop_old",
        .run = [look = std::make_shared<Look>(kernel, settings)](JobRun& run
               ) { return look->run(run); },
        .every = std::chrono::hours(1),
    });
}

}  // namespace svc::webhooks
