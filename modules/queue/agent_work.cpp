// How an agent's latest attempts ended, and what they cost.

#include "modules/queue/api.hpp"
#include "modules/queue/operations.hpp"
#include "svc/tx.hpp"

namespace svc::queue {

namespace {

struct AgentToSumUp {
    Uuid agent_id;
};
SVC_RECORD(AgentToSumUp, (agent_id, "An agent of the workspace."));

struct WorkCost {
    std::optional<std::string> currency;
    double amount = 0;
};
SVC_RECORD(
    WorkCost,
    (currency, "The currency, such as `USD`; null where the agent named none."),
    (amount, "The sum of what the agent said.")
);

struct AgentWork {
    Object<"agent_work"> object;
    Uuid agent_id;
    std::optional<Timestamp> since;
    std::int64_t completed = 0;
    std::int64_t failed = 0;
    std::int64_t expired = 0;
    std::int64_t released = 0;
    std::int64_t revoked = 0;
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
    std::vector<WorkCost> costs;
};
SVC_RECORD(
    AgentWork,
    (object),
    (agent_id, "Whose work it is."),
    (since, "When the first of the attempts was claimed; null without any."),
    (completed, "Attempts that were completed."),
    (failed, "Attempts that failed."),
    (expired, "Attempts in which the agent was not heard of in time."),
    (released, "Attempts that the agent gave back."),
    (revoked, "Attempts that ended by a person, or with the agent's right."),
    (input_tokens, "Tokens that language models read, as the agent said."),
    (output_tokens, "Tokens that they wrote."),
    (costs, "Money, a sum for each currency.")
);

struct Exists {
    Uuid id;
};
SVC_RECORD(Exists, (id));

constexpr Sql find_agent{"queue.find_agent", R"(
    SELECT a.id FROM agents a WHERE a.org_id = $1 AND a.id = $2)"};

struct Part {
    LeaseState state{};
    std::optional<std::string> currency;
    std::int64_t attempts = 0;
    Timestamp since;
    double amount = 0;
    bool costs_money = false;
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
};
SVC_RECORD(
    Part,
    (state),
    (currency),
    (attempts),
    (since),
    (amount),
    (costs_money),
    (input_tokens),
    (output_tokens)
);

// The newest of the workspace, by their ids: an index by holder would be written by every ending.
// What an agent says of money is any number; a sum of bounded ones is a number, too.
constexpr Sql sum_up{"queue.get_agent_work", R"(
    SELECT p.state, p.currency, count(*) AS attempts, min(p.claimed_at) AS since,
        coalesce(sum(p.amount), 0)::double precision AS amount,
        count(p.amount) > 0 AS costs_money,
        coalesce(sum(p.input_tokens), 0)::bigint AS input_tokens,
        coalesce(sum(p.output_tokens), 0)::bigint AS output_tokens
    FROM (
        SELECT o.state, o.claimed_at, o.cost ->> 'currency' AS currency,
            CASE WHEN o.cost ->> 'amount' IS NOT NULL
                THEN least(greatest((o.cost ->> 'amount')::numeric, -1e15), 1e15) END AS amount,
            (o.cost ->> 'input_tokens')::bigint AS input_tokens,
            (o.cost ->> 'output_tokens')::bigint AS output_tokens
        FROM (
            SELECT e.state, e.claimed_at, e.cost, e.holder_id
            FROM lease_outcomes e
            WHERE e.org_id = $1
            ORDER BY e.lease_id DESC
            LIMIT 10000
        ) o
        WHERE o.holder_id = $2
    ) p
    GROUP BY p.state, p.currency
    ORDER BY p.state, p.currency NULLS LAST
    LIMIT 1000)"};

std::int64_t& count_of(AgentWork& work, LeaseState state) {
    switch (state) {
        case LeaseState::completed: return work.completed;
        case LeaseState::failed: return work.failed;
        case LeaseState::expired: return work.expired;
        case LeaseState::released: return work.released;
        default: return work.revoked;
    }
}

void add_cost(std::vector<WorkCost>& costs, const Part& part) {
    if (!part.costs_money) return;
    const auto same = std::ranges::find(costs, part.currency, &WorkCost::currency);
    if (same == costs.end()) costs.push_back({part.currency, part.amount});
    else same->amount += part.amount;
}

AgentWork get(Call& call, const AgentToSumUp& in) {
    auto agent = call.tx().later<Exists>(find_agent, call.org(), in.agent_id);
    auto parts = call.tx().later<Part>(sum_up, call.org(), in.agent_id);
    if (!agent.one()) not_found("agent");
    AgentWork work;
    work.agent_id = in.agent_id;
    for (const Part& part : parts.all()) {
        count_of(work, part.state) += part.attempts;
        work.since = work.since ? std::min(*work.since, part.since) : part.since;
        work.input_tokens += part.input_tokens;
        work.output_tokens += part.output_tokens;
        add_cost(work.costs, part);
    }
    return work;
}

}  // namespace

const Operation get_agent_work{
    .name = "get_agent_work",
    .route = "GET /v1/agents/{agent_id}/work",
    .summary = "Sum up how an agent's latest attempts at cards ended, and what they cost.",
    .description = "The workspace's last 10,000 attempts are looked at.",
    .access = Access::admin,
    .tool = false,
    .handler = get,
};

}  // namespace svc::queue
