#include "modules/webhooks/holding.hpp"

#include "modules/webhooks/lib/held.hpp"
#include "svc/workspace_jobs.hpp"

#include <Poco/Logger.h>

#include <algorithm>

namespace svc::webhooks {

namespace {

constexpr std::int64_t batch = 1'000;
/// Beyond what may be held it is not worth counting on.
constexpr std::int64_t counted_beyond = 20 * batch;

constexpr Sql count_waiting{"webhooks.count_waiting", R"(
    SELECT w.id, w.status <> 'active' OR e.probe_at IS NOT NULL AS halted, (
        SELECT count(*) FROM (
            SELECT FROM webhook_deliveries d
            WHERE d.org_id = $1 AND d.webhook_id = w.id AND d.next_attempt_at IS NOT NULL
            ORDER BY d.next_attempt_at
            LIMIT $2) waits) AS waiting
    FROM webhooks w
    JOIN webhook_endpoints e ON e.org_id = $1 AND e.webhook_id = w.id
    WHERE w.org_id = $1 AND w.deleted_at IS NULL)"};

// The endpoint in front of its deliveries, as everybody locks them.
constexpr Sql lock_endpoint{"webhooks.lock_full", R"(
    SELECT webhook_id AS id FROM webhook_endpoints WHERE org_id = $1 AND webhook_id = $2
    FOR NO KEY UPDATE)"};

constexpr Sql drop_waiting{"webhooks.drop_waiting", R"(
    DELETE FROM webhook_deliveries
    WHERE org_id = $1 AND webhook_id = $2 AND id = ANY (ARRAY(
        SELECT d.id FROM webhook_deliveries d
        WHERE d.org_id = $1 AND d.webhook_id = $2 AND d.next_attempt_at IS NOT NULL
        ORDER BY d.next_attempt_at, d.id
        LIMIT $3
        FOR UPDATE SKIP LOCKED))
    RETURNING id)"};

constexpr Sql count_dropped{"webhooks.count_dropped", R"(
    UPDATE webhook_endpoints SET dropped = dropped + $3
    WHERE org_id = $1 AND webhook_id = $2)"};

struct Waiting {
    Uuid id;
    bool halted = false;
    std::int64_t waiting = 0;
};
SVC_RECORD(Waiting, (id), (halted), (waiting));

struct Id {
    Uuid id;
};
SVC_RECORD(Id, (id));

std::vector<Waiting> waiting_in(Kernel& kernel, const Uuid& org, std::int64_t most) {
    std::vector<Waiting> out;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(org, std::nullopt);
        out = tx.all<Waiting>(count_waiting, org, most);
    });
    return out;
}

/// So many at most, as far as nobody is at them; how many there were.
std::int64_t drop_some(Kernel& kernel, const Uuid& org, const Uuid& webhook, std::int64_t most) {
    std::int64_t gone = 0;
    in_workspace(kernel, org, dropping, [&](Tx& tx, Actor&) {
        tx.queue(lock_endpoint, org, webhook);
        gone = static_cast<std::int64_t>(
            tx.all<Id>(drop_waiting, org, webhook, std::min(most, batch)).size()
        );
        if (gone > 0) tx.queue(count_dropped, org, webhook, gone);
    });
    return gone;
}

/// Drops so many, unless the run is to yield; whether it came to that.
bool drop(
    Kernel& kernel, const JobRun& run, const Uuid& webhook, std::int64_t excess, std::int64_t most
) {
    std::int64_t gone = 0;
    bool ends = false;
    while (gone < excess && !ends) {
        const std::int64_t some = drop_some(kernel, run.org(), webhook, excess - gone);
        gone += some;
        ends = some == 0 || run.should_yield();
    }
    if (gone > 0)
        Poco::Logger::get("webhooks")
            .warning(
                "workspace " + run.org().str() + ", webhook " + webhook.str() + ": " +
                std::to_string(gone) + " deliveries that waited were dropped, for no more than " +
                std::to_string(most) + " are held for it"
            );
    return gone < excess && run.should_yield();
}

}  // namespace

std::int64_t look_after(const Settings& settings) {
    const auto least = std::min(settings.held_per_webhook, settings.held_per_workspace);
    return std::clamp<std::int64_t>(least / 10, 1, batch);
}

JobOutcome drop_overflow(Kernel& kernel, const JobRun& run, const Settings& settings) {
    const HeldBounds bounds{settings.held_per_webhook, settings.held_per_workspace};
    const std::int64_t counted = bounds.workspace + counted_beyond;
    for (bool again = true; again;) {
        const auto all = waiting_in(kernel, run.org(), counted);
        std::vector<Held> held;
        for (const Waiting& each : all) held.push_back({each.waiting, each.halted});
        const auto most = most_held(held, bounds);
        again = false;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::int64_t excess = all[i].waiting - most[i];
            if (excess > 0 && drop(kernel, run, all[i].id, excess, most[i]))
                return JobOutcome::more;
            again |= all[i].waiting == counted;
        }
    }
    return JobOutcome::done;
}

}  // namespace svc::webhooks
