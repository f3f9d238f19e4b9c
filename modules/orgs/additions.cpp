// Giving somebody a seat without asking, and telling them of it once more.

#include "modules/orgs/mail_limits.hpp"
#include "modules/orgs/mail_templates.hpp"
#include "modules/orgs/seats.hpp"

namespace svc::orgs {

namespace {

// For the audit record alone: nothing about the seat has changed.
constexpr EventKind invite_resent{
    .name = "member.invite_resent",
    .object = "membership",
    .summary = "A member was sent the mail that tells of the workspace once more.",
};

constexpr Sql insert_newcomer{"orgs.insert_newcomer", R"(
    INSERT INTO users (id, email, email_key, email_verified, name)
    VALUES ($1, $2, $3, false, $4)
    ON CONFLICT (email_key) DO NOTHING)"};

constexpr Sql person_by_address{"orgs.person_by_address", R"(
    SELECT u.id, u.name, u.avatar_url, u.email, u.email_verified, m.id AS seat_id
    FROM users u
    LEFT JOIN memberships m ON m.org_id = $1 AND m.user_id = u.id
    WHERE u.email_key = $2)"};

// The workspaces in which the caller meets people, for the statement below, which acts for the
// other one. A token is bound to one workspace and meets nobody elsewhere.
constexpr Sql note_own_orgs{"orgs.note_own_orgs", R"(
    SELECT note_own_orgs($1, $2))"};

// Only somebody whom the caller works with already: of others an id must not lead to a name and
// an address.
constexpr Sql person_by_id{"orgs.person_by_id", R"(
    SELECT u.id, u.name, u.avatar_url, u.email, u.email_verified, m.id AS seat_id
    FROM users u
    LEFT JOIN memberships m ON m.org_id = $1 AND m.user_id = u.id
    WHERE u.id = $2 AND EXISTS (
        SELECT FROM memberships s
        WHERE s.user_id = u.id
          AND s.org_id = ANY (string_to_array(current_setting('app.own_orgs'), ',')::uuid[])))"};

struct Person {
    UserSummary summary;
    std::optional<Uuid> seat_id;
};
SVC_RECORD(Person, (summary, "", flatten), (seat_id));

// ------------------------------------------------------------------------------- add

struct AddMemberRequest {
    Uuid org_id;
    std::optional<Uuid> user_id;
    std::optional<Email> email;
    OrgRole role = OrgRole::member;
    std::optional<std::string> name;
};
SVC_RECORD(
    AddMemberRequest,
    (org_id, "A workspace that the caller looks after."),
    (user_id,
     "Somebody with whom the caller is in a workspace already; either this or `email`. A token "
     "knows the people of its own workspace alone."),
    (email, "An address; one without an account gets one, to be confirmed by its owner."),
    (role,
     "What the person may do. Only owners make owners, and agents neither them nor admins.",
     defaulted),
    (name,
     "As people will see a new person; the owner of an account keeps the name it has.",
     length(1, 120),
     trimmed)
);

/// Queues the search. Row-level security shows the person to whoever presents the address, or
/// acts for the person; the latter until the seat is there.
DeferredRows<Person> find_person(Call& call, const AddMemberRequest& in) {
    Tx& tx = call.tx();
    if (in.user_id) {
        tx.queue(note_own_orgs, call.caller().user_id, only_org(call.caller()));
        tx.set_scope(call.org(), in.user_id);
        present_address_of(tx, *in.user_id);
        return tx.later<Person>(person_by_id, call.org(), *in.user_id);
    }
    const std::string key = email_key(*in.email);
    present_address(tx, key);
    const auto* sign_up_links = call.kernel().find<SignUpLinks>();
    if (!sign_up_links || sign_up_links->may_be_added(call.kernel()))
        tx.queue(insert_newcomer, new_uuid(), *in.email, key, in.name);
    return tx.later<Person>(person_by_address, call.org(), key);
}

MembershipResponse new_seat(
    Call& call, const MembershipState& membership_state, const UserSummary& user, OrgRole role
) {
    MembershipResponse made;
    made.id = new_uuid();
    made.org_id = call.org();
    made.org_name = membership_state.name;
    made.user_id = user.id;
    made.user = user;
    made.role = role;
    made.status = user.email_verified ? MembershipStatus::active : MembershipStatus::invited;
    made.invited_by = ref_of(call.caller());
    made.joined_at = made.created_time = made.last_edited_time = membership_state.now;
    return made;
}

void post_mail(Call& call, const MembershipResponse& seat) {
    const Sender from{seat.org_name, call.caller().name, call.kernel().base_url()};
    const Email& to = seat.user.email;
    if (seat.user.email_verified) return call.use<mail::Outbox>().post(call, member_mail(from, to));
    auto* sign_up_links = call.kernel().find<SignUpLinks>();
    const std::string link =
        sign_up_links ? sign_up_links->confirmation_link(call, to) : from.base_url + "/";
    call.use<mail::Outbox>().post(call, sign_up_mail(from, to, link));
}

MembershipResponse add(Call& call, const AddMemberRequest& in) {
    if (in.user_id.has_value() == in.email.has_value())
        throw wrong_field(call, "email", "give either email or user_id");
    const Caller& caller = call.caller();
    require_here(call, in.org_id);
    Tx& tx = call.tx();
    auto roster_later = lock_seats(call, in.org_id);
    auto sent = count_sent(call);
    auto found = find_person(call, in);
    auto received = count_received(call);
    const auto person = found.one();
    const MembershipState membership_state = roster_later.one_or_retry();
    require_right_to_give(caller, membership_state, in.role);
    if (!person && in.email)
        throw Failure(
            Fault::restricted,
            "The address has no account, and on this server only its operator makes new ones."
        )
            .with_code("sign_up_closed");
    if (!person) throw wrong_field(call, "user_id", "there is no such person");
    if (person->seat_id)
        throw Failure(Fault::conflict, "This person is a member of the workspace already.")
            .with("reason", "already_member");
    require_free_seat(call, membership_state);
    require_mails_left(call, sent, received);

    const MembershipResponse made = new_seat(call, membership_state, person->summary, in.role);
    Event event = created(member_added, made);
    event.name = made.user.name;
    call.check(event);
    seat(tx, {made.org_id, made.user_id, made.id, made.role, caller.id});
    tx.set_scope(call.org(), caller.user_id);
    call.emit(event);
    post_mail(call, made);
    return made;
}

const Operation add_member{
    .name = "add_member",
    .route = "POST /v1/orgs/{org_id}/members",
    .summary = "Add a member to a workspace directly, without an invitation.",
    .description =
        "For people who expect it; create_invitation asks first. An address without an account "
        "gets one, and a mail with a link to confirm it; 403, reason `sign_up_closed` on a server "
        "whose "
        "operator makes all accounts. A full plan is 402 "
        "`plan_limit_reached`, somebody who is a member already 409 with the reason "
        "`already_member`. Mails are counted by who sends them and by the address, over all "
        "workspaces: beyond `orgs.mails_of_one_sender_a_day` and "
        "`orgs.mails_to_one_address_a_day` it is 429.",
    .access = Access::admin,
    .status = 201,
    .open_world = true,
    .handler = add,
};

// ---------------------------------------------------------------------- tell once more

struct ResendRequest {
    Uuid org_id;
    Uuid user_id;
};
SVC_RECORD(
    ResendRequest,
    (org_id, "A workspace that the caller looks after."),
    (user_id, "A member of it.")
);

/// Counted before the mail is made: of two at once the second waits for the first, and then finds
/// that it comes too soon. A seat that is given again buys no other mail.
DatabaseRateLimit mails_to_member(Call& call) {
    return {
        call.kernel(),
        {"resend_member_invite", 1, std::chrono::seconds(call.use<Settings>().resend_seconds)}};
}

MembershipResponse resend(Call& call, const ResendRequest& in) {
    const Uuid& org = require_here(call, in.org_id);
    const auto pause = mails_to_member(call);
    Tx& tx = call.tx();
    auto again = pause.count(tx, org.str() + in.user_id.str());
    auto sent = count_sent(call);
    present_address_of(tx, in.user_id);
    auto received = count_received(call);
    auto found = tx.one<MembershipResponse>(find_membership, org, in.user_id);
    if (!found) not_found("member");
    const RateWindow mailed = again.one_or_retry();
    pause.require(
        mailed,
        "This member was sent a mail just now; try again in " + std::to_string(mailed.retry_after) +
            " seconds."
    );
    require_mails_left(call, sent, received);
    Event event;
    event.kind = &invite_resent;
    event.id = found->id;
    event.version = found->version;
    event.name = found->user.name;
    call.emit(event);
    post_mail(call, *found);
    return *std::move(found);
}

const Operation resend_member_invite{
    .name = "resend_member_invite",
    .route = "POST /v1/orgs/{org_id}/members/{user_id}:resend-invite",
    .summary = "Mail a member once more that they are in the workspace.",
    .description =
        "Whoever has yet to confirm the address gets a new link to do so. Once a minute for each "
        "member, then 429.",
    .access = Access::admin,
    .open_world = true,
    .handler = resend,
};

}  // namespace

void add_direct_additions(Kernel& kernel) {
    kernel.add(add_member);
    kernel.add(resend_member_invite);
}

}  // namespace svc::orgs
