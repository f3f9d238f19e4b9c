#include "modules/webhooks/removal.hpp"

#include "svc/workspace_jobs.hpp"

namespace svc::webhooks {

namespace {

constexpr std::string_view removing = "webhooks.remove";
constexpr std::int64_t batch = 1'000;

constexpr Sql remove_deliveries{"webhooks.remove_deliveries", R"(
    DELETE FROM webhook_deliveries
    WHERE org_id = $1 AND webhook_id = $2 AND id = ANY (ARRAY(
        SELECT d.id FROM webhook_deliveries d
        WHERE d.org_id = $1 AND d.webhook_id = $2 AND d.id < $3
        ORDER BY d.id
        LIMIT $4))
    RETURNING id)"};

// First of all, as whoever records and sends does, so that none waits for the other in a circle.
constexpr Sql lock_endpoint{"webhooks.lock_removed", R"(
    SELECT e.webhook_id AS id FROM webhook_endpoints e
    JOIN webhooks w ON w.org_id = e.org_id AND w.id = e.webhook_id AND w.deleted_at IS NOT NULL
    WHERE e.org_id = $1 AND e.webhook_id = $2
    FOR UPDATE OF e)"};

// What came in since goes with it, by the foreign keys.
constexpr Sql remove_webhook{"webhooks.remove", R"(
    DELETE FROM webhooks WHERE org_id = $1 AND id = $2 AND deleted_at IS NOT NULL)"};

constexpr Sql all_webhooks{"webhooks.all", R"(
    SELECT w.org_id, w.id FROM webhooks w WHERE w.org_id IS NOT NULL)"};

struct Id {
    Uuid id;
};
SVC_RECORD(Id, (id));

struct Key {
    Uuid org_id, id;
};
SVC_RECORD(Key, (org_id), (id));

JobOutcome remove_before(
    Kernel& kernel, const JobRun& run, const Uuid& org, const Uuid& webhook, const Uuid& before
) {
    return in_batches(kernel, run, org, removing, batch, [&](Tx& tx, Actor&) {
        return tx.all<Id>(remove_deliveries, org, webhook, before, batch).size();
    });
}

JobOutcome remove(Kernel& kernel, JobRun& run) {
    const Uuid webhook = Uuid::parse(run.key()).value();
    const auto outcome = remove_before(kernel, run, run.org(), webhook, last_id());
    if (outcome == JobOutcome::more) return outcome;
    in_workspace(kernel, run.org(), removing, [&](Tx& tx, Actor&) {
        if (tx.one<Id>(lock_endpoint, run.org(), webhook))
            tx.queue(remove_webhook, run.org(), webhook);
    });
    return JobOutcome::done;
}

/// One job for all, which goes on where it was when it had to yield.
JobOutcome drop_old(Kernel& kernel, JobRun& run, std::int64_t keep_days) {
    const auto age = std::chrono::microseconds(std::chrono::days(keep_days)).count();
    const Uuid before = first_id_at(Timestamp{Timestamp::now().micros - age});
    std::vector<Key> webhooks;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        webhooks = tx.all<Key>(all_webhooks);
    });
    for (const Key& each : webhooks) {
        const auto outcome = remove_before(kernel, run, each.org_id, each.id, before);
        if (outcome == JobOutcome::more || run.should_yield()) return JobOutcome::more;
    }
    return JobOutcome::done;
}

}  // namespace

void enqueue_removal(Call& call, const Uuid& webhook) {
    call.use<Jobs>().enqueue(
        call.tx(), {.kind = removing, .org = call.org(), .key = webhook.str()}
    );
}

void add_removal(Kernel& kernel, std::int64_t keep_days) {
    kernel.use<Jobs>().add({
        .name = std::string(removing),
        .run = [&kernel](JobRun& run) { return remove(kernel, run); },
    });
    kernel.use<Jobs>().add({
        .name = "webhooks.drop_old",
        .run = [&kernel, keep_days](JobRun& run) { return drop_old(kernel, run, keep_days); },
        .slice = std::chrono::minutes(1),
        .every = std::chrono::hours(1),
    });
}

}  // namespace svc::webhooks
