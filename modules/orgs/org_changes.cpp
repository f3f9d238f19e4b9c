// Workspaces: changing one, deleting one.

#include "modules/orgs/deletion.hpp"
#include "modules/orgs/lib/slug.hpp"
#include "modules/orgs/seats.hpp"
#include "svc/open_streams.hpp"

namespace svc::orgs {

namespace {

constexpr EventKind org_updated{
    .name = "org.updated",
    .object = "organization",
    .summary = "The workspace's name, slug or icon has changed.",
    .record = &record_of<OrganizationResponse>,
    .said_audience = Audience::everyone,
};
// For servers, who have streams to close: none of its people is left.
constexpr EventKind org_deleted{
    .name = "org.deleted",
    .object = "organization",
    .summary = "The workspace and everything in it was deleted.",
    .record = &record_of<OrganizationResponse>,
    .said_audience = Audience::everyone,
};

constexpr Sql write_org{"orgs.update_org", R"(
    UPDATE orgs
    SET name = $2, slug = $3, icon = $4, last_edited_by = $5, last_edited_time = now(),
        version = version + 1
    WHERE id = $1)"};

/// The workspace as the caller sees it, and the roster, under the lock.
struct LockedOrg {
    MembershipState membership_state;
    OrganizationResponse org;
};

LockedOrg lock(Call& call, const Uuid& id) {
    const Uuid& org = require_here(call, id);
    auto membership_state = lock_seats(call, org);
    auto found = call.tx().one<OrganizationResponse>(
        find_org, org, call.caller().user_id, call.use<Settings>().free_seats
    );
    if (!found) not_found("workspace");
    narrow(call.caller(), *found);
    return {membership_state.one_or_retry(), *std::move(found)};
}

// ---------------------------------------------------------------------------- update

struct UpdateOrganizationRequest {
    Uuid org_id;
    Patch<std::string> name;
    Patch<std::string> slug;
    Patch<std::optional<Icon>> icon;
};
SVC_RECORD(
    UpdateOrganizationRequest,
    (org_id, "A workspace that the caller looks after."),
    (name, "As people will call it.", length(1, 100), trimmed),
    (slug,
     "Its unique short name: small letters, digits and single dashes.",
     length(shortest_slug, longest_slug),
     matches(slug_pattern)),
    (icon, "Shown beside the name; null removes it.")
);

bool is_same(const OrganizationResponse& a, const OrganizationResponse& b) {
    return a.name == b.name && a.slug == b.slug && a.icon == b.icon;
}

void write(Call& call, const OrganizationResponse& before, const OrganizationResponse& after) {
    Tx& tx = call.tx();
    auto written =
        tx.queue(write_org, after.id, after.name, after.slug, after.icon, call.caller().id);
    if (after.slug == before.slug) return;
    try {
        written.affected();  // now, while it is known whose fault it would be
    } catch (const ConstraintError& taken) {
        if (taken.constraint() != "orgs_slug_taken") throw;
        throw Failure(Fault::conflict, "Another workspace has the slug " + after.slug + ".")
            .with("reason", "slug_taken");
    }
}

OrganizationResponse update(Call& call, const UpdateOrganizationRequest& in) {
    std::optional<Icon> icon;
    if (in.icon.given()) icon = icon_of(call, in.icon.value());
    const auto [membership_state, before] = lock(call, in.org_id);
    require_right_over(call.caller(), membership_state, OrgRole::member);
    call.require_version(before.version);
    OrganizationResponse after = before;
    in.name.apply_to(after.name);
    in.slug.apply_to(after.slug);
    if (in.icon.given()) after.icon = icon;
    if (is_same(before, after)) return before;

    after.last_edited_time = membership_state.now;
    after.last_edited_by = ref_of(call.caller());
    after.version += 1;
    const Event event = changed(org_updated, before, after);
    call.check(event);
    write(call, before, after);
    call.emit(event);
    return after;
}

const Operation update_org{
    .name = "update_org",
    .route = "PATCH /v1/orgs/{org_id}",
    .summary = "Rename a workspace, or give it another slug or icon.",
    .description =
        "What is left out stays. A slug that another workspace has is 409 with the reason "
        "`slug_taken`.",
    .access = Access::admin,
    .idempotent = true,
    .versioned = true,
    .handler = update,
};

// ---------------------------------------------------------------------------- delete

struct DeleteOrganizationRequest {
    Uuid org_id;
    std::string confirm;
};
SVC_RECORD(
    DeleteOrganizationRequest,
    (org_id, "A workspace that the caller owns."),
    (confirm, "The workspace's slug, to confirm.", length(0, 100))
);

void remove(Call& call, const DeleteOrganizationRequest& in) {
    const auto [membership_state, org] = lock(call, in.org_id);
    require_right_over(call.caller(), membership_state, OrgRole::owner);
    call.require_version(org.version);
    if (in.confirm != org.slug)
        throw wrong_field(
            call, "confirm", "this is not the slug of the workspace", FieldPlace::query
        );
    Event event;
    event.kind = &org_deleted;
    event.id = org.id;
    event.version = org.version;
    event.name = org.name;
    event.subject = event.previous = to_json(org);
    call.check(event);
    call.emit(event);
    mark_as_deleted(call.kernel(), call.tx(), org.id);
    if (auto* streams = call.kernel().find<OpenStreams>())
        call.after_commit([streams, id = org.id] { streams->revalidate(id); });
}

const Operation delete_org{
    .name = "delete_org",
    .route = "DELETE /v1/orgs/{org_id}",
    .summary = "Delete a workspace and everything in it, for good.",
    .description =
        "Takes an owner who has signed in: no token has the role. From the answer on the workspace "
        "has no members, its tokens no longer authenticate, its open streams are closed and its "
        "slug is free. "
        "Boards, cards and all else are deleted in the background and cannot be restored; "
        "only the audit record is kept.",
    .access = Access::owner,
    .status = 204,
    .destructive = true,
    .versioned = true,
    .handler = remove,
};

}  // namespace

void add_org_changes(Kernel& kernel) {
    kernel.add(org_updated);
    kernel.add(org_deleted);
    kernel.add(update_org);
    kernel.add(delete_org);
}

}  // namespace svc::orgs
