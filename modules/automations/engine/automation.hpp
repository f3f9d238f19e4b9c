#pragma once

#include "modules/automations/engine/runs.hpp"

/// A script as the admins of a workspace see it (contract section 6.28).
namespace svc::automations {

struct AutomationBind {
    std::string when, event;
};
SVC_SHARED_RECORD(
    AutomationBind,
    (when, "`before` or `after`: whether it may refuse the change, or answers the event."),
    (event, "A kind of event, `noun.*` or `*`.")
);

struct Automation {
    Object<"automation"> object;
    Uuid id;
    std::string name;
    RunMode mode = RunMode::on;
    std::vector<AutomationBind> binds;
    std::vector<std::string> operations;
    std::optional<Timestamp> last_run_at;
    std::optional<RunStatus> last_status;
    std::int64_t consecutive_failures = 0;
    std::optional<Timestamp> disabled_at;
    std::optional<std::string> disabled_reason;
};
SVC_SHARED_RECORD(
    Automation,
    (object, "Always \"automation\"."),
    (id, "The script's id, as its runs have it."),
    (name, "The name of the operator's script, such as label-results.lua."),
    (mode, "`on`: its calls are carried out."),
    (binds, "Which events it waits for."),
    (operations, "Operations that its text names; it calls no others."),
    (last_run_at, "When it last ran in this workspace; null when no run is kept."),
    (last_status, "How that run ended; null when there is none."),
    (consecutive_failures,
     "How many of its latest runs in this workspace failed, one after the other."),
    (disabled_at,
     "When it was disabled in this workspace, because it failed again and again; null while it "
     "runs."),
    (disabled_reason, "Why it was.")
);

/// What can be said of a script without a workspace.
Automation described(const Script& script);

}  // namespace svc::automations
