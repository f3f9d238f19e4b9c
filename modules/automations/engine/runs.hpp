#pragma once

#include "modules/automations/engine/script.hpp"
#include "svc/kernel.hpp"

/// The record of what scripts did (contract section 6.28).
namespace svc::automations {

enum class RunStatus { queued, running, succeeded, refused, failed, skipped };
BOOST_DESCRIBE_ENUM(RunStatus, queued, running, succeeded, refused, failed, skipped)

enum class RunMode { canary, on, dry_run };
BOOST_DESCRIBE_ENUM(RunMode, canary, on, dry_run)

enum class CallOutcome { done, would_do, refused, failed };
BOOST_DESCRIBE_ENUM(CallOutcome, done, would_do, refused, failed)

struct RunCall {
    std::string operation;
    JsonText arguments;
    CallOutcome outcome = CallOutcome::done;
    std::optional<std::int64_t> status;
    std::optional<Uuid> target_id;
    std::optional<std::string> error;
};
SVC_SHARED_RECORD(
    RunCall,
    (operation, "What the script called."),
    (arguments, "With what; large ones as `{\"truncated\":true}`."),
    (outcome, "What became of it."),
    (status, "As REST would have answered."),
    (target_id, "The `id` of the result."),
    (error, "Why it was refused.")
);

struct AutomationRun {
    Object<"automation_run"> object;
    Uuid id;
    Uuid automation_id;
    std::int64_t automation_version = 1;
    std::optional<std::string> script;
    std::optional<Uuid> event_id;
    std::string kind;
    RunStatus status = RunStatus::running;
    RunMode mode = RunMode::on;
    std::optional<Timestamp> started_at, finished_at;
    std::optional<std::int64_t> duration_ms;
    std::int64_t instructions = 0;
    std::int64_t memory_peak_bytes = 0;
    std::vector<RunCall> calls;
    std::optional<std::string> error;
    std::vector<std::string> log;
    std::int64_t depth = 0;
    Timestamp created_time;
};
SVC_SHARED_RECORD(
    AutomationRun,
    (object, "Always \"automation_run\"."),
    (id, "The run's id."),
    (automation_id, "Id of the automation or of the operator's script."),
    (automation_version, "The version that ran."),
    (script, "The operator's script, by its name."),
    (event_id, "The event that it answered; null of a before-handler, which answers none yet."),
    (kind, "The kind of that event."),
    (status,
     "How far it is, or how it ended. `refused`: it ran to its end, but something that it called "
     "was refused; `calls` says what."),
    (mode, "Whether its calls were carried out."),
    (started_at, "When it started."),
    (finished_at, "When it ended."),
    (duration_ms, "How long it took, calls included."),
    (instructions, "Of Lua's, in steps of a hundred."),
    (memory_peak_bytes, "The most that Lua held."),
    (calls, "The operations it called, in order."),
    (error, "Why it failed, with the line."),
    (log, "What it wrote with svc.log."),
    (depth, "How many automations stand one behind the other."),
    (created_time, "When the run was recorded.")
);

/// `automation.run_failed`.
extern const EventKind run_failed;

/// Which script ran for what.
struct RunKey {
    const Script& script;
    Uuid org_id;
    std::optional<Uuid> event_id;
    std::string_view kind;
    std::int64_t depth = 0;
};

/// Records that a run begins; its id, or nothing when the event was answered before, its workspace
/// is gone, or the script is disabled there. A run that a crash cut short begins again.
std::optional<Uuid> begin_run(Kernel& kernel, const RunKey& key);
/// Records how it ended, and emits run_failed when it failed; with the `most_failures`th failure in
/// a row the script is disabled in the workspace.
void end_run(
    Kernel& kernel,
    const RunKey& key,
    const Uuid& run,
    const Ended& ended,
    const std::vector<RunCall>& calls,
    std::int64_t most_failures
);
/// Records a run that was over before it could be recorded, or that did not take place.
void add_run(Kernel& kernel, const RunKey& key, RunStatus status, const Ended& ended);

/// Lists the runs of one automation, for admins.
extern const Operation list_automation_runs;

/// Drops runs that are older than `keep_days`. A job's work.
void drop_old_runs(Kernel& kernel, std::int64_t keep_days);

}  // namespace svc::automations
