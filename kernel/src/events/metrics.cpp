#include "events/metrics.hpp"

namespace svc::events {

namespace {

constexpr double late_seconds = 60;

// Each event by its key, whatever is believed of the tables. What has no number yet is still to be
// handed to all. A function outside the subselects would be no condition of an index, as row-level
// security is asked before it.
constexpr Sql read_lags{"events.consumer_lags", R"(
    WITH unnumbered AS MATERIALIZED (
        SELECT e.occurred_at AS at FROM event_log e
        WHERE e.id > (SELECT p.high_water FROM event_position p WHERE p.only_row)
        ORDER BY e.id, e.org_id
        LIMIT 1
    )
    SELECT c.name,
        greatest(0, coalesce(extract(epoch FROM now() - least(
            l.at, (SELECT u.at FROM unnumbered u))), 0))::double precision AS oldest_seconds
    FROM unnest($1::text[]) AS q (name)
    CROSS JOIN LATERAL (
        SELECT s.name, s.position FROM event_consumers s WHERE s.name = q.name OFFSET 0
    ) c
    LEFT JOIN LATERAL (
        SELECT n.org_id, n.log_id FROM event_chain n
        WHERE n.position > (
            SELECT greatest(c.position, p.dropped) FROM event_position p WHERE p.only_row)
        ORDER BY n.position
        LIMIT 1
    ) f ON true
    LEFT JOIN LATERAL (
        SELECT e.occurred_at AS at FROM event_log e
        WHERE e.id = f.log_id AND e.org_id = f.org_id
        OFFSET 0
    ) l ON true)"};

struct Lag {
    std::string name;
    double oldest_seconds = 0;
};
SVC_RECORD(Lag, (name), (oldest_seconds));

}  // namespace

std::vector<Metric> consumer_metrics(
    db::Database& database, const std::vector<std::string>& consumers
) {
    std::vector<Lag> lags;
    database.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        lags = tx.all<Lag>(read_lags, consumers);
    });
    std::vector<Metric> out;
    for (const Lag& each : lags)
        out.push_back({
            .name = "consumer_oldest_seconds",
            .help = "How long ago the first event was that a consumer has still to be handed.",
            .labels = "consumer=\"" + each.name + "\"",
            .value = each.oldest_seconds,
            .is_charted = true,
            .limit = late_seconds,
        });
    return out;
}

}  // namespace svc::events
