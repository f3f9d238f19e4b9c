#include "events/look.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

namespace svc::events {

namespace {

constexpr std::size_t gaps_at_once = 32;  // that are looked into without asking who has ended

constexpr Sql take_indexes{"events.prefer_indexes", R"(
    SELECT set_config('enable_seqscan', 'off', false),
           set_config('enable_bitmapscan', 'off', false))"};

constexpr Sql read_end{"events.read_end", R"(
    SELECT batch, position, low_water FROM event_position WHERE only_row)"};

// What stands in the table in the order in which it was written is found by its summary, which only
// such a scan reads. Behind it, everything by keys again.
constexpr Sql take_summaries{"events.prefer_summaries", R"(
    SELECT set_config('enable_bitmapscan', 'on', true),
           set_config('enable_indexscan', 'off', true),
           set_config('enable_indexonlyscan', 'off', true))"};
constexpr Sql take_keys_again{"events.prefer_keys_again", R"(
    SELECT set_config('enable_bitmapscan', 'off', true),
           set_config('enable_indexscan', 'on', true),
           set_config('enable_indexonlyscan', 'on', true))"};

// The last id of all, and those after which some are missing.
constexpr Sql read_missing{"events.read_missing_ids", R"(
    SELECT n.log_id, n.next
    FROM (
        SELECT k.log_id, lead(k.log_id) OVER (ORDER BY k.log_id) AS next
        FROM (
            SELECT p.low_water AS log_id FROM event_position p WHERE p.only_row
            UNION ALL
            SELECT c.log_id FROM event_chain c
            WHERE c.org_id IS NOT NULL
                AND c.log_id > (SELECT p.low_water FROM event_position p WHERE p.only_row)
        ) k
    ) n
    WHERE n.next IS NULL OR n.next > n.log_id + 1
    ORDER BY n.log_id)"};

constexpr Sql draw_xid{"events.draw_xid", R"(
    SELECT pg_current_xact_id()::text::bigint AS xid)"};

// A statement of its own: what had ended in front of a read is visible in it, and whatever is
// visible in a read has ended behind it.
constexpr Sql read_running{"events.read_running", R"(
    SELECT pg_current_snapshot()::text AS snapshot)"};

/// Above $1, and in the ranges from $3 to $4, in which nothing has numbers. The lengths are known
/// without fetching what is stored out of line.
constexpr Sql take{"events.take_rows", R"(
    SELECT t.id, t.org_id, t.entry_id AS event_id, t.kind, t.outcome, t.action, t.object,
           t.object_id, t.object_name, t.version, t.board_id, t.column_id, t.card_id, t.parent_id,
           t.changes, t.previous, t.truncated, t.actor_json, )" SVC_LOGGED_ACTOR("t") R"(,
           t.mutation_id, t.cause, t.depth, t.client_address, t.user_agent,
           t.request_id::text AS request_id, t.moved_from, t.moved_to, t.subject, t.occurred_at
    FROM (
        SELECT f.*, sum(f.bytes) OVER (ORDER BY f.id ROWS UNBOUNDED PRECEDING) - f.bytes AS before
        FROM (
            SELECT n.* FROM (
                SELECT e.*, octet_length(e.changes) + octet_length(e.previous) +
                    coalesce(octet_length(e.subject), 0) AS bytes
                FROM event_log e
                WHERE e.id > $1
                ORDER BY e.id
                LIMIT $2
            ) n
            UNION ALL
            SELECT m.*
            FROM unnest($3::bigint[], $4::bigint[]) AS g (first, last)
            CROSS JOIN LATERAL (
                SELECT e.*, octet_length(e.changes) + octet_length(e.previous) +
                    coalesce(octet_length(e.subject), 0) AS bytes
                FROM event_log e
                WHERE e.id >= g.first AND e.id <= g.last
                ORDER BY e.id
                LIMIT $2
                OFFSET 0
            ) m
        ) f
    ) t
    WHERE t.before < $5 AND t.org_id IS NOT NULL
    ORDER BY t.id
    LIMIT $2)"};

struct EndRow {
    std::int64_t batch = 0, position = 0, low_water = 0;
};
SVC_RECORD(EndRow, (batch), (position), (low_water));

struct Missing {
    std::int64_t log_id = 0;
    std::optional<std::int64_t> next;
};
SVC_RECORD(Missing, (log_id), (next));

struct Drawn {
    std::int64_t xid = 0;
};
SVC_RECORD(Drawn, (xid));

struct Snapshot {
    std::string snapshot;
};
SVC_RECORD(Snapshot, (snapshot));

DeferredRows<LogRow> take_from(
    Tx& tx,
    std::int64_t above,
    const std::vector<IdRange>& ranges,
    int rows,
    std::int64_t bytes
) {
    std::array<std::vector<std::string>, 2> lists;
    for (const IdRange& each : ranges) {
        lists[0].push_back(std::to_string(each.first));
        lists[1].push_back(std::to_string(each.last));
    }
    return tx.later<LogRow>(take, above, rows, lists[0], lists[1], bytes);
}

/// Whether no more of them fit within the bounds of one look.
bool fills(const std::vector<LogRow>& found, int rows, std::int64_t bytes) {
    std::size_t read = 0;
    for (const LogRow& each : found)
        read += each.body.changes.size() + each.body.previous.size() +
                (each.body.subject ? each.body.subject->size() : 0);
    return found.size() >= static_cast<std::size_t>(rows) ||
           read >= static_cast<std::size_t>(bytes);
}

/// Whether all that is visible in the ranges asked for was read, and not cut off by a bound.
bool whole(
    const std::vector<LogRow>& found, std::int64_t above, int rows, std::int64_t bytes
) {
    return (!found.empty() && found.back().id > above) || !fills(found, rows, bytes);
}

}  // namespace

void prefer_indexes(Tx& tx) { tx.queue(take_indexes); }

Lookout::End Lookout::open(Tx& tx) {
    auto end = tx.later<EndRow>(read_end);
    tx.queue(take_summaries);
    auto missing = tx.later<Missing>(read_missing);
    tx.queue(take_keys_again);
    auto drawn = tx.later<Drawn>(draw_xid);
    const EndRow row = end.one_or_retry();
    std::vector<IdRange> ranges;
    std::int64_t high_water = row.low_water;
    for (const Missing& each : missing.all())
        if (each.next) ranges.push_back({each.log_id + 1, *each.next - 1});
        else high_water = each.log_id;
    opened_by_ = drawn.one_or_retry().xid;
    gaps_ = Gaps(row.low_water, high_water, std::move(ranges), opened_by_, most_gaps_);
    return {row.batch, row.position};
}

std::vector<LogRow> Lookout::look(Tx& tx, int rows, std::int64_t bytes) {
    constexpr auto unbounded = std::numeric_limits<std::int64_t>::max();
    const bool was_full = gaps_.full();
    const std::int64_t above = was_full ? unbounded : gaps_.high_water();
    if (gaps_.empty()) {
        auto found = take_from(tx, above, {}, rows, bytes).all();
        has_more_ = fills(found, rows, bytes);
        return meet(std::move(found));
    }
    auto before = tx.later<Snapshot>(read_running);
    auto taking = take_from(tx, above, gaps_.youngest(gaps_at_once), rows, bytes);
    auto after = tx.later<Snapshot>(read_running);
    auto found = taking.all();
    has_more_ = fills(found, rows, bytes);
    // What one read was cut off at bounds all of them: nothing passes by a row with a lower id.
    auto bound = unbounded;
    if (!whole(found, above, rows, bytes)) bound = found.back().id;
    if (const auto due = gaps_.due(Running(after.one_or_retry().snapshot)); !due.empty()) {
        auto late = take_from(tx, unbounded, due, rows, bytes).all();
        has_more_ |= fills(late, rows, bytes);
        if (!whole(late, unbounded, rows, bytes)) bound = std::min(bound, late.back().id);
        std::ranges::move(late, std::back_inserter(found));
        std::ranges::sort(found, {}, &LogRow::id);
    }
    std::erase_if(found, [&](const LogRow& row) { return row.id > bound; });
    for (const LogRow& each : found)
        if (each.id <= gaps_.high_water()) gaps_.found(each.id);
    if (bound == unbounded) gaps_.settle(Running(before.one_or_retry().snapshot));
    has_more_ |= was_full && !gaps_.full();
    return meet(std::move(found));
}

std::vector<LogRow> Lookout::meet(std::vector<LogRow> found) {
    std::vector<std::int64_t> ids;
    for (const LogRow& each : found)
        if (each.id > gaps_.high_water()) ids.push_back(each.id);
    gaps_.meet(ids);
    return found;
}

}  // namespace svc::events
