#include "modules/automations/engine/listing.hpp"

#include "modules/automations/engine/automation.hpp"
#include "modules/automations/engine/runner.hpp"

#include <algorithm>

namespace svc::automations {

namespace {

struct ListAutomationsRequest {
    Paging paging;
};
SVC_RECORD(ListAutomationsRequest, (paging, "", flatten));

/// How a script does in the workspace.
struct HereRow {
    Uuid id;
    std::optional<Timestamp> created_time;
    std::optional<RunStatus> status;
    std::int64_t failures = 0;
    std::optional<Timestamp> disabled_at;
    std::optional<std::string> disabled_reason;
};
SVC_RECORD(HereRow, (id), (created_time), (status), (failures), (disabled_at), (disabled_reason));

constexpr Sql how_they_do{"automations.how_they_do", R"(
    SELECT s.id, r.created_time, r.status, coalesce(f.failures, 0) AS failures, f.disabled_at,
        f.disabled_reason
    FROM unnest($2::uuid[], $3::text[]) s (id, digest)
    LEFT JOIN LATERAL (
        SELECT a.created_time, a.status FROM automation_runs a
        WHERE a.org_id = $1 AND a.automation_id = s.id
        ORDER BY a.created_time DESC, a.id DESC
        LIMIT 1
    ) r ON true
    LEFT JOIN LATERAL (
        SELECT t.failures, t.disabled_at, t.disabled_reason FROM automation_states t
        WHERE t.org_id = $1 AND t.automation_id = s.id AND t.digest = s.digest
        OFFSET 0
    ) f ON true)"};

/// The scripts stand in the order of their names already.
Page<Automation> list(Call& call, const ListAutomationsRequest& in) {
    const auto after = call.after(in.paging);
    const auto scripts = call.kernel().use<Runner>().scripts();
    std::vector<Automation> rows;
    std::vector<Uuid> ids;
    std::vector<std::string> digests;
    if (scripts)
        for (const Script& each : *scripts) {
            if (after && each.name <= after->front()) continue;
            if (rows.size() > static_cast<std::size_t>(in.paging.page_size)) break;
            rows.push_back(described(each));
            ids.push_back(each.id);
            digests.push_back(each.digest);
        }
    for (auto& here : call.tx().all<HereRow>(how_they_do, call.org(), ids, digests)) {
        const auto row = std::ranges::find(rows, here.id, &Automation::id);
        row->last_run_at = here.created_time;
        row->last_status = here.status;
        row->consecutive_failures = here.failures;
        row->disabled_at = here.disabled_at;
        row->disabled_reason = std::move(here.disabled_reason);
    }
    return call.page(std::move(rows), in.paging, [](const Automation& last) {
        return std::vector{last.name};
    });
}

}  // namespace

Automation described(const Script& script) {
    Automation out;
    out.id = script.id;
    out.name = script.name;
    for (const Bind& bind : script.binds) out.binds.push_back({bind.when, bind.event});
    for (const NamedOperation& each : script.operations) out.operations.push_back(each.name);
    return out;
}

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
