#include "modules/webhooks/metrics.hpp"

namespace svc::webhooks {

namespace {

// Those that are leased are due when the lease ends.
constexpr Sql count_due{"webhooks.count_due", R"(
    SELECT count(*) AS due,
        coalesce(extract(epoch FROM now() - min(e.due_at)), 0)::bigint AS oldest_seconds
    FROM webhook_endpoints e
    WHERE e.org_id IS NOT NULL AND e.due_at <= now())"};

struct Due {
    std::int64_t due = 0, oldest_seconds = 0;
};
SVC_RECORD(Due, (due), (oldest_seconds));

constexpr double late_seconds = 300;

}  // namespace

std::vector<Metric> webhook_metrics(Kernel& kernel, const Sender& sender) {
    Due due;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        due = tx.later<Due>(count_due).one_or_retry();
    });
    const auto& counts = sender.counts();
    const auto number = [](const auto& count) { return static_cast<double>(count); };
    return {
        {"webhook_endpoints_due",
         "Endpoints that something is due for.",
         "",
         number(due.due),
         true},
        {"webhook_oldest_due_seconds",
         "For how long the first of them has been waiting for a server.",
         "",
         number(due.oldest_seconds),
         true,
         late_seconds},
        {"webhook_deliveries_in_flight",
         "Deliveries that are being sent.",
         "",
         number(counts.in_flight.load())},
        {"webhook_attempts_total",
         "Attempts at deliveries.",
         R"(outcome="succeeded")",
         number(counts.succeeded.load())},
        {"webhook_attempts_total",
         "Attempts at deliveries.",
         R"(outcome="failed")",
         number(counts.failed.load())},
    };
}

}  // namespace svc::webhooks
