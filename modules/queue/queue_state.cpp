// How the cards of a queue column stand, and what keeps a caller from getting one.

#include "modules/queue/column_of_board.hpp"
#include "modules/queue/counts.hpp"
#include "modules/queue/limits.hpp"
#include "modules/queue/operations.hpp"

namespace svc::queue {

namespace {

struct QueueState {
    Object<"queue_state"> object;
    Uuid board_id;
    Uuid column_id;
    bool paused = false;
    std::int64_t ready = 0;
    std::int64_t blocked = 0;
    std::int64_t leased = 0;
    std::int64_t backoff = 0;
    std::int64_t exhausted = 0;
    std::int64_t held = 0;
    std::optional<Timestamp> oldest_queued_at;
    std::optional<Timestamp> next_available_at;
    std::int64_t completed_per_hour = 0;
    std::int64_t failed_per_hour = 0;
};
SVC_RECORD(
    QueueState,
    (object),
    (board_id),
    (column_id),
    (paused, "Whether claims are given no card; leases go on."),
    (ready, "Cards that wait to be claimed. Of each state no more than 10,000 are counted."),
    (blocked, "Cards that wait for other cards to be done."),
    (leased, "Cards that somebody works on."),
    (backoff, "Cards that are kept back for a while after a failure."),
    (exhausted, "Cards whose attempts are used up: somebody has to look."),
    (held, "Cards that a person holds."),
    (oldest_queued_at, "Since when the ready card that came first is here; null without any."),
    (next_available_at, "When the next card leaves `backoff`; null without any."),
    (completed_per_hour,
     "Attempts that were completed within the last hour. Where more than 1,000 ended in the "
     "workspace, so many would be at the pace of the latest 1,000."),
    (failed_per_hour, "The same of attempts that failed or expired.")
);

struct QueueSeen {
    QueueState state;
    std::optional<boards::BoardRole> role;
    bool queue_enabled = false;
};
SVC_RECORD(QueueSeen, (state, "", flatten), (role), (queue_enabled));

// The newest of the workspace, by their ids: an index by column would be written by every ending.
// $7 is the first id of a day ago, for who began before that and ends only now is no more than a
// few. Of a thousand all are among them that ended since the first was claimed; more would make a
// look at a queue dear.
#define SVC_PACE(of)                                                                              \
    "round(count(*) FILTER (WHERE e.column_id = k.id AND e.ended_at > now() - interval '1 hour' " \
    "AND " of                                                                                     \
    ") * 3600 / greatest(extract(epoch FROM now() - greatest(now() - interval '1 "                \
    "hour', CASE WHEN count(*) = 1000 THEN min(e.claimed_at) END)), 1))::bigint"
constexpr Sql see_queue{"queue.get_queue", R"(
    SELECT k.board_id, k.id AS column_id, k.queue_paused AS paused, r.role, k.queue_enabled,
        w.ready, w.oldest_queued_at, p.completed_per_hour, p.failed_per_hour,
        )" SVC_COUNT_OF("q.state = 'ready' AND q.blocked") R"( AS blocked,
        )" SVC_COUNT_OF("q.lease_id IS NOT NULL") R"( AS leased,
        )" SVC_COUNT_OF("q.state = 'backoff'") R"( AS backoff,
        )" SVC_COUNT_OF("q.state = 'exhausted'") R"( AS exhausted,
        )" SVC_COUNT_OF("q.state = 'held'") R"( AS held,
        (SELECT min(q.available_at) FROM queue q
         WHERE q.org_id = $1 AND q.column_id = k.id AND q.state = 'backoff'
             AND r.role IS NOT NULL) AS next_available_at
    FROM columns k
    )" SVC_QUEUE_BOARD("k.board_id") R"(
    )" SVC_READY_CARDS("r.role IS NOT NULL", "10000") R"(
    CROSS JOIN LATERAL (
        SELECT )" SVC_PACE("e.state = 'completed'") R"( AS completed_per_hour,
            )" SVC_PACE("e.state IN ('failed', 'expired')") R"( AS failed_per_hour
        FROM (
            SELECT o.column_id, o.state, o.claimed_at, o.ended_at FROM lease_outcomes o
            WHERE o.org_id = $1 AND o.lease_id >= $7 AND r.role IS NOT NULL
            ORDER BY o.lease_id DESC
            LIMIT 1000
        ) e
    ) p
    WHERE k.org_id = $1 AND k.board_id = $5 AND k.id = $6 AND NOT k.in_trash)"};

DeferredRows<QueueSeen> look_at(Call& call, const ColumnOfBoard& in) {
    constexpr std::int64_t day = 86'400'000'000;
    const Timestamp a_day_ago{Timestamp::now().micros - day};
    return boards::BoardCaller::of(call).later<QueueSeen>(
        call.tx(), see_queue, in.board_id, in.column_id, first_id_at(a_day_ago)
    );
}

QueueState get(Call& call, const ColumnOfBoard& in) {
    return require_queue_of(look_at(call, in).one()).state;
}

// ---------------------------------------------------------------------------- explain_claim

enum class Obstacle {
    not_permitted,
    board_archived,
    paused,
    max_leases,
    max_in_flight,
    target_full,
    no_ready_card
};
BOOST_DESCRIBE_ENUM(
    Obstacle,
    not_permitted,
    board_archived,
    paused,
    max_leases,
    max_in_flight,
    target_full,
    no_ready_card
)

struct ClaimExplanation {
    Object<"claim_explanation"> object;
    bool claimable = false;
    std::vector<Obstacle> obstacles;
    QueueState queue;
    std::int64_t archived = 0;
    std::optional<std::int64_t> max_in_flight;
    std::optional<std::int64_t> max_leases;
    std::int64_t leases_held = 0;
    std::optional<Uuid> target_column_id;
};
SVC_RECORD(
    ClaimExplanation,
    (object),
    (claimable, "A claim of yours would be given a card now."),
    (obstacles,
     "All that keeps you from one: your role does not do (`not_permitted`), the board is archived, "
     "the queue is `paused`, you hold as many cards as you may (`max_leases`), as many of the "
     "column's cards are worked on as may be (`max_in_flight`), the column that completed cards go "
     "to is full (`target_full`), no card is ready (`no_ready_card`)."),
    (queue, "How the column's cards stand."),
    (archived, "Cards that were archived out of this column; no more than 10,000 are counted."),
    (max_in_flight, "How many of its cards may be worked on at a time; null: any number."),
    (max_leases, "How many cards you may hold at a time; null: any number."),
    (leases_held, "How many you hold, of whatever queue; no more than 10,000 are counted."),
    (target_column_id, "The column that completed cards go to; null when there is none.")
);

struct LimitsSeen {
    std::optional<boards::BoardRole> role;
    bool board_archived = false;
    bool paused = false;
    std::optional<std::int64_t> max_in_flight;
    std::optional<std::int64_t> max_leases;
    std::int64_t leases_held = 0;
    std::int64_t archived = 0;
    bool target_full = false;
    std::optional<Uuid> target_column_id;
};
SVC_RECORD(
    LimitsSeen,
    (role),
    (board_archived),
    (paused),
    (max_in_flight),
    (max_leases),
    (leases_held),
    (archived),
    (target_full),
    (target_column_id)
);

constexpr Sql see_limits{"queue.explain_claim", R"(
    SELECT r.role, b.is_archived AS board_archived, k.queue_paused AS paused, k.max_in_flight,
        a.max_leases,
        (SELECT count(*) FROM (
            SELECT FROM queue q
            WHERE q.org_id = $1 AND q.lease_id IS NOT NULL AND q.holder_id = $2
            LIMIT 10000) c) AS leases_held,
        (SELECT count(*) FROM (
            SELECT FROM cards c
            WHERE c.org_id = $1 AND c.column_id = k.id AND c.is_archived AND NOT c.in_trash
                AND r.role IS NOT NULL
            LIMIT 10000) c) AS archived,
        coalesce()" SVC_TARGET_IS_FULL R"(, false) AS target_full,
        (SELECT u.completed_id FROM column_turns u WHERE u.org_id = $1 AND u.id = k.id)
            AS target_column_id
    FROM columns k
    )" SVC_QUEUE_BOARD("k.board_id") R"(
    )" SVC_MAX_LEASES R"(
    WHERE k.org_id = $1 AND k.board_id = $5 AND k.id = $6 AND NOT k.in_trash)"};

std::vector<Obstacle> obstacles_in(const QueueState& queue, const LimitsSeen& seen) {
    std::vector<Obstacle> all;
    const auto add = [&](Obstacle each, bool is_there) {
        if (is_there) all.push_back(each);
    };
    add(Obstacle::not_permitted, seen.role < boards::BoardRole::editor);
    add(Obstacle::board_archived, seen.board_archived);
    add(Obstacle::paused, seen.paused);
    add(Obstacle::max_leases, seen.max_leases && seen.leases_held >= *seen.max_leases);
    add(Obstacle::max_in_flight, seen.max_in_flight && queue.leased >= *seen.max_in_flight);
    add(Obstacle::target_full, seen.target_full);
    add(Obstacle::no_ready_card, queue.ready == 0);
    return all;
}

ClaimExplanation explain(Call& call, const ColumnOfBoard& in) {
    auto looked = look_at(call, in);
    auto limits = boards::BoardCaller::of(call).later<LimitsSeen>(
        call.tx(), see_limits, in.board_id, in.column_id
    );
    ClaimExplanation why;
    why.queue = require_queue_of(looked.one()).state;
    const LimitsSeen seen = limits.one_or_retry();
    why.obstacles = obstacles_in(why.queue, seen);
    why.claimable = why.obstacles.empty();
    why.archived = seen.archived;
    why.max_in_flight = seen.max_in_flight;
    why.max_leases = seen.max_leases;
    why.leases_held = seen.leases_held;
    why.target_column_id = seen.target_column_id;
    return why;
}

}  // namespace

const Operation get_queue{
    .name = "get_queue",
    .route = "GET /v1/boards/{board_id}/columns/{column_id}/queue",
    .summary = "Count the cards of a queue by how they stand.",
    .description = "How much is waiting, worked on, kept back, and stuck, and how fast it goes.",
    .access = Access::board_viewer,
    .refuses = {409},
    .handler = get,
};

const Operation explain_claim{
    .name = "explain_claim",
    .route = "GET /v1/boards/{board_id}/columns/{column_id}:explain-claim",
    .summary = "Say why you are given no card of a queue.",
    .description =
        "All that keeps a claim of yours from getting a card now, and how the cards stand that "
        "nobody is given: leased, in `backoff`, held, exhausted, blocked or archived.",
    .access = Access::board_viewer,
    .refuses = {409},
    .handler = explain,
};

}  // namespace svc::queue
