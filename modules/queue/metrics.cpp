#include "modules/queue/metrics.hpp"

namespace svc::queue {

namespace {

struct StateCount {
    std::string state;
    std::int64_t cards = 0;
};
SVC_RECORD(StateCount, (state), (cards));

// Each from an index of its own: the cards that are idle are many, and nobody asks for them.
constexpr Sql count_states{"queue.count_states", R"(
    SELECT 'ready' AS state, count(q.org_id) AS cards FROM queue q
    WHERE q.state = 'ready' AND NOT q.blocked
    UNION ALL
    SELECT 'blocked', count(q.org_id) FROM queue q WHERE q.state = 'ready' AND q.blocked
    UNION ALL
    SELECT 'leased', count(q.org_id) FROM queue q WHERE q.lease_id IS NOT NULL
    UNION ALL
    SELECT 'backoff', count(q.org_id) FROM queue q WHERE q.state = 'backoff'
    UNION ALL
    SELECT 'exhausted', count(q.org_id) FROM queue q WHERE q.state = 'exhausted'
    UNION ALL
    SELECT 'held', count(q.org_id) FROM queue q WHERE q.state = 'held')"};

struct Overdue {
    std::int64_t leases = 0;
};
SVC_RECORD(Overdue, (leases));

constexpr Sql count_overdue{"queue.count_overdue", R"(
    SELECT count(q.org_id) AS leases FROM queue q
    WHERE q.lease_id IS NOT NULL AND q.expires_at <= now())"};

}  // namespace

std::vector<Metric> queue_metrics(Kernel& kernel) {
    std::vector<StateCount> states;
    Overdue overdue;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        auto counted = tx.later<StateCount>(count_states);
        overdue = tx.one<Overdue>(count_overdue).value_or(Overdue{});
        states = counted.all();
    });
    std::vector<Metric> out;
    for (const StateCount& each : states)
        out.push_back(
            {"queue_cards",
             "Cards in work queues, by state.",
             "state=\"" + each.state + "\"",
             static_cast<double>(each.cards),
             true}
        );
    out.push_back(
        {"queue_overdue_leases",
         "Leases whose time is over and that nobody has ended yet.",
         "",
         static_cast<double>(overdue.leases)}
    );
    return out;
}

}  // namespace svc::queue
