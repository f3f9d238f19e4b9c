#include "svc/org_events.hpp"

#include "events/rows.hpp"

#include <algorithm>

namespace svc {

namespace {

// How far the numbers go. In front of the events: what comes to be between the two is left to the
// next look.
constexpr Sql read_span{"events.read_span", R"(
    SELECT h.sequence AS last, h.dropped FROM event_heads h WHERE h.org_id = $1)"};

// $2 the last that is known, $3 how many to look at, $4 the board, $5 and $6 the kinds, $7 how many
// are wanted, $8 how long their values may be, the first apart. The rows of the log are looked up
// by key, whatever is believed of the tables.
constexpr Sql read_range{"events.read_range", R"(
    SELECT m.*, NULL AS subject, m.bytes >= $8 AS full
    FROM (
        SELECT w.*, sum(w.size) OVER (ORDER BY w.sequence ROWS UNBOUNDED PRECEDING) AS bytes
        FROM (
            SELECT n.position, n.sequence, n.board_sequence, l.*,
                octet_length(l.changes) + octet_length(l.previous) AS size
            FROM (
                SELECT c.log_id, c.position, c.sequence, c.board_id, c.board_sequence
                FROM event_chain c
                WHERE c.org_id = $1 AND c.sequence IS NOT NULL AND c.sequence > greatest(
                    $2, (SELECT h.dropped FROM event_heads h WHERE h.org_id = $1))
                ORDER BY c.sequence
                LIMIT $3
            ) n
            CROSS JOIN LATERAL (
                SELECT )" SVC_LOGGED_EVENT("e") R"(
                FROM event_log e
                WHERE e.id = n.log_id AND e.org_id = $1
                OFFSET 0
            ) l
            WHERE ($4::uuid IS NULL OR n.board_id = $4)
                AND ($5::text[] IS NULL OR l.kind = ANY ($5)
                    OR split_part(l.kind, '.', 1) = ANY ($6))
            ORDER BY n.sequence
            LIMIT $7
        ) w
    ) m
    WHERE m.bytes - m.size < $8
    ORDER BY m.sequence)"};

struct SpanRow {
    std::int64_t last = 0, dropped = 0;
};
SVC_RECORD(SpanRow, (last), (dropped));

struct RangeRow {
    events::NumberedEvent event;
    bool full = false;
};
SVC_RECORD(RangeRow, (event, "", flatten), (full));

/// `kind_matches` as the statement asks it: whole names, and what stands in front of the dot.
struct Kinds {
    std::optional<std::vector<std::string>> names;
    std::vector<std::string> nouns;

    explicit Kinds(const std::vector<std::string>& filters) {
        if (filters.empty() || std::ranges::find(filters, "*") != filters.end()) return;
        names.emplace();
        for (const std::string& each : filters)
            if (each.ends_with(".*")) nouns.push_back(each.substr(0, each.size() - 2));
            else names->push_back(each);
    }
};

}  // namespace

std::function<EventPage()> read_events(Tx& tx, const Uuid& org, const EventRange& range) {
    const Kinds kinds(range.kinds);
    auto span = tx.later<SpanRow>(read_span, org);
    auto rows = tx.later<RangeRow>(
        read_range,
        org,
        range.after,
        range.look_at,
        range.board,
        kinds.names,
        kinds.nouns,
        range.count,
        range.bytes
    );
    return [span, rows, range]() mutable {
        const SpanRow known = span.one().value_or(SpanRow{});
        EventPage page;
        page.last = known.last;
        page.oldest = known.dropped + 1;
        const auto begin = std::max(range.after, known.dropped);
        page.to = begin;
        if (known.last > begin) page.to += std::min(range.look_at, known.last - begin);
        bool cut = false;
        for (RangeRow& each : rows.all()) {
            const auto sequence = each.event.numbers.sequence;
            if (sequence > page.to) break;
            cut = each.full;
            page.events.push_back(
                events::stored_event(std::move(each.event.body), each.event.numbers)
            );
        }
        if (cut || page.events.size() >= static_cast<std::size_t>(range.count))
            page.to = page.events.empty() ? page.to : page.events.back().sequence;
        return page;
    };
}

}  // namespace svc
