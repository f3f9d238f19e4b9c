// Agents: making one, reading them.

#include "modules/agents/agents.hpp"
#include "modules/orgs/api/directory_writes.hpp"

#include "modules/auth/api.hpp"
#include "modules/orgs/api.hpp"

namespace svc::agents {

namespace {

constexpr EventKind agent_created{
    .name = "agent.created",
    .object = "agent",
    .summary = "An agent was created.",
    .record = &record_of<AgentResponse>,
    .said_audience = Audience::everyone,
};

constexpr Sql insert_agent{"agents.insert_agent", R"(
    WITH counted AS (
        INSERT INTO agent_usage (org_id, agent_id, day, minute)
        VALUES ($1, $2, (now() AT TIME ZONE 'UTC')::date, date_trunc('minute', now()))
    )
    INSERT INTO agents (
        org_id, id, description, role, owner_user_id, requests_per_minute, requests_per_day,
        daily_writes, created_by, last_edited_by, status, disabled_at, disabled_by, max_leases)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10,
        CASE WHEN $10 = 'disabled' THEN now() END, CASE WHEN $10 = 'disabled' THEN $9::uuid END,
        $11)
    RETURNING created_time,
        date_trunc('day', now(), 'UTC') + interval '1 day' AS resets_at,
        NOT EXISTS (SELECT FROM agents o WHERE o.org_id = $1 AND o.id < $2) AS is_free)"};

constexpr Sql some_agents{"agents.list_agents", R"(
    SELECT * FROM agent_view
    WHERE org_id = $1
      AND ($2::text IS NULL OR status = $2)
      AND ($3::uuid IS NULL OR id < $3)
    ORDER BY id DESC
    LIMIT $4)"};

}  // namespace

AgentResponse draft(Call& call, const std::string& name, TokenRole role) {
    AgentResponse agent;
    agent.id = new_uuid();
    agent.org_id = call.org();
    agent.name = name;
    agent.role = role;
    agent.owner_user_id = *call.caller().user_id;
    agent.created_by = agent.last_edited_by = ref_of(call.caller());
    return agent;
}

DeferredRows<Born> insert(Call& call, const AgentResponse& agent) {
    orgs::add_principal(
        call.tx(), agent.org_id, agent.id, PrincipalType::agent, {agent.name, agent.avatar_url}
    );
    return call.tx().later<Born>(
        insert_agent,
        agent.org_id,
        agent.id,
        agent.description,
        agent.role,
        agent.owner_user_id,
        agent.budgets.requests.requests_per_minute,
        agent.budgets.requests.requests_per_day,
        agent.budgets.requests.daily_writes,
        call.caller().id,
        agent.status,
        agent.budgets.max_leases
    );
}

void announce(Call& call, AgentResponse& agent, const Born& born) {
    agent.created_time = agent.last_edited_time = born.created_time;
    agent.usage.resets_at = born.resets_at;
    agent.is_free = born.is_free;
    if (agent.status == AgentStatus::disabled) {
        agent.disabled_at = born.created_time;
        agent.disabled_by = agent.created_by;
    }
    Event event = created(agent_created, agent);
    event.name = agent.name;
    call.check(event);
    call.emit(event);
}

Url picture_of(Call& call, const Uuid& file) {
    auto* pictures = call.kernel().find<auth::Pictures>();
    if (auto address = pictures ? pictures->address_of(call, file) : std::nullopt)
        return *std::move(address);
    throw wrong_field(call, "avatar_file_id", "you have uploaded no such picture");
}

namespace {

// --------------------------------------------------------------------------- create

struct CreateAgentRequest {
    std::string name;
    std::optional<Url> avatar_url;
    std::optional<Uuid> avatar_file_id;
    std::optional<std::string> description;
    TokenRole role = TokenRole::member;
    std::optional<AgentBudgets> budgets;
    AgentStatus status = AgentStatus::active;
};
SVC_RECORD(
    CreateAgentRequest,
    (name, "As people will see the agent.", length(1, 80), trimmed),
    (avatar_url, "A picture of it."),
    (avatar_file_id, "A picture of it that you have uploaded, in place of `avatar_url`."),
    (description, "What it does.", length(0, 1000)),
    (role,
     "The most that it may do; the role of whoever owns its token is a ceiling besides.",
     defaulted),
    (budgets, "How much it may do; left out: as much as it likes."),
    (status, "`disabled`: it is created, but cannot sign in yet.", defaulted)
);

AgentResponse create(Call& call, const CreateAgentRequest& in) {
    require_person(call.caller(), "brings agents into the workspace");
    AgentResponse agent = draft(call, in.name, in.role);
    agent.avatar_url = in.avatar_url;
    if (in.avatar_file_id) agent.avatar_url = picture_of(call, *in.avatar_file_id);
    agent.description = in.description;
    agent.status = in.status;
    if (in.budgets) agent.budgets = *in.budgets;
    auto born = insert(call, agent);
    announce(call, agent, born.one_or_retry());
    return agent;
}

const Operation create_agent{
    .name = "create_agent",
    .route = "POST /v1/agents",
    .summary = "Create an agent.",
    .description =
        "Makes a member that is a program: with a name, a role and a record of what it did of its "
        "own. It signs in with a token, which create_token makes. Agents make no agents.",
    .access = Access::admin,
    .status = 201,
    .for_people = true,
    .handler = create,
};

// ------------------------------------------------------------------------------ read

struct AgentsQuery {
    std::optional<AgentStatus> status;
    Paging paging;
};
SVC_RECORD(AgentsQuery, (status, "Only those with this status."), (paging, "", flatten));

Page<AgentResponse> list(Call& call, const AgentsQuery& in) {
    const auto after = call.after(in.paging);
    auto rows = call.tx().all<AgentResponse>(
        some_agents,
        call.org(),
        in.status,
        after ? std::optional(after->front()) : std::nullopt,
        in.paging.page_size + 1
    );
    return call.page(std::move(rows), in.paging, [](const AgentResponse& last) {
        return std::vector{last.id.str()};
    });
}

const Operation list_agents{
    .name = "list_agents",
    .route = "GET /v1/agents",
    .summary = "List the workspace's agents, newest first.",
    .access = Access::member,
    .handler = list,
};

AgentResponse get(Call& call, const AgentId& in) {
    auto agent = call.tx().one<AgentResponse>(find_agent, call.org(), in.agent_id);
    if (!agent) not_found("agent");
    return *std::move(agent);
}

const Operation get_agent{
    .name = "get_agent",
    .route = "GET /v1/agents/{agent_id}",
    .summary = "Read an agent: its role, its budgets and what it has used of them today.",
    .access = Access::member,
    .handler = get,
};

}  // namespace

void add_agent_operations(Kernel& kernel) {
    kernel.add(agent_created);
    kernel.add(list_agents);
    kernel.add(create_agent);
    kernel.add(get_agent);
}

}  // namespace svc::agents
