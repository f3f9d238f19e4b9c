// What a workspace is subscribed to, for those who look after it. Operators set it.

#include "modules/orgs/seats.hpp"

namespace svc::orgs {

namespace {

constexpr std::int64_t free_agents = 1;  // on every plan

struct BillingResponse {
    Object<"billing"> object;
    Uuid org_id;
    Plan plan{};
    BillingState billing_state{};
    std::optional<std::int64_t> seat_cap;
    std::int64_t seat_count = 0;
    std::int64_t agent_count = 0;
    std::int64_t free_agent_count = free_agents;
    std::int64_t billable_agent_count = 0;
    std::optional<Timestamp> current_period_start;
    std::optional<Timestamp> current_period_end;
    std::optional<Timestamp> cancel_at;
    std::optional<Timestamp> past_due_since;
    std::optional<Url> portal_url;
};
SVC_RECORD(
    BillingResponse,
    (object, "Always \"billing\"."),
    (org_id, "The workspace."),
    (plan, "The plan it is subscribed to."),
    (billing_state, "In `past_due` nothing in the workspace can be changed."),
    (seat_cap, "How many people the plan has room for; null when there is no limit."),
    (seat_count, "How many people are in it."),
    (agent_count, "How many agents are in it."),
    (free_agent_count, "How many of them cost nothing, on every plan."),
    (billable_agent_count, "How many of them are billed."),
    (current_period_start, "When the period that is being billed began; null when none is."),
    (current_period_end, "When it ends; null when none is billed."),
    (cancel_at, "When the subscription was or will be canceled; null when it goes on."),
    (past_due_since, "Since when a payment is missing; null when none is."),
    (portal_url, "Where owners manage billing; null when that is done elsewhere.")
);

// No period is billed: the operator keeps the books.
constexpr Sql find_billing{"orgs.find_billing", R"(
    SELECT o.id AS org_id, o.plan, o.billing_state,
        CASE WHEN o.plan = 'free' THEN $2::bigint END AS seat_cap,
        (SELECT count(*) FROM memberships m WHERE m.org_id = o.id) AS seat_count,
        a.agents AS agent_count, $3::bigint AS free_agent_count,
        greatest(a.agents - $3::bigint, 0) AS billable_agent_count,
        NULL AS current_period_start, NULL AS current_period_end,
        o.cancel_at, o.past_due_since, nullif($4, '') AS portal_url
    FROM orgs o
    CROSS JOIN LATERAL (
        SELECT count(*) AS agents
        FROM principals p
        WHERE p.org_id = o.id AND p.type = 'agent' AND p.gone_at IS NULL
    ) a
    WHERE o.id = $1)"};

BillingResponse get(Call& call, const OrgId& in) {
    const auto& settings = call.use<Settings>();
    auto found = call.tx().one<BillingResponse>(
        find_billing,
        require_here(call, in.org_id),
        settings.free_seats,
        free_agents,
        settings.billing_portal
    );
    if (!found) not_found("workspace");
    return *std::move(found);
}

const Operation get_billing{
    .name = "get_billing",
    .route = "GET /v1/orgs/{org_id}/billing",
    .summary = "Read what a workspace is subscribed to and how much of it is used.",
    .access = Access::admin,
    .handler = get,
};

}  // namespace

void add_billing_operations(Kernel& kernel) {
    kernel.add(org_billing_changed);
    kernel.add(get_billing);
}

}  // namespace svc::orgs
