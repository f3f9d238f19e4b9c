#include "jobs/store.hpp"

namespace svc::jobs {

namespace {

constexpr std::int64_t most_made_ready = 1'000;

constexpr Sql insert_job{"jobs.add", R"(
    INSERT INTO jobs (org_id, kind, key, payload, state, due_at)
    VALUES ($1, $2, $3, $4, CASE WHEN $5::bigint > 0 THEN 'waiting' ELSE 'ready' END,
        now() + $5::bigint * interval '1 millisecond')
    ON CONFLICT (org_id, kind, key) DO UPDATE
    SET again_at = CASE WHEN jobs.state = 'running'
            THEN least(jobs.again_at, EXCLUDED.due_at) END,
        state = CASE
            WHEN jobs.state = 'running' OR jobs.state = 'waiting' AND jobs.attempts > 0
                THEN jobs.state
            WHEN jobs.state = 'ready' THEN 'ready'
            ELSE EXCLUDED.state END,
        due_at = CASE
            WHEN jobs.state = 'running' OR jobs.state = 'waiting' AND jobs.attempts > 0
                THEN jobs.due_at
            WHEN jobs.state = 'failed' THEN EXCLUDED.due_at
            ELSE least(jobs.due_at, EXCLUDED.due_at) END,
        attempts = CASE WHEN jobs.state = 'failed' THEN 0 ELSE jobs.attempts END)"};

constexpr Sql insert_recurring{"jobs.add_recurring", R"(
    INSERT INTO jobs (org_id, kind, key, state, due_at)
    VALUES ('00000000-0000-0000-0000-000000000000', $1, '', 'waiting',
        now() + $2::bigint * interval '1 millisecond')
    ON CONFLICT (org_id, kind, key) DO UPDATE SET due_at = EXCLUDED.due_at
    WHERE jobs.state = 'waiting' AND jobs.due_at > EXCLUDED.due_at)"};

constexpr Sql bring_all_forward{"jobs.bring_forward", R"(
    UPDATE jobs SET state = 'ready', due_at = now() WHERE kind = $1 AND state = 'waiting')"};

constexpr Sql drop_all{"jobs.drop_all_of", R"(
    DELETE FROM jobs WHERE org_id = $1)"};

// By their places, for the rows are locked: however many there are thought to be, only these are
// read. What ended with its server more than once is spread over time, each by itself, so that a
// job that kills servers does not take the same others with it each time.
constexpr Sql make_due_ready{"jobs.make_ready", R"(
    UPDATE jobs
    SET state = CASE WHEN state = 'running' AND attempts > 1 THEN 'waiting' ELSE 'ready' END,
        due_at = CASE
            WHEN state = 'running' AND attempts > 1 THEN now() + least(attempts, 6) ^ 2
                * (hashtext(key || attempts) & 1023) / 1024 * interval '1 second'
            ELSE due_at END,
        lease = NULL,
        last_error = CASE WHEN state = 'running'
            THEN 'Its server ended in the middle of it.' ELSE last_error END
    WHERE ctid = ANY (ARRAY(
        SELECT j.ctid FROM jobs j
        WHERE j.state IN ('waiting', 'running') AND j.due_at <= now()
        ORDER BY j.due_at
        LIMIT $1
        FOR UPDATE SKIP LOCKED)))"};

constexpr Sql find_ready{"jobs.find_ready", R"(
    WITH RECURSIVE lines (kind, org_id, count, most) AS (
        SELECT k.kind, f.org_id, 1, k.most
        FROM unnest($1::text[], $2::uuid[], $3::bigint[]) AS k (kind, first, most)
        CROSS JOIN LATERAL (
            SELECT j.org_id FROM jobs j
            WHERE j.state = 'ready' AND j.kind = k.kind AND j.org_id >= k.first
            ORDER BY j.org_id LIMIT 1) f
        UNION ALL
        SELECT l.kind, f.org_id, l.count + 1, l.most
        FROM lines l
        CROSS JOIN LATERAL (
            SELECT j.org_id FROM jobs j
            WHERE j.state = 'ready' AND j.kind = l.kind AND j.org_id > l.org_id
            ORDER BY j.org_id LIMIT 1) f
        WHERE l.count < l.most
    )
    SELECT kind, org_id FROM lines ORDER BY kind, org_id)"};

constexpr Sql take_ready{"jobs.take", R"(
    UPDATE jobs
    SET state = 'running', attempts = attempts + 1, lease = $4,
        due_at = now() + $5::bigint * interval '1 millisecond'
    WHERE org_id = $1 AND kind = $2 AND state = 'ready' AND key = ANY (ARRAY(
        SELECT j.key FROM jobs j
        WHERE j.org_id = $1 AND j.kind = $2 AND j.state = 'ready'
        ORDER BY j.due_at
        LIMIT $3
        FOR UPDATE SKIP LOCKED))
    RETURNING key, payload, attempts)"};

constexpr Sql extend_lease{"jobs.extend", R"(
    UPDATE jobs SET due_at = now() + $5::bigint * interval '1 millisecond'
    WHERE org_id = $1 AND kind = $2 AND key = $3 AND lease = $4
    RETURNING key)"};

constexpr Sql begin_again{"jobs.repeat", R"(
    UPDATE jobs
    SET state = CASE
            WHEN least(again_at, now() + $5::bigint * interval '1 millisecond') <= now() THEN 'ready'
            ELSE 'waiting' END,
        due_at = least(again_at, now() + $5::bigint * interval '1 millisecond'),
        again_at = NULL, attempts = 0, lease = NULL, last_error = NULL
    WHERE org_id = $1 AND kind = $2 AND key = $3 AND lease = $4)"};

constexpr Sql fail_attempt{"jobs.fail", R"(
    UPDATE jobs
    SET state = CASE
            WHEN NOT $6::boolean THEN 'waiting'
            WHEN again_at IS NULL THEN 'failed'
            WHEN again_at <= now() THEN 'ready'
            ELSE 'waiting' END,
        due_at = CASE
            WHEN $6 THEN coalesce(again_at, now())
            ELSE now() + $7::bigint * interval '1 millisecond' END,
        attempts = CASE WHEN $6 AND again_at IS NOT NULL THEN 0 ELSE attempts END,
        again_at = NULL, lease = NULL, last_error = $5
    WHERE org_id = $1 AND kind = $2 AND key = $3 AND lease = $4)"};

// In front of its end, which then sees what was asked for meanwhile: of a row that somebody changes
// at this moment a statement judges what it was before.
constexpr Sql lock_held{"jobs.lock_held", R"(
    SELECT key FROM jobs
    WHERE org_id = $1 AND kind = $2 AND key = $3 AND lease = $4
    FOR UPDATE)"};

constexpr Sql finish_job{"jobs.finish", R"(
    WITH gone AS (
        DELETE FROM jobs
        WHERE org_id = $1 AND kind = $2 AND key = $3 AND lease = $4 AND again_at IS NULL
    )
    UPDATE jobs
    SET state = CASE WHEN again_at <= now() THEN 'ready' ELSE 'waiting' END,
        due_at = again_at, again_at = NULL, attempts = 0, lease = NULL, last_error = NULL
    WHERE org_id = $1 AND kind = $2 AND key = $3 AND lease = $4 AND again_at IS NOT NULL)"};

std::vector<std::string> texts(const std::vector<std::int64_t>& numbers) {
    std::vector<std::string> out;
    for (const auto each : numbers) out.push_back(std::to_string(each));
    return out;
}

}  // namespace

void add_job(Tx& tx, const JobRequest& job) {
    tx.queue(insert_job, job.org, job.kind, job.key, job.payload, job.after.count());
}

void add_recurring(Tx& tx, const std::string& kind, std::chrono::milliseconds every) {
    tx.queue(insert_recurring, kind, every.count());
}

void drop_jobs_of(Tx& tx, const Uuid& org) { tx.queue(drop_all, org); }

void bring_forward(Tx& tx, std::string_view kind) { tx.queue(bring_all_forward, kind); }

void make_ready(Tx& tx) { tx.queue(make_due_ready, most_made_ready); }

DeferredRows<Line> find_lines(
    Tx& tx,
    const std::vector<std::string>& kinds,
    const std::vector<Uuid>& from,
    const std::vector<std::int64_t>& most
) {
    return tx.later<Line>(find_ready, kinds, from, texts(most));
}

DeferredRows<Taken> take(
    Tx& tx,
    const Line& line,
    std::int64_t most,
    const Uuid& lease,
    std::chrono::milliseconds lease_time
) {
    return tx.later<Taken>(take_ready, line.org_id, line.kind, most, lease, lease_time.count());
}

Result extend(Tx& tx, const Held& job, std::chrono::milliseconds lease_time) {
    return tx.queue(extend_lease, job.org_id, job.kind, job.key, job.lease, lease_time.count());
}

void finish(Tx& tx, const Held& job) {
    tx.queue(lock_held, job.org_id, job.kind, job.key, job.lease);
    tx.queue(finish_job, job.org_id, job.kind, job.key, job.lease);
}

void repeat(Tx& tx, const Held& job, std::chrono::milliseconds after) {
    tx.queue(begin_again, job.org_id, job.kind, job.key, job.lease, after.count());
}

void require_end(Tx& tx, const Held& job, std::optional<std::chrono::milliseconds> every) {
    tx.lock(lock_held, job.org_id, job.kind, job.key, job.lease);
    if (every) repeat(tx, job, *every);
    else tx.queue(finish_job, job.org_id, job.kind, job.key, job.lease);
}

void fail(
    Tx& tx, const Held& job, std::string_view why, bool last, std::chrono::milliseconds pause
) {
    tx.queue(fail_attempt, job.org_id, job.kind, job.key, job.lease, why, last, pause.count());
}

}  // namespace svc::jobs
