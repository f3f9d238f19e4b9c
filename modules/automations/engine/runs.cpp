#include "modules/automations/engine/runs.hpp"

namespace svc::automations {

const EventKind run_failed{
    "automation.run_failed",
    "automation_run",
    "A run of an automation failed.",
    &record_of<AutomationRun>,
};

namespace {

// A crash leaves a run "running"; whoever meets the event again takes it up.
constexpr Sql begin{"automations.begin_run", R"(
    INSERT INTO automation_runs (
        org_id, id, automation_id, script, event_id, kind, status, mode, depth, started_at)
    VALUES ($1, $2, $3, $4, $5, $6, 'running', 'on', $7, now())
    ON CONFLICT (org_id, automation_id, event_id, attempt) WHERE mode <> 'dry_run' DO UPDATE
    SET started_at = now()
    WHERE automation_runs.org_id = EXCLUDED.org_id AND automation_runs.status = 'running'
    RETURNING id)"};

constexpr Sql end{"automations.end_run", R"(
    UPDATE automation_runs
    SET status = $3, finished_at = now(), duration_ms = $4, instructions = $5,
        memory_peak_bytes = $6, calls = $7, error = $8, log = $9
    WHERE org_id = $1 AND id = $2
    RETURNING id, automation_id, automation_version, event_id, status, mode, started_at,
              finished_at, duration_ms, instructions, memory_peak_bytes, calls, error, log, depth,
              created_time)"};

constexpr Sql add{"automations.add_run", R"(
    INSERT INTO automation_runs (
        org_id, id, automation_id, script, event_id, kind, status, mode, depth, started_at,
        finished_at, duration_ms, instructions, memory_peak_bytes, error, log)
    VALUES ($1, $2, $3, $4, $5, $6, $7, 'on', $8, now(), now(), $9, $10, $11, $12, $13)
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
SVC_RECORD(Id, (id, ""));

template <class T>
std::string list_of(const std::vector<T>& items) {
    std::string list;
    Json<std::vector<T>>::write(items, list);
    return list;
}

std::optional<std::string> error_of(const Ended& ended) {
    return ended.error.empty() ? std::nullopt : std::optional(ended.error);
}

std::int64_t milliseconds(const Ended& ended) {
    return std::chrono::ceil<std::chrono::milliseconds>(ended.took).count();
}

}  // namespace

std::optional<Uuid> begin_run(Kernel& kernel, const RunKey& key) {
    std::optional<Id> begun;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.act_for(key.org_id, std::nullopt);
        auto row = tx.later<Id>(
            begin,
            key.org_id,
            new_uuid(),
            key.script.id,
            key.script.name,
            key.event_id,
            key.kind,
            key.depth
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
    const std::vector<RunCall>& calls
) {
    const bool failed = !ended.error.empty();
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.act_for(key.org_id, std::nullopt);
        const auto row = tx.one<AutomationRun>(
            end,
            key.org_id,
            run,
            failed ? RunStatus::failed : RunStatus::succeeded,
            milliseconds(ended),
            ended.instructions,
            ended.memory_peak_bytes,
            list_of(calls),
            error_of(ended),
            list_of(ended.log)
        );
        if (!failed || !row || !key.event_id) return;
        Event event;
        event.kind = &run_failed;
        event.id = run;
        event.version = 1;
        event.name = key.script.name;
        event.changes = to_json(*row);
        tell_as_system(
            tx,
            key.org_id,
            "run_automation",
            event,
            EventCause{*key.event_id, key.script.id, key.depth + 1}
        );
    });
}

void add_run(Kernel& kernel, const RunKey& key, RunStatus status, const Ended& ended) {
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.act_for(key.org_id, std::nullopt);
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

void drop_old_runs(Kernel& kernel, std::int64_t keep_days) {
    const std::chrono::seconds keep = std::chrono::hours(24 * keep_days);
    std::vector<Id> orgs;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.act_for_all_orgs();
        orgs = tx.all<Id>(find_old, keep);
    });
    for (const Id& org : orgs)
        kernel.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.act_for(org.id, std::nullopt);
            tx.queue(drop_old, org.id, keep);
        });
}

}  // namespace svc::automations
