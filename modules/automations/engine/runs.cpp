#include "modules/automations/engine/runs.hpp"

#include "modules/automations/engine/disabling.hpp"

#include <algorithm>

namespace svc::automations {

const EventKind run_failed{
    .name = "automation.run_failed",
    .object = "automation_run",
    .summary = "A run of an automation failed.",
    .record = &record_of<AutomationRun>,
    .vetoable = false,
};

namespace {

// A crash leaves a run "running"; whoever meets the event again takes it up.
constexpr Sql begin{"automations.begin_run", R"(
    INSERT INTO automation_runs (
        org_id, id, automation_id, script, event_id, kind, status, mode, depth, started_at)
    SELECT $1, $2, $3, $4, $5, $6, 'running', 'on', $7, now()
    WHERE EXISTS (SELECT FROM orgs WHERE id = $1 AND deleted_at IS NULL)
      AND NOT coalesce((SELECT s.disabled_at IS NOT NULL AND s.digest = $8
          FROM automation_states s WHERE s.org_id = $1 AND s.automation_id = $3), false)
    ON CONFLICT (org_id, automation_id, event_id, attempt) WHERE mode <> 'dry_run' DO UPDATE
    SET started_at = now()
    WHERE automation_runs.org_id = EXCLUDED.org_id AND automation_runs.status = 'running'
    RETURNING id)"};

constexpr Sql end{"automations.end_run", R"(
    UPDATE automation_runs
    SET status = $3, finished_at = now(), duration_ms = $4, instructions = $5,
        memory_peak_bytes = $6, calls = $7, error = $8, log = $9
    WHERE org_id = $1 AND id = $2
    RETURNING id, automation_id, automation_version, script, event_id, kind, status, mode,
              started_at, finished_at, duration_ms, instructions, memory_peak_bytes, calls, error,
              log, depth, created_time)"};

// Of what comes behind $6 bytes, the second run is given and no other.
constexpr Sql some_runs{"automations.list_runs", R"(
    SELECT id, automation_id, automation_version, script, event_id, kind, status, mode,
           started_at, finished_at, duration_ms, instructions, memory_peak_bytes, calls, error,
           log, depth, created_time
    FROM (
        SELECT r.*, row_number() OVER up_to_it AS place,
               sum(r.bytes) OVER up_to_it - r.bytes AS bytes_before
        FROM (
            SELECT *, octet_length(calls::text) + octet_length(log::text) AS bytes
            FROM automation_runs
            WHERE org_id = $1 AND automation_id = $2
              AND ($3::bigint IS NULL OR (created_time, id)
                  < (timestamptz 'epoch' + $3 * interval '1 microsecond', $4::uuid))
            ORDER BY created_time DESC, id DESC
            LIMIT $5
        ) r
        WINDOW up_to_it AS (ORDER BY r.created_time DESC, r.id DESC ROWS UNBOUNDED PRECEDING)
    ) n
    WHERE n.bytes_before <= $6 OR n.place <= 2
    ORDER BY created_time DESC, id DESC)"};

constexpr Sql add{"automations.add_run", R"(
    INSERT INTO automation_runs (
        org_id, id, automation_id, script, event_id, kind, status, mode, depth, started_at,
        finished_at, duration_ms, instructions, memory_peak_bytes, error, log)
    SELECT $1, $2, $3, $4, $5, $6, $7, 'on', $8, now(), now(), $9, $10, $11, $12, $13
    WHERE EXISTS (SELECT FROM orgs WHERE id = $1 AND deleted_at IS NULL)
    ON CONFLICT (org_id, automation_id, event_id, attempt) WHERE mode <> 'dry_run' DO NOTHING)"};

constexpr Sql find_old{"automations.find_old_runs", R"(
    SELECT DISTINCT org_id AS id FROM automation_runs
    WHERE created_time < now() - $1::interval
    LIMIT 1000)"};

constexpr Sql drop_old{"automations.drop_old_runs", R"(
    DELETE FROM automation_runs
    WHERE org_id = $1 AND created_time < now() - $2::interval)"};

struct Id {
    Uuid id;
};
SVC_RECORD(Id, (id));

template <class T>
std::string list_of(const std::vector<T>& items) {
    std::string list;
    Json<std::vector<T>>::write(items, list);
    return list;
}

std::optional<std::string> error_of(const Ended& ended) {
    return ended.error.empty() ? std::nullopt : std::optional(ended.error);
}

/// How a run stands that came to its end.
RunStatus status_of(const Ended& ended, const std::vector<RunCall>& calls) {
    if (!ended.error.empty()) return RunStatus::failed;
    const bool all_done = std::ranges::all_of(calls, [](const RunCall& call) {
        return call.outcome == CallOutcome::done;
    });
    return all_done ? RunStatus::succeeded : RunStatus::refused;
}

std::int64_t milliseconds(const Ended& ended) {
    return std::chrono::ceil<std::chrono::milliseconds>(ended.took).count();
}

void emit_failed(Tx& tx, const RunKey& key, const AutomationRun& run) {
    Event event;
    event.kind = &run_failed;
    event.id = run.id;
    event.version = 1;
    event.name = key.script.name;
    event.subject = event.changes = to_json(run);
    emit_as_system(
        tx,
        key.org_id,
        "run_automation",
        event,
        EventCause{*key.event_id, key.script.id, key.depth + 1}
    );
}

}  // namespace

std::optional<Uuid> begin_run(Kernel& kernel, const RunKey& key) {
    std::optional<Id> begun;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(key.org_id, std::nullopt);
        auto row = tx.later<Id>(
            begin,
            key.org_id,
            new_uuid(),
            key.script.id,
            key.script.name,
            key.event_id,
            key.kind,
            key.depth,
            key.script.digest
        );
        begun = row.one();
    });
    return begun ? std::optional(begun->id) : std::nullopt;
}

void end_run(
    Kernel& kernel,
    const RunKey& key,
    const Uuid& run,
    const Ended& ended,
    const std::vector<RunCall>& calls,
    std::int64_t most_failures
) {
    const bool failed = !ended.error.empty();
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(key.org_id, std::nullopt);
        const auto row = tx.one<AutomationRun>(
            end,
            key.org_id,
            run,
            status_of(ended, calls),
            milliseconds(ended),
            ended.instructions,
            ended.memory_peak_bytes,
            list_of(calls),
            error_of(ended),
            list_of(ended.log)
        );
        if (!row || !key.event_id) return;
        if (!failed) return note_success(tx, key);
        emit_failed(tx, key, *row);
        note_failure(tx, key, *row, most_failures);
    });
}

void add_run(Kernel& kernel, const RunKey& key, RunStatus status, const Ended& ended) {
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(key.org_id, std::nullopt);
        tx.queue(
            add,
            key.org_id,
            new_uuid(),
            key.script.id,
            key.script.name,
            key.event_id,
            key.kind,
            status,
            key.depth,
            milliseconds(ended),
            ended.instructions,
            ended.memory_peak_bytes,
            error_of(ended),
            list_of(ended.log)
        );
    });
}

// ---------------------------------------------------------------------------------- reading

namespace {

struct ListRunsRequest {
    std::string automation_id;
    Paging paging;
};
SVC_RECORD(
    ListRunsRequest,
    (automation_id,
     "Id of the automation; for a script of the operator's also its name, such as "
     "label-results.lua.",
     length(1, 200)),
    (paging, "", flatten)
);

Page<AutomationRun> list_runs(Call& call, const ListRunsRequest& in) {
    const auto by_id = Uuid::parse(in.automation_id);
    const Uuid automation = by_id.value_or(script_id(in.automation_id));
    const auto after = call.after(in.paging);
    const std::optional<std::int64_t> time =
        after ? std::optional(std::stoll(after->at(0))) : std::nullopt;
    const auto id = after ? Uuid::parse(after->at(1)) : std::nullopt;
    auto runs = call.tx().all<AutomationRun>(
        some_runs,
        call.org(),
        automation,
        time,
        id,
        in.paging.page_size + 1,
        static_cast<std::int64_t>(page_bytes)
    );
    // Ids of scripts are known from their runs alone.
    if (runs.empty() && by_id && !after) not_found("automation");
    return call.page(
        std::move(runs),
        in.paging,
        [](const AutomationRun& last) -> std::vector<std::string> {
            return {std::to_string(last.created_time.micros), last.id.str()};
        }
    );
}

}  // namespace

const Operation list_automation_runs{
    .name = "list_automation_runs",
    .route = "GET /v1/automations/{automation_id}/runs",
    .summary = "List the runs of an automation",
    .description =
        "Newest first: which event it answered, what it called and what was refused, its log and "
        "its error. Runs are kept for some time (30 days unless the operator says otherwise). A "
        "script's name that has not run has none; an id that has not is a 404.",
    .access = Access::admin,
    .handler = list_runs,
};

void drop_old_runs(Kernel& kernel, std::int64_t keep_days) {
    const std::chrono::seconds keep = std::chrono::hours(24 * keep_days);
    std::vector<Id> orgs;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        orgs = tx.all<Id>(find_old, keep);
    });
    for (const Id& org : orgs)
        kernel.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope(org.id, std::nullopt);
            tx.queue(drop_old, org.id, keep);
        });
}

}  // namespace svc::automations
