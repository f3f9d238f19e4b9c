// The other side of an invitation: seeing it, accepting it, declining it.
//
// It belongs to whoever owns the address: the verified address of the account decides, not the
// mailed token, so a mail that was passed on lets nobody in. All else is 404.

#include "modules/orgs/invitations.hpp"
#include "modules/orgs/seats.hpp"

namespace svc::orgs {

namespace {

constexpr Sql list_mine{"orgs.list_my_invitations", R"(
    SELECT * FROM invitations_of($1, $2, $3))"};

// From here on the transaction acts in the workspace of the invitation.
constexpr Sql enter{"orgs.enter_by_invitation", R"(
    SELECT org_id FROM enter_by_invitation($1, $2))"};

constexpr Sql take_lock{"orgs.lock_entered", R"(
    SELECT id FROM orgs WHERE id = svc_org() FOR NO KEY UPDATE)"};

constexpr Sql see_invitation{"orgs.see_my_invitation", R"(
    SELECT * FROM invitation_view WHERE org_id = svc_org() AND id = $1)"};

constexpr Sql see_seat{"orgs.see_entered_seat", R"(
    SELECT * FROM membership_view WHERE org_id = svc_org() AND user_id = $1)"};

constexpr Sql see_roster{"orgs.see_entered_roster", R"(
    SELECT o.name, o.plan, o.billing_state, now() AS now,
        (SELECT count(*) FROM memberships m WHERE m.org_id = o.id) AS seats,
        0 AS owners, 0 AS confirmed_owners,
        (SELECT m.role FROM memberships m WHERE m.org_id = o.id AND m.user_id = $1) AS own_role
    FROM orgs o
    WHERE o.id = svc_org())"};

constexpr Sql see_self{"orgs.see_self", R"(
    SELECT id, name, avatar_url, email, email_verified FROM users WHERE id = $1)"};

struct Entered {
    Uuid org_id;
};
SVC_RECORD(Entered, (org_id));

// ------------------------------------------------------------------------------ list

struct MyInvitationsQuery {
    Paging paging;
};
SVC_RECORD(MyInvitationsQuery, (paging, "", flatten));

Page<InvitationResponse> list(Call& call, const MyInvitationsQuery& in) {
    const Caller& caller = call.caller();
    if (!caller.is_person()) return {};
    const auto after = call.after(in.paging);
    auto rows = call.tx().all<InvitationResponse>(
        list_mine,
        caller.user_id,
        after ? std::optional(after->front()) : std::nullopt,
        in.paging.page_size + 1
    );
    return call.page(std::move(rows), in.paging, [](const InvitationResponse& last) {
        return std::vector{last.id.str()};
    });
}

const Operation list_my_invitations{
    .name = "list_my_invitations",
    .route = "GET /v1/me/invitations",
    .summary = "List the invitations that wait for you, of all workspaces, newest first.",
    .description =
        "Those that can be accepted, addressed to the confirmed address of your account. An "
        "agent has none.",
    .access = Access::me,
    .for_people = true,
    .handler = list,
};

// ---------------------------------------------------------------------------- answer

/// An invitation to the caller, with what decides about it, under the workspace's lock.
struct Found {
    InvitationResponse invitation;
    MembershipState membership_state;
    std::optional<MembershipResponse> seat;
    UserSummary self;
};

Found find(Call& call, const Uuid& id) {
    const Caller& caller = call.caller();
    // For whoever may not answer it there is none: an agent, or a token that only reads.
    if (!caller.is_person() || only_reads(caller)) not_found("invitation");
    Tx& tx = call.tx();
    auto entered = tx.later<Entered>(enter, caller.user_id, id);
    tx.queue(take_lock);
    auto invitation = tx.later<InvitationResponse>(see_invitation, id);
    auto membership_state = tx.later<MembershipState>(see_roster, caller.user_id);
    auto seat = tx.later<MembershipResponse>(see_seat, caller.user_id);
    auto self = tx.later<UserSummary>(see_self, caller.user_id);
    // Nothing but `entered` says that it is the caller's: the workspace may be the session's own.
    if (!entered.one()) not_found("invitation");
    return {
        invitation.one_or_retry(),
        membership_state.one_or_retry(),
        seat.one(),
        self.one_or_retry()};
}

void require_live(const InvitationResponse& invitation) {
    if (invitation.status != InvitationStatus::pending) not_found("invitation");
}

/// The invitation's workspace need not be the caller's, whose security epoch was looked at before.
void require_paid(const MembershipState& membership_state) {
    if (membership_state.billing_state == BillingState::past_due)
        throw Failure(
            Fault::past_due,
            "The workspace is past due, so nobody can join it; an owner can settle the bill."
        );
}

InvitationResponse answer(
    Call& call, const Found& found, const EventKind& kind, InvitationStatus status
) {
    const auto ended =
        end_invitation(call.tx(), found.invitation, {status, found.membership_state.now});
    const Event event = invitation_event(kind, found.invitation, ended).in_org(ended.org_id);
    call.check(event);
    call.emit(event);
    return ended;
}

struct MyInvitationId {
    Uuid invitation_id;
};
SVC_RECORD(MyInvitationId, (invitation_id, "An invitation to the caller's address."));

MembershipResponse new_seat(const Found& found) {
    const InvitationResponse& invitation = found.invitation;
    MembershipResponse made;
    made.id = new_uuid();
    made.org_id = invitation.org_id;
    made.org_name = invitation.org_name;
    made.user_id = found.self.id;
    made.user = found.self;
    made.role = as_org_role(invitation.role);
    made.status = MembershipStatus::active;
    made.invited_by = invitation.invited_by;
    made.joined_at = made.created_time = made.last_edited_time = found.membership_state.now;
    return made;
}

MembershipResponse take_seat(Call& call, const Found& found) {
    require_free_seat(call, found.membership_state);
    const MembershipResponse made = new_seat(found);
    Event event = created(member_added, made).in_org(made.org_id);
    event.name = made.user.name;
    call.check(event);
    seat(call.tx(), {made.org_id, made.user_id, made.id, made.role, made.invited_by->id});
    answer(call, found, invitation_accepted, InvitationStatus::accepted);
    call.emit(event);
    if (auto* sessions = call.kernel().find<ActiveWorkspace>(); sessions && !call.caller().org_id)
        sessions->enter(call, made.org_id, made.role);
    return made;
}

MembershipResponse accept(Call& call, const MyInvitationId& in) {
    Found found = find(call, in.invitation_id);
    // Whoever accepted it and is still there gets the same answer again.
    if (found.invitation.status == InvitationStatus::accepted && found.seat)
        return *std::move(found.seat);
    require_live(found.invitation);
    require_paid(found.membership_state);
    if (!found.seat) return take_seat(call, found);
    answer(call, found, invitation_accepted, InvitationStatus::accepted);
    return *std::move(found.seat);
}

const Operation accept_invitation{
    .name = "accept_invitation",
    .route = "POST /v1/invitations/{invitation_id}:accept",
    .summary = "Accept an invitation and join the workspace.",
    .description =
        "For whoever has signed in as the invited address; for everybody else it does not exist. "
        "When the plan has no free seat it is 402 `plan_limit_reached`, and the invitation "
        "stays. Accepting again answers with the same membership.",
    .access = Access::me,
    .for_people = true,
    .idempotent = true,
    .handler = accept,
};

InvitationResponse decline(Call& call, const MyInvitationId& in) {
    const Found found = find(call, in.invitation_id);
    require_live(found.invitation);
    return answer(call, found, invitation_declined, InvitationStatus::declined);
}

const Operation decline_invitation{
    .name = "decline_invitation",
    .route = "POST /v1/invitations/{invitation_id}:decline",
    .summary = "Decline an invitation.",
    .description =
        "For whoever has signed in as the invited address. The workspace may invite the address "
        "again.",
    .access = Access::me,
    .for_people = true,
    .handler = decline,
};

}  // namespace

void add_my_invitation_operations(Kernel& kernel) {
    kernel.add(list_my_invitations);
    kernel.add(accept_invitation);
    kernel.add(decline_invitation);
}

}  // namespace svc::orgs
