// What an agent has done, out of the audit record.

#include "modules/agents/agents.hpp"

namespace svc::agents {

namespace {

/// The record is read backwards, so many entries at most for one page: an agent that has not
/// worked for long must not cost a walk through everything. `sequence` has no gaps, so the span
/// that was read is known whatever was found in it.
constexpr std::int64_t span = 5000;

constexpr Sql some_activity{"agents.list_activity", R"(
    SELECT x.id, x.sequence, x.action, x.outcome, x.occurred_at, x.request_id,
        x.via, CASE WHEN $5 THEN x.actor_token_id END AS token_id,
        CASE WHEN $5 AND x.target_id IS NOT NULL THEN
            json_build_object('type', x.target_type, 'id', x.target_id, 'name', x.target_name)
        END AS target
    FROM audit_events x
    WHERE x.org_id = $1
      AND x.sequence < (SELECT coalesce($3, (
          SELECT h.audit_sequence + 1 FROM event_heads h WHERE h.org_id = $1)))
      AND x.sequence >= (SELECT coalesce($3, (
          SELECT h.audit_sequence + 1 FROM event_heads h WHERE h.org_id = $1)) - $6)
      AND x.actor_id = $2
    ORDER BY x.sequence DESC
    LIMIT $4)"};

// Agents that have left are known by their name.
constexpr Sql find_start{"agents.activity_start", R"(
    SELECT coalesce($3, (
        SELECT h.audit_sequence + 1 FROM event_heads h WHERE h.org_id = $1), 1) AS sequence
    FROM principals p
    WHERE p.org_id = $1 AND p.id = $2 AND p.type = 'agent')"};

enum class ActivityOutcome { success, denied };
BOOST_DESCRIBE_ENUM(ActivityOutcome, success, denied)

struct ActivityTarget {
    std::string type;
    Uuid id;
    std::optional<std::string> name;
};
SVC_RECORD(
    ActivityTarget,
    (type, "What sort of thing it is."),
    (id, "Which one."),
    (name, "As people called it then; null when it had no name.")
);

struct AgentActivity {
    Object<"agent_activity"> object;
    Uuid id;
    std::int64_t sequence = 0;
    std::string action;
    ActivityOutcome outcome{};
    std::optional<ActivityTarget> target;
    Surface via{};
    std::optional<Uuid> token_id;
    Timestamp occurred_at;
    std::optional<std::string> request_id;
};
SVC_RECORD(
    AgentActivity,
    (object, "Always \"agent_activity\"."),
    (id, "The entry's id; its event has the same."),
    (sequence, "Its place in the workspace's audit record."),
    (action, "The operation that did it."),
    (outcome, "`denied`: it was refused."),
    (target,
     "What it was about; null when it was about nothing in particular. Shown to admins and to the "
     "agent itself."),
    (via, "The surface it came in by."),
    (token_id, "The token that the agent did it with; shown to admins and to the agent itself."),
    (occurred_at, "When, by the database's clock."),
    (request_id, "The request's id, as in its answer's header.")
);

struct ActivityQuery {
    Uuid agent_id;
    Paging paging;
};
SVC_RECORD(
    ActivityQuery,
    (agent_id, "An agent of the workspace, or one that has left it."),
    (paging, "", flatten)
);

struct Start {
    std::int64_t sequence = 0;
};
SVC_RECORD(Start, (sequence));

/// What it was about may stand on boards that others do not see.
bool sees_all(const Caller& caller, const Uuid& agent) {
    return caller.role >= OrgRole::admin || caller.id == agent;
}

Page<AgentActivity> list(Call& call, const ActivityQuery& in) {
    Tx& tx = call.tx();
    const auto after = call.after(in.paging);
    const std::optional<std::int64_t> from =
        after ? std::optional(std::stoll(after->front())) : std::nullopt;
    auto starting = tx.later<Start>(find_start, call.org(), in.agent_id, from);
    auto rows = tx.all<AgentActivity>(
        some_activity,
        call.org(),
        in.agent_id,
        from,
        in.paging.page_size + 1,
        sees_all(call.caller(), in.agent_id),
        span
    );
    const auto start = starting.one();
    if (!start) not_found("agent");
    auto page = call.page(std::move(rows), in.paging, [](const AgentActivity& last) {
        return std::vector{std::to_string(last.sequence)};
    });
    if (!page.next_cursor && start->sequence - span > 1)
        page.next_cursor = call.cursor({std::to_string(start->sequence - span)});
    return page;
}

const Operation list_agent_activity{
    .name = "list_agent_activity",
    .route = "GET /v1/agents/{agent_id}/activity",
    .summary = "List what an agent has done and what it was refused, newest first.",
    .description =
        "Each page looks through 5,000 entries of the workspace's record at most, so a page may "
        "hold few or none and still have a `next_cursor`.",
    .access = Access::member,
    .handler = list,
};

}  // namespace

void add_agent_activity(Kernel& kernel) { kernel.add(list_agent_activity); }

}  // namespace svc::agents
