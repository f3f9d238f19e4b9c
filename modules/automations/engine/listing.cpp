#include "modules/automations/engine/listing.hpp"

#include "modules/automations/engine/runner.hpp"

#include <algorithm>

namespace svc::automations {

namespace {

struct AutomationBind {
    std::string when, event;
};
SVC_RECORD(
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
};
SVC_RECORD(
    Automation,
    (object, "Always \"automation\"."),
    (id, "The script's id, as its runs have it."),
    (name, "The name of the operator's script, such as label-results.lua."),
    (mode, "`on`: its calls are carried out."),
    (binds, "Which events it waits for."),
    (operations, "Operations that its text names; it calls no others."),
    (last_run_at, "When it last ran in this workspace; null when no run is kept."),
    (last_status, "How that run ended; null when there is none.")
);

struct ListAutomationsRequest {
    Paging paging;
};
SVC_RECORD(ListAutomationsRequest, (paging, "", flatten));

struct LastRun {
    Uuid id;
    Timestamp created_time;
    RunStatus status{};
};
SVC_RECORD(LastRun, (id), (created_time), (status));

constexpr Sql last_runs{"automations.last_runs", R"(
    SELECT s.id, r.created_time, r.status
    FROM unnest($2::uuid[]) s (id)
    CROSS JOIN LATERAL (
        SELECT a.created_time, a.status FROM automation_runs a
        WHERE a.org_id = $1 AND a.automation_id = s.id
        ORDER BY a.created_time DESC, a.id DESC
        LIMIT 1
    ) r)"};

Automation described(const Script& script) {
    Automation out;
    out.id = script.id;
    out.name = script.name;
    for (const Bind& bind : script.binds) out.binds.push_back({bind.when, bind.event});
    out.operations = script.operations;
    return out;
}

/// The scripts stand in the order of their names already.
Page<Automation> list(Call& call, const ListAutomationsRequest& in) {
    const auto after = call.after(in.paging);
    const auto scripts = call.kernel().use<Runner>().scripts();
    std::vector<Automation> rows;
    if (scripts)
        for (const Script& each : *scripts) {
            if (after && each.name <= after->front()) continue;
            if (rows.size() > static_cast<std::size_t>(in.paging.page_size)) break;
            rows.push_back(described(each));
        }
    std::vector<Uuid> ids;
    for (const auto& each : rows) ids.push_back(each.id);
    for (const auto& last : call.tx().all<LastRun>(last_runs, call.org(), ids)) {
        const auto row = std::ranges::find(rows, last.id, &Automation::id);
        row->last_run_at = last.created_time;
        row->last_status = last.status;
    }
    return call.page(std::move(rows), in.paging, [](const Automation& last) {
        return std::vector{last.name};
    });
}

}  // namespace

const Operation list_automations{
    .name = "list_automations",
    .route = "GET /v1/automations",
    .summary = "List the scripts that run",
    .description =
        "The operator's scripts, by name: which events each waits for, what it calls, and how its "
        "last run in this workspace ended. They act in every workspace of the server.",
    .access = Access::admin,
    .handler = list,
};

}  // namespace svc::automations
