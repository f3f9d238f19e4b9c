#include "events/retention.hpp"

#include <algorithm>

namespace svc::events {

namespace {

constexpr std::int64_t lock_key = 0x776b'6264'0000'0002;
constexpr int batch = 1'000;

/// Positions rise with time, so the old ones are the first. Of each workspace the last.
constexpr Sql read_old{"events.read_old_events", R"(
    SELECT o.org_id, max(o.sequence) AS sequence, max(o.position) AS position, count(*) AS count
    FROM (
        SELECT n.org_id, n.sequence, n.position,
            bool_and(l.occurred_at < now() - $1::interval) OVER (ORDER BY n.position) AS old
        FROM (
            SELECT c.org_id, c.log_id, c.sequence, c.position
            FROM event_chain c
            WHERE c.position > (SELECT p.dropped FROM event_position p WHERE p.only_row)
            ORDER BY c.position
            LIMIT $2
        ) n
        CROSS JOIN LATERAL (
            SELECT e.occurred_at FROM event_log e
            WHERE e.id = n.log_id AND e.org_id = n.org_id
            OFFSET 0
        ) l
    ) o
    WHERE o.old
    GROUP BY o.org_id)"};

constexpr Sql drop{"events.drop_old_events", R"(
    UPDATE event_heads SET dropped = greatest(dropped, $2)
    WHERE org_id = $1)"};

constexpr Sql drop_dead_letters{"events.drop_old_dead_letters", R"(
    DELETE FROM event_dead_letters
    WHERE org_id = $1 AND sequence <= $2)"};

constexpr Sql drop_undelivered{"events.drop_old_deliveries", R"(
    DELETE FROM event_deliveries
    WHERE org_id = $1 AND sequence <= $2)"};

constexpr Sql keep_dropped{"events.keep_dropped", R"(
    UPDATE event_position SET dropped = greatest(dropped, $1)
    WHERE only_row)"};

struct Old {
    Uuid org_id;
    std::int64_t sequence = 0, position = 0, count = 0;
};
SVC_RECORD(Old, (org_id), (sequence), (position), (count));

}  // namespace

std::int64_t drop_old_events(db::Database& database, std::chrono::seconds keep) {
    const auto lock = database.try_lock(lock_key);
    if (!lock) return 0;
    for (std::int64_t dropped = 0;;) {
        const auto tx = lock->begin();
        tx->set_scope_to_all_orgs();
        std::int64_t position = 0, count = 0;
        for (const Old& each : tx->all<Old>(read_old, keep, batch)) {
            position = std::max(position, each.position);
            count += each.count;
            tx->queue(drop, each.org_id, each.sequence);
            tx->queue(drop_dead_letters, each.org_id, each.sequence);
            tx->queue(drop_undelivered, each.org_id, each.sequence);
        }
        if (count == 0) return dropped;
        tx->queue(keep_dropped, position);  // last: the sequencer waits for that row
        tx->commit();
        dropped += count;
        if (count < batch) return dropped;
    }
}

}  // namespace svc::events
