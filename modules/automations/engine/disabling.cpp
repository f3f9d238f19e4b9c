#include "modules/automations/engine/disabling.hpp"

#include "modules/lib/printable/printable.hpp"

#include <cstdio>

namespace svc::automations {

const EventKind automation_disabled{
    .name = "automation.disabled",
    .object = "automation",
    .summary =
        "An automation was disabled in the workspace, because its runs failed one after the other.",
    .record = &record_of<Automation>,
    .vetoable = false,
};
const EventKind automation_enabled{
    .name = "automation.enabled",
    .object = "automation",
    .summary = "The operator has an automation run again that was disabled.",
};

namespace {

constexpr std::size_t longest_reason = 1'000;  // bytes
constexpr std::int64_t most_listed = 500;

constexpr Sql drop_state{"automations.drop_state", R"(
    DELETE FROM automation_states
    WHERE org_id = $1 AND automation_id = $2 AND (disabled_at IS NULL OR digest <> $3))"};

// Its row is locked from here on.
constexpr Sql count_failure{"automations.count_failure", R"(
    INSERT INTO automation_states AS s (org_id, automation_id, script, digest, failures)
    VALUES ($1, $2, $3, $4, 1)
    ON CONFLICT (org_id, automation_id) DO UPDATE
    SET failures = CASE WHEN s.digest = excluded.digest THEN s.failures + 1 ELSE 1 END,
        disabled_at = CASE WHEN s.digest = excluded.digest THEN s.disabled_at END,
        disabled_reason = CASE WHEN s.digest = excluded.digest THEN s.disabled_reason END,
        digest = excluded.digest
    RETURNING s.failures, s.disabled_at IS NOT NULL AS is_disabled, now() AS now)"};

constexpr Sql write_disabled{"automations.write_disabled", R"(
    UPDATE automation_states SET disabled_at = $3, disabled_reason = $4
    WHERE org_id = $1 AND automation_id = $2)"};

struct Failures {
    std::int64_t failures = 0;
    bool is_disabled = false;
    Timestamp now;
};
SVC_RECORD(Failures, (failures), (is_disabled), (now));

/// What changes when it is disabled.
struct Disabled {
    std::int64_t consecutive_failures = 0;
    Timestamp disabled_at;
    std::string disabled_reason;
};
SVC_RECORD(Disabled, (consecutive_failures), (disabled_at), (disabled_reason));

std::string reason_of(std::int64_t failures, std::string error) {
    if (error.size() > longest_reason) {
        std::size_t size = longest_reason;
        while (size > 0 && (static_cast<unsigned char>(error[size]) & 0xC0) == 0x80) --size;
        error.resize(size);
    }
    const std::string runs =
        failures == 1 ? "A run in this workspace failed"
                      : std::to_string(failures) +
                            " runs in this workspace failed one after the other, the last";
    return runs + " with: " + error;
}

void emit_disabled(Tx& tx, const RunKey& key, const AutomationRun& last, const Disabled& how) {
    Automation automation = described(key.script);
    automation.last_run_at = last.created_time;
    automation.last_status = last.status;
    automation.consecutive_failures = how.consecutive_failures;
    automation.disabled_at = how.disabled_at;
    automation.disabled_reason = how.disabled_reason;
    Event event;
    event.kind = &automation_disabled;
    event.id = key.script.id;
    event.version = 1;
    event.name = key.script.name;
    event.changes = to_json(how);
    event.subject = to_json(automation);
    emit_as_system(
        tx,
        key.org_id,
        "disable_automation",
        event,
        EventCause{key.event_id.value(), key.script.id, key.depth + 1}
    );
}

}  // namespace

void note_success(Tx& tx, const RunKey& key) {
    tx.queue(drop_state, key.org_id, key.script.id, key.script.digest);
}

void note_failure(Tx& tx, const RunKey& key, const AutomationRun& last, std::int64_t most) {
    const Script& script = key.script;
    const auto counted =
        tx.one<Failures>(count_failure, key.org_id, script.id, script.name, script.digest);
    if (!counted || counted->is_disabled || most == 0 || counted->failures < most) return;
    const Disabled how{
        counted->failures,
        counted->now,
        reason_of(counted->failures, last.error.value_or("no error"))
    };
    tx.queue(write_disabled, key.org_id, script.id, how.disabled_at, how.disabled_reason);
    emit_disabled(tx, key, last, how);
}

// -------------------------------------------------------------------------------- the command

namespace {

constexpr Sql list_disabled{"automations.list_disabled", R"(
    SELECT s.org_id, s.automation_id, s.script, o.slug, s.disabled_at, s.disabled_reason
    FROM automation_states s
    JOIN orgs o ON o.id = s.org_id AND o.deleted_at IS NULL
    WHERE s.org_id IS NOT NULL AND s.disabled_at IS NOT NULL
    ORDER BY s.org_id, s.automation_id
    LIMIT $1)"};

constexpr Sql enable_one{"automations.enable", R"(
    DELETE FROM automation_states
    WHERE org_id = (SELECT o.id FROM orgs o
        WHERE (o.id = $3::uuid OR ($3::uuid IS NULL AND o.slug = $2)) AND o.deleted_at IS NULL)
      AND automation_id = $1 AND disabled_at IS NOT NULL
    RETURNING org_id)"};

struct DisabledRow {
    Uuid org_id, automation_id;
    std::string script, slug;
    Timestamp disabled_at;
    std::string disabled_reason;
};
SVC_RECORD(
    DisabledRow, (org_id), (automation_id), (script), (slug), (disabled_at), (disabled_reason)
);

struct OrgRow {
    Uuid org_id;
};
SVC_RECORD(OrgRow, (org_id));

constexpr const char* usage =
    "usage: workboard automations list\n"
    "       workboard automations enable <script> <slug or id of the workspace>\n";

int list(Kernel& kernel) {
    std::vector<DisabledRow> rows;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        rows = tx.all<DisabledRow>(list_disabled, most_listed);
    });
    for (const DisabledRow& each : rows)
        std::printf(
            "%s  %s  %s  %s\n",
            each.disabled_at.str().c_str(),
            each.slug.c_str(),
            each.script.c_str(),
            on_one_line(each.disabled_reason, longest_reason).c_str()
        );
    return 0;
}

int enable(Kernel& kernel, const std::string& script, const std::string& org) {
    std::optional<OrgRow> done;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        const Uuid id = script_id(script);
        done = tx.one<OrgRow>(enable_one, id, org, Uuid::parse(org));
        if (!done) return;
        Event event{.kind = &automation_enabled, .id = id, .version = 1};
        event.name = script;
        emit_as_system(tx, done->org_id, "workboard automations enable", event);
    });
    if (!done)
        throw std::runtime_error("no script " + script + " is disabled in a workspace " + org);
    std::printf("%s runs again in %s\n", script.c_str(), org.c_str());
    return 0;
}

int run(Kernel& kernel, std::span<const std::string> words) {
    if (words.size() == 1 && words[0] == "list") return list(kernel);
    if (words.size() == 3 && words[0] == "enable") return enable(kernel, words[1], words[2]);
    std::fputs(usage, stderr);
    return 2;
}

}  // namespace

Command automations_command(Kernel& kernel) {
    return {
        .name = "automations",
        .summary = "list scripts that are disabled because they failed, have one run again",
        .run = [&kernel](std::span<const std::string> words) { return run(kernel, words); },
        .looks = {"list"},
    };
}

}  // namespace svc::automations
