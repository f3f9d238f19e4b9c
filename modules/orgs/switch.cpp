// Moving a browser session to another workspace.

#include "modules/orgs/seats.hpp"

namespace svc::orgs {

namespace {

constexpr EventKind org_entered{
    .name = "organization.entered",
    .object = "organization",
    .summary = "A member's browser session works in the workspace from here on.",
};

OrganizationResponse enter(Call& call, const OrgId& in) {
    const Caller& caller = call.caller();
    require_here(call, in.org_id);
    auto org = call.tx().one<OrganizationResponse>(
        find_org, in.org_id, caller.user_id, call.use<Settings>().free_seats
    );
    if (!org) not_found("workspace");
    narrow(caller, *org);
    auto* sessions = call.kernel().find<ActiveWorkspace>();
    if (sessions && caller.session_id) {
        sessions->enter(call, in.org_id, org->role);
        call.emit({.kind = &org_entered, .id = org->id, .version = org->version, .name = org->name}
        );
    }
    return *std::move(org);
}

const Operation switch_org{
    .name = "switch_org",
    .route = "POST /v1/orgs/{org_id}:switch",
    .summary = "Switch your browser session to another workspace.",
    .description =
        "From here on requests of the session that name no workspace mean this one, and the "
        "session cookie is reissued with your role in it. A token works in one workspace only; "
        "for it nothing changes, and no cookie is set.",
    .access = Access::member,
    .for_people = true,
    .idempotent = true,
    .when_past_due = true,
    .handler = enter,
};

}  // namespace

void add_switch_operation(Kernel& kernel) { kernel.add(switch_org); }

}  // namespace svc::orgs
