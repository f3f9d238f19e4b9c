#include "events/stored.hpp"

namespace svc::events {

namespace {

constexpr Sql read_position{"events.read_position", R"(
    SELECT position FROM event_position)"};

constexpr Sql read_after{"events.read_events_after", R"(
    SELECT position, event_id, org_id, board_id, sequence, board_sequence, kind, depth,
           object, object_id, column_id, card_id, actor, envelope, NULL AS subject
    FROM events
    WHERE position > $1
    ORDER BY position
    LIMIT $2)"};

constexpr Sql read_heads{"events.read_heads_after", R"(
    SELECT position, event_id, org_id, board_id, sequence, board_sequence, kind, depth,
           object, object_id, column_id, card_id, actor, '' AS envelope, NULL AS subject
    FROM events
    WHERE position > $1
    ORDER BY position
    LIMIT $2)"};

struct Position {
    std::int64_t position = 0;
};
SVC_RECORD(Position, (position));

}  // namespace

std::int64_t last_position(Tx& tx) { return tx.one<Position>(read_position)->position; }

DeferredRows<StoredEvent> events_after(Tx& tx, std::int64_t position, int count) {
    return tx.later<StoredEvent>(read_after, position, count);
}

DeferredRows<StoredEvent> heads_after(Tx& tx, std::int64_t position, int count) {
    return tx.later<StoredEvent>(read_heads, position, count);
}

}  // namespace svc::events
