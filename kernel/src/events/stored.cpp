#include "events/stored.hpp"

namespace svc::events {

namespace {

constexpr Sql read_position{"events.read_position", R"(
    SELECT position FROM event_position)"};

constexpr Sql read_of_org{"events.read_events_of_org", R"(
    SELECT position, event_id, org_id, board_id, sequence, board_sequence, kind, depth, envelope,
           subject
    FROM events
    WHERE org_id = $1 AND sequence > $2 AND sequence <= $3
    ORDER BY sequence
    LIMIT $4)"};

constexpr Sql read_whose{"events.read_whose_events", R"(
    SELECT position, org_id, sequence
    FROM events
    WHERE position > $1
    ORDER BY position
    LIMIT $2)"};

constexpr Sql read_after{"events.read_events_after", R"(
    SELECT position, event_id, org_id, board_id, sequence, board_sequence, kind, depth, envelope,
           NULL AS subject
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

Later<StoredEvent> events_after(Tx& tx, std::int64_t position, int count) {
    return tx.later<StoredEvent>(read_after, position, count);
}

Later<Whose> whose_events_after(Tx& tx, std::int64_t position, int count) {
    return tx.later<Whose>(read_whose, position, count);
}

Later<StoredEvent> events_of(
    Tx& tx, const Uuid& org, std::int64_t sequence, std::int64_t until, int count
) {
    return tx.later<StoredEvent>(read_of_org, org, sequence, until, count);
}

}  // namespace svc::events
