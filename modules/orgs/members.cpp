// The people of a workspace: who they are, their roles, their ways out.

#include "modules/orgs/seats.hpp"

namespace svc::orgs {

namespace {

constexpr Sql list_seats{"orgs.list_members", R"(
    SELECT * FROM membership_view
    WHERE org_id = $1 AND ($2::uuid IS NULL OR id > $2)
    ORDER BY id
    LIMIT $3)"};

constexpr Sql set_role{"orgs.set_role", R"(
    UPDATE memberships
    SET role = $3, last_edited_time = now(), version = version + 1
    WHERE org_id = $1 AND user_id = $2)"};

constexpr Sql delete_seat{"orgs.delete_seat", R"(
    DELETE FROM memberships WHERE org_id = $1 AND user_id = $2)"};

/// A seat and the roster, under the lock.
struct LockedMember {
    MembershipState membership_state;
    MembershipResponse seat;
};

LockedMember lock(Call& call, const Uuid& org, const Uuid& user) {
    auto membership_state = lock_seats(call, org);
    auto found = call.tx().one<MembershipResponse>(find_membership, org, user);
    if (!found) not_found("member");
    return {membership_state.one_or_retry(), *std::move(found)};
}

// ------------------------------------------------------------------------------ list

struct MembersQuery {
    Uuid org_id;
    Paging paging;
};
SVC_RECORD(MembersQuery, (org_id, "A workspace that the caller is in."), (paging, "", flatten));

Page<MembershipResponse> list(Call& call, const MembersQuery& in) {
    const Uuid& org = require_here(call, in.org_id);
    const auto after = call.after(in.paging);
    auto rows = call.tx().all<MembershipResponse>(
        list_seats,
        org,
        after ? std::optional(after->front()) : std::nullopt,
        in.paging.page_size + 1
    );
    return call.page(std::move(rows), in.paging, [](const MembershipResponse& last) {
        return std::vector{last.id.str()};
    });
}

const Operation list_members{
    .name = "list_members",
    .route = "GET /v1/orgs/{org_id}/members",
    .summary = "List the members of a workspace with their roles, oldest membership first.",
    .description = "Agents are not members; list_users shows both.",
    .access = Access::member,
    .handler = list,
};

// ------------------------------------------------------------------------------ role

struct UpdateMembershipRequest {
    Uuid org_id;
    Uuid user_id;
    OrgRole role{};
};
SVC_RECORD(
    UpdateMembershipRequest,
    (org_id, "A workspace that the caller looks after."),
    (user_id, "A member of it."),
    (role,
     "What the member may do from now on. Only owners make, change and remove owners, and agents "
     "make no admins.")
);

MembershipResponse update(Call& call, const UpdateMembershipRequest& in) {
    const Uuid& org = require_here(call, in.org_id);
    const auto [membership_state, before] = lock(call, org, in.user_id);
    require_right_over(call.caller(), membership_state, before.role);
    call.require_version(before.version);
    if (in.role == before.role) return before;
    require_right_to_give(call.caller(), membership_state, in.role);
    require_other_owner(membership_state, before);

    MembershipResponse after = before;
    after.role = in.role;
    after.last_edited_time = membership_state.now;
    after.version += 1;
    Event event = changed(member_role_changed, before, after);
    event.name = after.user.name;
    call.check(event);
    call.tx().queue(set_role, org, in.user_id, in.role);
    call.emit(event);
    call.use<Directory>().bump_security_epoch(call.tx(), org);
    return after;
}

const Operation update_member{
    .name = "update_member",
    .route = "PATCH /v1/orgs/{org_id}/members/{user_id}",
    .summary = "Change a member's role.",
    .description =
        "It counts from the member's very next request, and so for every token of theirs. The "
        "only owner keeps the role: 409 with the reason `sole_owner`. One whose address is not "
        "confirmed does not count as another.",
    .access = Access::admin,
    .idempotent = true,
    .versioned = true,
    .handler = update,
};

// ----------------------------------------------------------------------------- leave

void vacate(Call& call, const LockedMember& found) {
    const MembershipResponse& seat = found.seat;
    require_other_owner(found.membership_state, seat);
    Event event;
    event.kind = &member_removed;
    event.id = seat.id;
    event.version = seat.version;
    event.name = seat.user.name;
    event.subject = event.previous = to_json(seat);
    call.check(event);
    call.tx().queue(delete_seat, seat.org_id, seat.user_id);
    call.emit(event);
    call.use<Directory>().bump_security_epoch(call.tx(), seat.org_id);
}

struct MemberId {
    Uuid org_id;
    Uuid user_id;
};
SVC_RECORD(
    MemberId, (org_id, "A workspace that the caller looks after."), (user_id, "A member of it.")
);

void remove(Call& call, const MemberId& in) {
    const Uuid& org = require_here(call, in.org_id);
    const LockedMember found = lock(call, org, in.user_id);
    require_right_over(call.caller(), found.membership_state, found.seat.role);
    call.require_version(found.seat.version);
    vacate(call, found);
}

const Operation remove_member{
    .name = "remove_member",
    .route = "DELETE /v1/orgs/{org_id}/members/{user_id}",
    .summary = "Remove a member from a workspace.",
    .description =
        "The seat is free at once, and the person's sessions and tokens no longer reach the "
        "workspace, and their board grants are revoked. The only owner cannot leave or be removed: "
        "409 with the reason `sole_owner`. One whose address is not confirmed does not count as "
        "another.",
    .access = Access::admin,
    .status = 204,
    .destructive = true,
    .versioned = true,
    .handler = remove,
};

/// A token gives up no seat that is more than the token is: nobody is to lose a workspace because
/// a program of theirs, or whoever found its token, says so.
void require_seat_of_own_role(const Caller& caller, OrgRole role) {
    if (!caller.token_id || role <= caller.role) return;
    throw Failure(
        Fault::restricted,
        "The seat has the role " + std::string(name_of(role)) + ", this token only " +
            std::string(name_of(caller.role)) + "; sign in to leave."
    );
}

void leave(Call& call, const OrgId& in) {
    const Uuid& org = require_here(call, in.org_id);
    const LockedMember found = lock(call, org, *call.caller().user_id);
    require_seat_of_own_role(call.caller(), found.seat.role);
    call.require_version(found.seat.version);
    vacate(call, found);
}

/// An agent acts with its owner's rights and has no seat to give up.
void refuse_agents(Call& call) {
    if (const Caller* caller = call.caller_if_any(); caller && !caller->is_person())
        throw Failure(Fault::restricted, "Only a person has a seat to give up.");
}

const Operation leave_org{
    .name = "leave_org",
    .route = "DELETE /v1/orgs/{org_id}/members/me",
    .summary = "Leave a workspace.",
    .description =
        "The only owner cannot leave or be removed: 409 with the reason `sole_owner`. One whose "
        "address is not "
        "confirmed does not count as another. A token ends no membership with a higher role than "
        "its own.",
    .access = Access::member,
    .status = 204,
    .guards = {refuse_agents},
    .for_people = true,
    .destructive = true,
    .versioned = true,
    .when_past_due = true,
    .handler = leave,
};

}  // namespace

void add_member_operations(Kernel& kernel) {
    kernel.add(list_members);
    kernel.add(update_member);
    kernel.add(remove_member);
    kernel.add(leave_org);
}

}  // namespace svc::orgs
