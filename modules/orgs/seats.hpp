#pragma once

#include "modules/orgs/orgs.hpp"

/// Who sits where. Every change of a seat, a role or an invitation waits for the same lock of its
/// workspace, so that what was counted under it stays true until the change is committed.
namespace svc::orgs {

/// What decides about a change, read under the lock.
struct MembershipState {
    std::string name;  ///< of the workspace
    Plan plan{};
    BillingState billing_state{};
    std::int64_t seats = 0;
    std::int64_t owners = 0;
    std::int64_t confirmed_owners = 0;  ///< whose address is theirs: who can sign in
    std::optional<OrgRole> own_role;    ///< of the person behind the call
    Timestamp now;                      ///< the transaction's time
};
SVC_SHARED_RECORD(
    MembershipState,
    (name),
    (plan),
    (billing_state),
    (seats),
    (owners),
    (confirmed_owners),
    (own_role),
    (now)
);

/// Queues the lock and what is read under it. Statements that are queued after it see what the
/// one who had the lock before has committed.
DeferredRows<MembershipState> lock_seats(Call& call, const Uuid& org);

/// The workspace in the path is the one of the call; 404 otherwise. (A token that comes by MCP is
/// bound to its workspace, whatever its arguments name.)
const Uuid& require_here(const Call& call, const Uuid& org);

/// 402 when the plan has no room for one more.
void require_free_seat(Call& call, const MembershipState& membership_state);
/// 409 when nobody who can sign in would be an owner without this seat. An owner who has yet to
/// confirm the address looks after nothing.
void require_other_owner(const MembershipState& membership_state, const MembershipResponse& seat);
/// 403 unless the caller may give or take this role: owners are for owners alone.
void require_right_over(
    const Caller& caller, const MembershipState& membership_state, OrgRole role
);

/// 403 unless the caller may give this role to somebody: software gives nobody the say over a
/// workspace.
void require_right_to_give(
    const Caller& caller, const MembershipState& membership_state, OrgRole role
);

inline constexpr Sql find_membership{"orgs.find_membership", R"(
    SELECT * FROM membership_view WHERE org_id = $1 AND user_id = $2)"};

/// Queues a person's seat, and the name that the workspace knows the person by.
struct NewSeat {
    Uuid org_id, user_id, id;
    OrgRole role{};
    std::optional<Uuid> invited_by;
};
void seat(Tx& tx, const NewSeat& seat);

extern const EventKind member_added, member_role_changed, member_removed;

}  // namespace svc::orgs
