#include "events/stored.hpp"

#include "events/rows.hpp"
#include "svc/kept_events.hpp"

namespace svc::events {

namespace {

constexpr Sql read_position{"events.read_position", R"(
    SELECT position FROM event_position WHERE only_row)"};

// Retention goes by positions too, so one number says what is no longer kept.
constexpr std::string_view after = R"(
    FROM (
        SELECT c.org_id, c.log_id, c.position, c.sequence, c.board_sequence
        FROM event_chain c
        WHERE c.position > (
            SELECT greatest($1, p.dropped) FROM event_position p WHERE p.only_row)
        ORDER BY c.position
        LIMIT $2
    ) n
    CROSS JOIN LATERAL (
        SELECT e.* FROM event_log e WHERE e.id = n.log_id AND e.org_id = n.org_id OFFSET 0
    ) l
    ORDER BY n.position)";

constexpr std::string_view whole = R"(
    SELECT n.position, n.sequence, n.board_sequence, NULL AS subject, )" SVC_LOGGED_EVENT("l");
constexpr Sql read_after{"events.read_events_after", SqlText<whole, after>::view};

constexpr std::string_view at_positions = R"(
    FROM unnest($1::bigint[]) AS w (position)
    CROSS JOIN LATERAL (
        SELECT c.org_id, c.log_id, c.position, c.sequence, c.board_sequence
        FROM event_chain c
        WHERE c.position = w.position
            AND c.position > (SELECT p.dropped FROM event_position p WHERE p.only_row)
        OFFSET 0
    ) n
    CROSS JOIN LATERAL (
        SELECT e.* FROM event_log e WHERE e.id = n.log_id AND e.org_id = n.org_id OFFSET 0
    ) l)";
constexpr Sql read_at{"events.read_events_at", SqlText<whole, at_positions>::view};

constexpr std::string_view heads = R"(
    SELECT n.position, n.sequence, n.board_sequence, l.entry_id AS event_id, l.org_id, l.board_id,
           l.kind, l.depth, l.object, l.object_id, l.column_id, l.card_id, NULL AS actor,
           '' AS envelope, NULL AS subject, )" SVC_LOGGED_ACTOR("l");
constexpr Sql read_heads{"events.read_heads_after", SqlText<heads, after>::view};

struct Head {
    StoredEvent event;
    ActorColumns actor;
};
SVC_RECORD(Head, (event, "", flatten), (actor, "", flatten));

struct Position {
    std::int64_t position = 0;
};
SVC_RECORD(Position, (position));

}  // namespace

std::int64_t last_position(Tx& tx) { return tx.one<Position>(read_position)->position; }

std::vector<StoredEvent> events_after(Tx& tx, std::int64_t position, int count) {
    std::vector<StoredEvent> out;
    for (NumberedEvent& each : tx.all<NumberedEvent>(read_after, position, count))
        out.push_back(stored_event(std::move(each.body), each.numbers));
    return out;
}

std::vector<StoredEvent> heads_after(Tx& tx, std::int64_t position, int count) {
    std::vector<StoredEvent> out;
    for (Head& each : tx.all<Head>(read_heads, position, count)) {
        each.event.actor = AsJson(actor_in(each.actor));
        out.push_back(std::move(each.event));
    }
    return out;
}

}  // namespace svc::events

namespace svc {

std::vector<StoredEvent> events_at(Tx& tx, const std::vector<std::int64_t>& positions) {
    std::vector<std::string> texts;
    for (const std::int64_t each : positions) texts.push_back(std::to_string(each));
    std::vector<StoredEvent> out;
    for (events::NumberedEvent& each : tx.all<events::NumberedEvent>(events::read_at, texts))
        out.push_back(events::stored_event(std::move(each.body), each.numbers));
    return out;
}

}  // namespace svc
