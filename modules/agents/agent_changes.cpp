// What happens to an agent: changes, the kill switch, its end.

#include "modules/agents/agents.hpp"
#include "modules/agents/writes.hpp"
#include "modules/orgs/api.hpp"
#include "modules/orgs/api/directory_writes.hpp"

namespace svc::agents {

namespace {

constexpr EventKind agent_updated{
    .name = "agent.updated",
    .object = "agent",
    .summary = "An agent's name, role or budget was changed.",
    .record = &record_of<AgentResponse>,
    .said_audience = Audience::everyone,
};
constexpr EventKind agent_disabled{
    .name = "agent.disabled",
    .object = "agent",
    .summary = "An agent was disabled: its tokens are refused, its streams closed.",
    .record = &record_of<AgentResponse>,
    .vetoable = false,
    .said_audience = Audience::everyone,
};
constexpr EventKind agent_enabled{
    .name = "agent.enabled",
    .object = "agent",
    .summary = "An agent was re-enabled.",
    .record = &record_of<AgentResponse>,
    .said_audience = Audience::everyone,
};
constexpr EventKind agent_deleted{
    .name = "agent.deleted",
    .object = "agent",
    .summary = "An agent was deleted; what it did keeps its name.",
    .record = &record_of<AgentResponse>,
    .vetoable = false,
    .said_audience = Audience::everyone,
};

constexpr Sql lock_agent{"agents.lock_agent", R"(
    SELECT now() AS now FROM agents WHERE org_id = $1 AND id = $2 FOR UPDATE)"};

constexpr Sql write_agent{"agents.update_agent", R"(
    UPDATE agents
    SET description = $3, role = $4, status = $5, disabled_at = $6, disabled_by = $7,
        disabled_reason = $8, requests_per_minute = $9, requests_per_day = $10,
        daily_writes = $11,
        max_leases = $13,
        last_edited_time = now(), last_edited_by = $12, version = version + 1
    WHERE org_id = $1 AND id = $2)"};

constexpr Sql drop_agent{"agents.delete_agent", R"(
    DELETE FROM agents WHERE org_id = $1 AND id = $2)"};

struct LockedAgent {
    Timestamp now;
};
SVC_RECORD(LockedAgent, (now));

void store(Tx& tx, const AgentResponse& agent) {
    orgs::update_principal(tx, agent.org_id, agent.id, {agent.name, agent.avatar_url});
    tx.queue(
        write_agent,
        agent.org_id,
        agent.id,
        agent.description,
        agent.role,
        agent.status,
        agent.disabled_at,
        agent.disabled_by ? std::optional(agent.disabled_by->id) : std::nullopt,
        agent.disabled_reason,
        agent.budgets.requests.requests_per_minute,
        agent.budgets.requests.requests_per_day,
        agent.budgets.requests.daily_writes,
        agent.last_edited_by.id,
        agent.budgets.max_leases
    );
}

/// An agent that is to be changed, locked. Nothing that it began before is under way any more when
/// the change is answered.
class Change {
public:
    Change(Call& call, const Uuid& id) : call_(call) {
        Tx& tx = call.tx();
        auto locked = tx.later<LockedAgent>(lock_agent, call.org(), id);
        auto found = tx.later<AgentResponse>(find_agent, call.org(), id);
        const auto lock = locked.one();
        auto agent = found.one();
        if (!lock || !agent) not_found("agent");
        await_writes_after(call, id);
        call.require_version(agent->version);
        now_ = lock->now;
        before_ = *std::move(agent);
        after = before_;
    }

    void set_status(AgentStatus status, const std::optional<std::string>& reason) {
        if (after.status == status) return;
        const bool off = status == AgentStatus::disabled;
        after.status = status;
        after.disabled_at = off ? std::optional(now_) : std::nullopt;
        after.disabled_by = off ? std::optional(ref_of(call_.caller())) : std::nullopt;
        after.disabled_reason = off ? reason : std::nullopt;
    }

    /// Stores what was changed, if anything was, and emits it.
    AgentResponse finish() {
        if (to_json(after) == to_json(before_)) return after;
        emit(kind(), [&](Tx& tx) { store(tx, after); });
        return after;
    }
    void finish_by_deleting() {
        emit(agent_deleted, [&](Tx& tx) {
            orgs::retire_principal(tx, after.org_id, after.id);
            tx.queue(drop_agent, after.org_id, after.id);
        });
    }

    AgentResponse after;

private:
    const EventKind& kind() const {
        if (after.status == before_.status) return agent_updated;
        return after.status == AgentStatus::disabled ? agent_disabled : agent_enabled;
    }
    template <class Write>
    void emit(const EventKind& kind, Write write) {
        after.last_edited_time = now_;
        after.last_edited_by = ref_of(call_.caller());
        after.version += 1;
        Event event = changed(kind, before_, after);
        event.name = after.name;
        call_.check(event);
        write(call_.tx());
        call_.emit(event);
        call_.use<orgs::Directory>().bump_security_epoch(call_.tx(), after.org_id);
    }

    Call& call_;
    Timestamp now_;
    AgentResponse before_;
};

// --------------------------------------------------------------------------- update

struct BudgetsChange {
    Patch<std::optional<std::int64_t>> requests_per_minute;
    Patch<std::optional<std::int64_t>> requests_per_day;
    Patch<std::optional<std::int64_t>> daily_writes;
    Patch<std::optional<std::int64_t>> max_leases;
};
SVC_RECORD(
    BudgetsChange,
    (requests_per_minute, "Requests a minute; null: no limit.", range(0, most_budget)),
    (requests_per_day, "Requests a day; null: no limit.", range(0, most_budget)),
    (daily_writes, "Writes a day; null: no limit.", range(0, most_budget)),
    (max_leases, "Cards that it may have leased at a time; null: no limit.", range(0, most_leases))
);

struct UpdateAgentRequest {
    Uuid agent_id;
    Patch<std::string> name;
    Patch<std::optional<Url>> avatar_url;
    Patch<std::optional<Uuid>> avatar_file_id;
    Patch<std::optional<std::string>> description;
    Patch<TokenRole> role;
    Patch<BudgetsChange> budgets;
    Patch<AgentStatus> status;
};
SVC_RECORD(
    UpdateAgentRequest,
    (agent_id, "An agent of the workspace."),
    (name, "As people will see it.", length(1, 80), trimmed),
    (avatar_url, "A picture; null removes it."),
    (avatar_file_id,
     "A picture that you have uploaded, in place of `avatar_url`; null removes it."),
    (description, "What it does; null removes it.", length(0, 1000)),
    (role, "The most that it may do."),
    (budgets, "How much it may do; those left out stay as they are."),
    (status, "`disabled` disables it at once, as disable_agent does; `active` enables it.")
);

/// What may give an agent more than it has.
bool may_widen(const UpdateAgentRequest& in) {
    return in.role.given() || in.budgets.given() ||
           (in.status.given() && in.status.value() == AgentStatus::active);
}

AgentResponse update(Call& call, const UpdateAgentRequest& in) {
    if (may_widen(in)) require_person(call.caller(), "changes what an agent may do or enables it");
    Change change(call, in.agent_id);
    AgentResponse& agent = change.after;
    in.name.apply_to(agent.name);
    in.avatar_url.apply_to(agent.avatar_url);
    if (in.avatar_file_id.given()) {
        const auto& file = in.avatar_file_id.value();
        agent.avatar_url = file ? std::optional(picture_of(call, *file)) : std::nullopt;
    }
    in.description.apply_to(agent.description);
    in.role.apply_to(agent.role);
    if (in.budgets.given()) {
        const BudgetsChange& budgets = in.budgets.value();
        budgets.requests_per_minute.apply_to(agent.budgets.requests.requests_per_minute);
        budgets.requests_per_day.apply_to(agent.budgets.requests.requests_per_day);
        budgets.daily_writes.apply_to(agent.budgets.requests.daily_writes);
        budgets.max_leases.apply_to(agent.budgets.max_leases);
    }
    if (in.status.given()) change.set_status(in.status.value(), std::nullopt);
    return change.finish();
}

const Operation update_agent{
    .name = "update_agent",
    .route = "PATCH /v1/agents/{agent_id}",
    .summary = "Change an agent: its name, role, budgets or status.",
    .description =
        "Changes only the fields that are sent; null clears. A lower role and a smaller budget "
        "count from the agent's next request on. Agents change neither role nor budgets, and "
        "cannot enable agents.",
    .access = Access::admin,
    .idempotent = true,
    .versioned = true,
    .handler = update,
};

// ---------------------------------------------------------------------- the kill switch

struct DisableAgentRequest {
    Uuid agent_id;
    std::optional<std::string> reason;
};
SVC_RECORD(
    DisableAgentRequest,
    (agent_id, "An agent of the workspace."),
    (reason, "Why, for whoever finds it switched off.", length(0, 500))
);

AgentResponse disable(Call& call, const DisableAgentRequest& in) {
    Change change(call, in.agent_id);
    change.set_status(AgentStatus::disabled, in.reason);
    return change.finish();
}

const Operation disable_agent{
    .name = "disable_agent",
    .route = "POST /v1/agents/{agent_id}:disable",
    .summary = "Disable an agent at once (kill switch): its tokens are refused.",
    .description =
        "Once this is answered nothing more that the agent does takes effect, on any server: its "
        "requests get 401, what it was writing is finished or undone before, the leases that it "
        "holds are over, and its open streams are closed. Its tokens stay; enable_agent enables it "
        "again.",
    .access = Access::admin,
    .destructive = true,
    .idempotent = true,
    .versioned = true,
    .handler = disable,
};

AgentResponse enable(Call& call, const AgentId& in) {
    require_person(call.caller(), "enables an agent");
    Change change(call, in.agent_id);
    change.set_status(AgentStatus::active, std::nullopt);
    return change.finish();
}

const Operation enable_agent{
    .name = "enable_agent",
    .route = "POST /v1/agents/{agent_id}:enable",
    .summary = "Re-enable a disabled agent, with the tokens it has. Requires a person.",
    .access = Access::admin,
    .for_people = true,
    .idempotent = true,
    .versioned = true,
    .handler = enable,
};

void remove(Call& call, const AgentId& in) { Change(call, in.agent_id).finish_by_deleting(); }

const Operation delete_agent{
    .name = "delete_agent",
    .route = "DELETE /v1/agents/{agent_id}",
    .summary = "Remove an agent and its tokens; what it did keeps its name.",
    .description =
        "The leases that it holds are over, and their cards ready for others. Cards, leases and "
        "the "
        "audit record name it as before.",
    .access = Access::admin,
    .status = 204,
    .destructive = true,
    .idempotent = true,
    .versioned = true,
    .handler = remove,
};

}  // namespace

void add_agent_changes(Kernel& kernel) {
    for (const EventKind* each : {&agent_updated, &agent_disabled, &agent_enabled, &agent_deleted})
        kernel.add(*each);
    for (const Operation* each : {&update_agent, &delete_agent, &disable_agent, &enable_agent})
        kernel.add(*each);
}

}  // namespace svc::agents
