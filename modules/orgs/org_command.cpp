// `workboard org …`: what an operator says of a workspace's plan and bill.

#include "modules/orgs/orgs.hpp"

#include <algorithm>
#include <cstdio>

namespace svc::orgs {

namespace {

struct OrganizationBilling {
    Object<"organization"> object;
    Uuid id;
    std::string name;
    std::string slug;
    Plan plan{};
    BillingState billing_state{};
    std::int64_t version = 1;
};
SVC_RECORD(
    OrganizationBilling,
    (object, "Always \"organization\"."),
    (id, "The workspace."),
    (name, "As people call it."),
    (slug, "Its short name."),
    (plan, "The plan it is subscribed to."),
    (billing_state, "In `past_due` nothing in the workspace can be changed."),
    (version, "Rises by one with every change.")
);

}  // namespace

const EventKind org_billing_changed{
    .name = "org.billing_changed",
    .object = "organization",
    .summary = "The operator has set the workspace's plan or the state of its bill.",
    .record = &record_of<OrganizationBilling>,
    .vetoable = false,
};

namespace {

// What looks like an id is one, and never also the slug of another workspace.
constexpr Sql find_named{"orgs.find_named", R"(
    SELECT id, name, slug, plan, billing_state, version
    FROM orgs
    WHERE (id = $2::uuid OR ($2::uuid IS NULL AND slug = $1)) AND deleted_at IS NULL
    FOR NO KEY UPDATE)"};

constexpr Sql all_orgs{"orgs.all", R"(
    SELECT id, name, slug, plan, billing_state, version
    FROM orgs
    WHERE deleted_at IS NULL
    ORDER BY slug)"};

constexpr Sql write_billing{"orgs.write_billing", R"(
    UPDATE orgs
    SET plan = $2, billing_state = $3,
        past_due_since = CASE WHEN $3 = 'past_due' THEN coalesce(past_due_since, now()) END,
        cancel_at = CASE WHEN $3 = 'canceled' THEN coalesce(cancel_at, now()) END,
        last_edited_time = now(), version = version + 1
    WHERE id = $1)"};

constexpr const char* usage =
    "usage: workboard org list\n"
    "       workboard org set-plan <slug or id> free|team|business\n"
    "       workboard org set-billing-state <slug or id> active|trialing|past_due|canceled\n";

std::string line_of(const OrganizationBilling& org) {
    std::string line = org.id.str() + "  " + org.slug + "  ";
    line += name_of(org.plan);
    return (line += "  ") += name_of(org.billing_state);
}

int list(Kernel& kernel) {
    std::vector<OrganizationBilling> orgs;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        orgs = tx.all<OrganizationBilling>(all_orgs);
    });
    for (const auto& each : orgs) std::puts(line_of(each).c_str());
    return 0;
}

/// Plan or state, whichever is given.
struct BillingChange {
    std::string action;
    std::string org;
    std::optional<Plan> plan;
    std::optional<BillingState> state;
};

std::optional<OrganizationBilling> change(Tx& tx, const BillingChange& change_to) {
    tx.set_scope_to_all_orgs();
    const auto before =
        tx.one<OrganizationBilling>(find_named, change_to.org, Uuid::parse(change_to.org));
    if (!before) return std::nullopt;
    OrganizationBilling after = *before;
    after.plan = change_to.plan.value_or(after.plan);
    after.billing_state = change_to.state.value_or(after.billing_state);
    if (after.plan == before->plan && after.billing_state == before->billing_state) return after;
    after.version += 1;
    tx.queue(write_billing, after.id, after.plan, after.billing_state);
    emit_as_system(tx, after.id, change_to.action, changed(org_billing_changed, *before, after));
    return after;
}

int set(Kernel& kernel, const BillingChange& change_to) {
    std::optional<OrganizationBilling> done;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) { done = change(tx, change_to); });
    if (!done) {
        std::fprintf(stderr, "workboard: there is no workspace %s\n", change_to.org.c_str());
        return 1;
    }
    std::puts(line_of(*done).c_str());
    return 0;
}

int run(Kernel& kernel, std::span<const std::string> words) {
    if (words.size() == 1 && words[0] == "list") return list(kernel);
    if (words.size() == 3 && words[0] == "set-plan")
        if (const auto plan = enumerator_of<Plan>(words[2]))
            return set(kernel, {"org set-plan", words[1], plan, std::nullopt});
    if (words.size() == 3 && words[0] == "set-billing-state")
        if (const auto state = enumerator_of<BillingState>(words[2]))
            return set(kernel, {"org set-billing-state", words[1], std::nullopt, state});
    std::fputs(usage, stderr);
    return 2;
}

}  // namespace

Command org_command(Kernel& kernel) {
    return {
        .name = "org",
        .summary = "list workspaces, set their plan or the state of their bill",
        .run = [&kernel](std::span<const std::string> words) { return run(kernel, words); },
        .looks = {"list"},
    };
}

}  // namespace svc::orgs
