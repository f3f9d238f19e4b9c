// How many cards queues hold: noted every ten minutes, and forgotten after a day.

#include "modules/queue/column_of_board.hpp"
#include "modules/queue/counts.hpp"
#include "modules/queue/operations.hpp"
#include "modules/queue/sweeper.hpp"
#include "svc/workspace_jobs.hpp"

namespace svc::queue {

namespace {

// ---------------------------------------------------------------------------------- reading

struct QueueDepth {
    Timestamp at;
    std::int64_t ready = 0;
    std::int64_t blocked = 0;
    std::int64_t leased = 0;
    std::int64_t backoff = 0;
    std::int64_t exhausted = 0;
    std::int64_t held = 0;
};
SVC_RECORD(
    QueueDepth,
    (at, "The beginning of the ten minutes in which they were counted."),
    (ready, "Cards that waited to be claimed."),
    (blocked, "Cards that waited for other cards to be done."),
    (leased, "Cards that somebody worked on."),
    (backoff, "Cards that were kept back after a failure."),
    (exhausted, "Cards whose attempts were used up."),
    (held, "Cards that a person held.")
);

struct QueueDepths {
    Object<"queue_depths"> object;
    Uuid board_id;
    Uuid column_id;
    std::vector<QueueDepth> samples;
};
SVC_RECORD(
    QueueDepths,
    (object),
    (board_id),
    (column_id),
    (samples,
     "The oldest first, one for each ten minutes; after one that is all 0 there is none until "
     "cards come.")
);

struct QueueSeen {
    std::optional<boards::BoardRole> role;
    bool queue_enabled = false;
};
SVC_RECORD(QueueSeen, (role), (queue_enabled));

constexpr Sql see_column{"queue.see_column_of_depths", R"(
    SELECT r.role, k.queue_enabled
    FROM columns k
    )" SVC_QUEUE_BOARD("k.board_id") R"(
    WHERE k.org_id = $1 AND k.board_id = $5 AND k.id = $6 AND NOT k.in_trash)"};

// Those of a day are 145 at most.
constexpr Sql see_depths{"queue.get_depths", R"(
    SELECT d.at, d.ready, d.blocked, d.leased, d.backoff, d.exhausted, d.held
    FROM queue_depths d
    WHERE d.org_id = $1 AND d.column_id = $2 AND d.at > now() - interval '24 hours'
    ORDER BY d.at
    LIMIT 150)"};

QueueDepths get(Call& call, const ColumnOfBoard& in) {
    auto seen = boards::BoardCaller::of(call).later<QueueSeen>(
        call.tx(), see_column, in.board_id, in.column_id
    );
    auto samples = call.tx().later<QueueDepth>(see_depths, call.org(), in.column_id);
    require_queue_of(seen.one());
    return {{}, in.board_id, in.column_id, samples.all()};
}

// ---------------------------------------------------------------------------------- writing

// Each state by an index of its own; where samples are, they have to be forgotten one day.
constexpr Sql workspaces_to_sample{"queue.workspaces_with_depths", R"(
    SELECT o.id AS org_id FROM orgs o
    WHERE EXISTS (SELECT FROM queue q WHERE q.org_id = o.id AND q.state = 'ready')
        OR EXISTS (SELECT FROM queue q WHERE q.org_id = o.id AND q.lease_id IS NOT NULL)
        OR EXISTS (SELECT FROM queue q WHERE q.org_id = o.id AND q.state = 'backoff')
        OR EXISTS (SELECT FROM queue q WHERE q.org_id = o.id AND q.state = 'exhausted')
        OR EXISTS (SELECT FROM queue q WHERE q.org_id = o.id AND q.state = 'held')
        OR EXISTS (SELECT FROM queue_depths d WHERE d.org_id = o.id))"};

constexpr Sql drop_depths{"queue.drop_depths", R"(
    DELETE FROM queue_depths
    WHERE org_id = $1 AND (column_id, at) IN (
        SELECT d.column_id, d.at FROM queue_depths d
        WHERE d.org_id = $1 AND d.at <= now() - interval '24 hours'
        LIMIT $2))"};

// A queue that has become empty is written down once more, so that the line ends at 0.
constexpr Sql add_depths{"queue.add_depths", R"(
    INSERT INTO queue_depths (org_id, column_id, at, ready, blocked, leased, backoff, exhausted, held)
    SELECT $1, s.id, s.at, s.ready, s.blocked, s.leased, s.backoff, s.exhausted, s.held
    FROM (
        SELECT k.id, t.at,
            )" SVC_CARDS_OF("q.state = 'ready' AND NOT q.blocked") R"( AS ready,
            )" SVC_CARDS_OF("q.state = 'ready' AND q.blocked") R"( AS blocked,
            )" SVC_CARDS_OF("q.lease_id IS NOT NULL") R"( AS leased,
            )" SVC_CARDS_OF("q.state = 'backoff'") R"( AS backoff,
            )" SVC_CARDS_OF("q.state = 'exhausted'") R"( AS exhausted,
            )" SVC_CARDS_OF("q.state = 'held'") R"( AS held
        FROM columns k
        CROSS JOIN date_bin('10 minutes', now(), timestamptz '2000-01-01 00:00Z') AS t (at)
        WHERE k.org_id = $1 AND k.queue_enabled AND NOT k.in_trash
            AND NOT EXISTS (
                SELECT FROM queue_depths d
                WHERE d.org_id = $1 AND d.column_id = k.id AND d.at = t.at)
    ) s
    WHERE s.ready + s.blocked + s.leased + s.backoff + s.exhausted + s.held > 0
        OR (SELECT d.ready + d.blocked + d.leased + d.backoff + d.exhausted + d.held
            FROM queue_depths d
            WHERE d.org_id = $1 AND d.column_id = s.id
            ORDER BY d.at DESC
            LIMIT 1) > 0
    LIMIT $2
    ON CONFLICT DO NOTHING)"};

JobOutcome sample(Kernel& kernel, JobRun& run) {
    constexpr std::int64_t at_once = 500;
    const auto all_of = [&](const Sql& sql) {
        return in_batches(kernel, run, run.org(), "queue.sample", at_once, [&](Tx& tx, Actor&) {
            return tx.run(sql, run.org(), at_once);
        });
    };
    if (all_of(drop_depths) == JobOutcome::more) return JobOutcome::more;
    return all_of(add_depths);
}

}  // namespace

const Operation get_queue_depths{
    .name = "get_queue_depths",
    .route = "GET /v1/boards/{board_id}/columns/{column_id}/queue/depths",
    .summary = "List how many cards a queue held over the last day.",
    .description = "Every ten minutes, by how they stood: whether those who work on it keep up.",
    .access = Access::board_viewer,
    .refuses = {409},
    .tool = false,
    .handler = get,
};

void add_sampling(Kernel& kernel) {
    add_sweep(
        kernel,
        {.name = "queue.sample_depths",
         .every = std::chrono::minutes(5),  // oftener than they are noted, so that none is left out
         .find = [&kernel] { return workspaces(kernel, workspaces_to_sample); },
         .work = [&kernel](JobRun& run) { return sample(kernel, run); }}
    );
}

}  // namespace svc::queue
