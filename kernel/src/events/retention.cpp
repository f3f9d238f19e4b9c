#include "events/retention.hpp"

#include <map>

namespace svc::events {

namespace {

constexpr std::int64_t lock_key = 0x776b'6264'0000'0002;
constexpr int batch = 1'000;

/// Positions rise with time, so the old ones are the first.
constexpr Sql read_old{"events.read_old_events", R"(
    SELECT org_id, sequence
    FROM (SELECT org_id, sequence, stored_at FROM events ORDER BY position LIMIT $2) AS first
    WHERE stored_at < now() - $1::interval)"};

constexpr Sql drop{"events.drop_old_events", R"(
    DELETE FROM events
    WHERE org_id = $1 AND sequence <= $2)"};

constexpr Sql drop_dead_letters{"events.drop_old_dead_letters", R"(
    DELETE FROM event_dead_letters
    WHERE org_id = $1 AND sequence <= $2)"};

constexpr Sql drop_undelivered{"events.drop_old_deliveries", R"(
    DELETE FROM event_deliveries
    WHERE org_id = $1 AND sequence <= $2)"};

struct Old {
    Uuid org_id;
    std::int64_t sequence = 0;
};
SVC_RECORD(Old, (org_id), (sequence));

}  // namespace

std::int64_t drop_old_events(db::Database& database, std::chrono::seconds keep) {
    const auto lock = database.try_lock(lock_key);
    if (!lock) return 0;
    for (std::int64_t dropped = 0;;) {
        const auto tx = lock->begin();
        tx->set_scope_to_all_orgs();
        const auto old = tx->all<Old>(read_old, keep, batch);
        if (old.empty()) return dropped;
        std::map<Uuid, std::int64_t> last;
        for (const Old& each : old) last[each.org_id] = std::max(last[each.org_id], each.sequence);
        for (const auto& [org, sequence] : last) {
            tx->queue(drop, org, sequence);
            tx->queue(drop_dead_letters, org, sequence);
            tx->queue(drop_undelivered, org, sequence);
        }
        tx->commit();
        dropped += static_cast<std::int64_t>(old.size());
        if (old.size() < batch) return dropped;
    }
}

}  // namespace svc::events
