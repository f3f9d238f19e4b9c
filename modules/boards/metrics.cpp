// How work flows over a board, worked out from what was told of its cards.

#include "modules/boards/operations.hpp"
#include "modules/boards/statements.hpp"

namespace svc::boards {

namespace {

/// The record is read backwards, so many events at most.
constexpr std::int64_t most_events = 50'000;

struct Durations {
    std::int64_t count = 0;
    std::optional<std::int64_t> median_seconds;
    std::optional<std::int64_t> p85_seconds;
    std::optional<std::int64_t> longest_seconds;
};
SVC_RECORD(
    Durations,
    (count, "How many cards it is about."),
    (median_seconds, "Half of them took no longer; null when there are none."),
    (p85_seconds, "85 of 100 took no longer."),
    (longest_seconds, "None took longer.")
);

struct DayMetrics {
    Date date;
    std::int64_t created_count = 0;
    std::int64_t completed_count = 0;
};
SVC_RECORD(
    DayMetrics,
    (date, "A day in UTC."),
    (created_count, "Cards that were made."),
    (completed_count, "Cards that reached a column of kind `done`.")
);

struct ColumnMetrics {
    Uuid column_id;
    std::string name;
    ColumnKind kind{};
    std::optional<std::int64_t> wip_limit;
    std::int64_t card_count = 0;
    std::int64_t entered_count = 0;
    std::int64_t left_count = 0;
    Durations stay;
    Durations age;
};
SVC_RECORD(
    ColumnMetrics,
    (column_id, ""),
    (name, ""),
    (kind, ""),
    (wip_limit, ""),
    (card_count, "Cards that stand there now."),
    (entered_count, "How often a card came in during the time asked for."),
    (left_count, "How often one left."),
    (stay, "How long those that left had been there."),
    (age, "How long those that are there have been there: work that grows old.")
);

struct BoardMetrics {
    Object<"board_metrics"> object;
    Uuid board_id;
    std::int64_t days = 0;
    std::optional<Timestamp> known_since;
    AsJson<std::vector<DayMetrics>> throughput;
    AsJson<Durations> cycle_time;
    AsJson<Durations> lead_time;
    AsJson<std::vector<ColumnMetrics>> columns;
};
SVC_RECORD(
    BoardMetrics,
    (object, ""),
    (board_id, ""),
    (days, "As asked for."),
    (known_since,
     "The oldest event that was looked at: events are kept for so long, and the newest 50,000 of "
     "the board are read. What happened before is not counted."),
    (throughput, "Day by day, the oldest first."),
    (cycle_time,
     "Of the cards that were completed: from when work on them could begin, in a column of kind "
     "`queue` or `active`, or else from when they were made."),
    (lead_time, "Of the same cards: from when they were made."),
    (columns, "From left to right.")
);

// A stay begins when a card comes into a column and ends with its next step. Whoever was there
// before anything is known counts from when the card was made.
constexpr Sql measure{"boards.board_metrics", R"(
    WITH span AS (
        SELECT now() - make_interval(days => $3::int) AS since
    ), steps AS MATERIALIZED (
        SELECT t.board_sequence, t.kind, (t.data ->> 'id')::uuid AS card_id, t.at,
            CASE WHEN t.kind NOT IN ('card.archived', 'card.deleted')
                THEN (t.data ->> 'column_id')::uuid END AS column_id,
            t.kind <> 'card.updated'
                AND (t.kind <> 'card.moved' OR t.data -> 'changes' ? 'column_id') AS goes,
            t.data #>> '{changes,completed_at}' IS NOT NULL AS completes
        FROM (
            SELECT x.board_sequence, x.kind, x.envelope::jsonb -> 'data' AS data,
                (x.envelope::jsonb ->> 'occurred_at')::timestamptz AS at
            FROM events x
            WHERE x.org_id = $1 AND x.board_id = $2
                AND x.board_sequence > (
                    SELECT h.board_sequence - $4 FROM event_board_heads h
                    WHERE h.org_id = $1 AND h.board_id = $2)
                AND x.kind IN ('card.created', 'card.moved', 'card.updated', 'card.archived',
                    'card.restored', 'card.deleted')
            OFFSET 0
        ) t
    ), stays AS MATERIALIZED (
        SELECT s.card_id, s.column_id, s.at AS since,
            lead(s.at) OVER (PARTITION BY s.card_id ORDER BY s.board_sequence) AS until,
            row_number() OVER (PARTITION BY s.card_id ORDER BY s.board_sequence DESC) AS back
        FROM steps s
        WHERE s.goes
    ), starts AS (
        SELECT t.card_id, min(t.since) AS since
        FROM stays t
        JOIN columns k
            ON k.org_id = $1 AND k.id = t.column_id AND k.kind IN ('queue', 'active')
        GROUP BY t.card_id
    ), finished AS MATERIALIZED (
        SELECT s.at,
            extract(epoch FROM s.at - c.created_time)::bigint AS lead,
            extract(epoch FROM s.at - least(coalesce(w.since, c.created_time), s.at))::bigint
                AS cycle
        FROM steps s
        JOIN cards c ON c.org_id = $1 AND c.id = s.card_id
        LEFT JOIN starts w ON w.card_id = s.card_id
        WHERE s.completes AND s.at >= (SELECT since FROM span)
    ), ages AS MATERIALIZED (
        SELECT c.column_id,
            extract(epoch FROM now() - coalesce(t.since, c.created_time))::bigint AS age
        FROM cards c
        LEFT JOIN stays t ON t.card_id = c.id AND t.back = 1 AND t.column_id = c.column_id
        WHERE c.org_id = $1 AND c.board_id = $2 AND NOT c.is_archived AND NOT c.in_trash
    )
    SELECT $2::uuid AS board_id, $3::bigint AS days, (SELECT min(at) FROM steps) AS known_since,
        (SELECT jsonb_agg(jsonb_build_object('date', to_char(d.day, 'YYYY-MM-DD'),
             'created_count', (
                 SELECT count(*) FROM steps s
                 WHERE s.kind = 'card.created' AND (s.at AT TIME ZONE 'UTC')::date = d.day),
             'completed_count', (
                 SELECT count(*) FROM finished f
                 WHERE (f.at AT TIME ZONE 'UTC')::date = d.day)) ORDER BY d.day)
         FROM (
             SELECT ((now() AT TIME ZONE 'UTC')::date - n) AS day
             FROM generate_series(0, $3::int - 1) n
         ) d) AS throughput,
        (SELECT jsonb_build_object('count', count(*),
             'median_seconds', percentile_disc(0.5) WITHIN GROUP (ORDER BY cycle),
             'p85_seconds', percentile_disc(0.85) WITHIN GROUP (ORDER BY cycle),
             'longest_seconds', max(cycle)) FROM finished) AS cycle_time,
        (SELECT jsonb_build_object('count', count(*),
             'median_seconds', percentile_disc(0.5) WITHIN GROUP (ORDER BY lead),
             'p85_seconds', percentile_disc(0.85) WITHIN GROUP (ORDER BY lead),
             'longest_seconds', max(lead)) FROM finished) AS lead_time,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('column_id', k.id, 'name', k.name,
             'kind', k.kind, 'wip_limit', k.wip_limit, 'card_count', a.count,
             'entered_count', coalesce(m.entered, 0), 'left_count', coalesce(m.gone, 0),
             'stay', m.stay, 'age', a.age) ORDER BY k.position, k.id), '[]')
         FROM columns k
         CROSS JOIN LATERAL (
             SELECT count(*), jsonb_build_object('count', count(*),
                 'median_seconds', percentile_disc(0.5) WITHIN GROUP (ORDER BY g.age),
                 'p85_seconds', percentile_disc(0.85) WITHIN GROUP (ORDER BY g.age),
                 'longest_seconds', max(g.age)) AS age
             FROM ages g WHERE g.column_id = k.id
         ) a
         CROSS JOIN LATERAL (
             SELECT count(*) FILTER (WHERE t.since >= p.since) AS entered,
                 count(*) FILTER (WHERE t.until >= p.since) AS gone,
                 jsonb_build_object('count', count(*) FILTER (WHERE t.until >= p.since),
                     'median_seconds', percentile_disc(0.5) WITHIN GROUP (ORDER BY t.long)
                         FILTER (WHERE t.until >= p.since),
                     'p85_seconds', percentile_disc(0.85) WITHIN GROUP (ORDER BY t.long)
                         FILTER (WHERE t.until >= p.since),
                     'longest_seconds', max(t.long) FILTER (WHERE t.until >= p.since)) AS stay
             FROM (
                 SELECT y.since, y.until, extract(epoch FROM y.until - y.since)::bigint AS long
                 FROM stays y WHERE y.column_id = k.id
             ) t
             CROSS JOIN span p
         ) m
         WHERE k.org_id = $1 AND k.board_id = $2 AND NOT k.in_trash) AS columns)"};

struct MetricsQuery {
    Uuid board_id;
    std::int64_t days = 30;
};
SVC_RECORD(MetricsQuery, (board_id, ""), (days, "How far back to look.", range(1, 90), defaulted));

BoardMetrics get(Call& call, const MetricsQuery& in) {
    auto seen = Seat::of(call).later<BoardSeen>(call.tx(), see_board, in.board_id);
    auto found =
        call.tx().later<BoardMetrics>(measure, call.org(), in.board_id, in.days, most_events);
    const auto board = seen.one();
    if (!board) not_found("board");
    require(board->role, BoardRole::viewer, "board");
    return found.must();
}

}  // namespace

const Operation get_board_metrics{
    .name = "get_board_metrics",
    .route = "GET /v1/boards/{board_id}/metrics",
    .summary = "Measure a board: throughput, cycle time, and how old the work in each column is.",
    .description =
        "Worked out from the events of the board's cards. The kinds of columns are those of today.",
    .access = Access::board_viewer,
    .handler = get,
};

}  // namespace svc::boards
