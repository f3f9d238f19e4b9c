#include "modules/orgs/seats.hpp"

#include <algorithm>

namespace svc::orgs {

const EventKind member_added{
    .name = "member.added",
    .object = "membership",
    .summary = "Somebody has become a member of the workspace.",
    .record = &record_of<MembershipResponse>,
    .said_audience = Audience::everyone,
};
const EventKind member_role_changed{
    .name = "member.role_changed",
    .object = "membership",
    .summary = "A member has been given another role.",
    .record = &record_of<MembershipResponse>,
    .said_audience = Audience::everyone,
};
const EventKind member_removed{
    .name = "member.removed",
    .object = "membership",
    .summary = "A member has left the workspace or was removed; `previous` is the whole seat.",
    .record = &record_of<MembershipResponse>,
    .vetoable = false,
    .said_audience = Audience::everyone,
};

namespace {

// Not FOR UPDATE: rows that refer to the workspace are inserted meanwhile all the same.
constexpr Sql take_lock{"orgs.lock_seats", R"(
    SELECT id FROM orgs WHERE id = $1 FOR NO KEY UPDATE)"};

constexpr Sql read_roster{"orgs.read_roster", R"(
    SELECT o.name, o.plan, o.billing_state, now() AS now,
        (SELECT count(*) FROM memberships m WHERE m.org_id = o.id) AS seats,
        owned.owners, owned.confirmed_owners,
        (SELECT m.role FROM memberships m WHERE m.org_id = o.id AND m.user_id = $2) AS own_role
    FROM orgs o
    CROSS JOIN LATERAL (
        SELECT count(*) AS owners, count(*) FILTER (WHERE u.email_verified) AS confirmed_owners
        FROM memberships m JOIN users u ON u.id = m.user_id
        WHERE m.org_id = o.id AND m.role = 'owner'
    ) owned
    WHERE o.id = $1)"};

constexpr Sql insert_seat{"orgs.insert_seat", R"(
    WITH seat AS (
        INSERT INTO memberships (org_id, user_id, id, role, invited_by)
        VALUES ($1, $2, $3, $4, $5)
        RETURNING org_id, user_id
    )
    INSERT INTO principals (org_id, id, type, name, avatar_url)
    SELECT seat.org_id, u.id, 'user', u.name, u.avatar_url
    FROM seat JOIN users u ON u.id = seat.user_id
    ON CONFLICT (org_id, id) DO UPDATE
    SET name = excluded.name, avatar_url = excluded.avatar_url, last_edited_time = now(),
        version = principals.version + 1)"};

}  // namespace

DeferredRows<MembershipState> lock_seats(Call& call, const Uuid& org) {
    call.tx().queue(take_lock, org);
    return call.tx().later<MembershipState>(read_roster, org, call.caller().user_id);
}

const Uuid& require_here(const Call& call, const Uuid& org) {
    if (call.org() != org) not_found("workspace");
    return call.org();
}

void require_free_seat(Call& call, const MembershipState& membership_state) {
    const auto free_seats = call.use<Settings>().free_seats;
    if (membership_state.plan != Plan::free || membership_state.seats < free_seats) return;
    throw Failure(
        Fault::plan_limit,
        "The free plan has room for " + std::to_string(free_seats) +
            " people, and every seat is taken. An owner can move the workspace to another plan."
    )
        .with("limit", "seats");
}

void require_other_owner(const MembershipState& membership_state, const MembershipResponse& seat) {
    const bool confirmed = seat.status == MembershipStatus::active;
    const auto left = (confirmed ? membership_state.confirmed_owners : membership_state.owners) - 1;
    if (seat.role != OrgRole::owner || left > 0) return;
    throw Failure(
        Fault::conflict,
        "A workspace always has an owner, and this is the only one who has confirmed an address; "
        "make somebody else an owner first."
    )
        .with("reason", "sole_owner");
}

void require_right_over(
    const Caller& caller, const MembershipState& membership_state, OrgRole role
) {
    // The role that counts is the one under the lock: it may have changed while it was waited for.
    const OrgRole own = std::min(caller.role, membership_state.own_role.value_or(OrgRole::viewer));
    if (own < OrgRole::admin)
        throw Failure(Fault::restricted, "This takes the role admin in the workspace.");
    if (role == OrgRole::owner && own < OrgRole::owner)
        throw Failure(Fault::restricted, "Only an owner can make, change or remove an owner.");
}

void require_right_to_give(
    const Caller& caller, const MembershipState& membership_state, OrgRole role
) {
    require_right_over(caller, membership_state, role);
    if (caller.is_person() || role < OrgRole::admin) return;
    throw Failure(
        Fault::restricted, "Only a person makes somebody an admin or an owner of the workspace."
    );
}

void seat(Tx& tx, const NewSeat& seat) {
    tx.queue(insert_seat, seat.org_id, seat.user_id, seat.id, seat.role, seat.invited_by);
}

}  // namespace svc::orgs
