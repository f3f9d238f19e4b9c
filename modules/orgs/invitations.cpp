// Asking somebody in: making an invitation, listing them, taking one back.

#include "modules/orgs/invitations.hpp"

#include "modules/orgs/mail_limits.hpp"
#include "modules/orgs/mail_templates.hpp"
#include "modules/orgs/seats.hpp"
#include "svc/secrets.hpp"

namespace svc::orgs {

const EventKind invitation_created{
    .name = "invitation.created",
    .object = "invitation",
    .summary = "An address has been invited to the workspace.",
    .record = &record_of<InvitationResponse>,
};
const EventKind invitation_resent{
    .name = "invitation.resent",
    .object = "invitation",
    .summary = "An invitation was mailed again; the link before it no longer counts.",
    .record = &record_of<InvitationResponse>,
};
const EventKind invitation_accepted{
    .name = "invitation.accepted",
    .object = "invitation",
    .summary = "An invitation was accepted; `member.added` is emitted as well.",
    .record = &record_of<InvitationResponse>,
};
const EventKind invitation_declined{
    .name = "invitation.declined",
    .object = "invitation",
    .summary = "An invitation was declined.",
    .record = &record_of<InvitationResponse>,
};
const EventKind invitation_revoked{
    .name = "invitation.revoked",
    .object = "invitation",
    .summary = "An invitation was revoked.",
    .record = &record_of<InvitationResponse>,
};

namespace {

// The seat of whoever has the address; only members are looked at, so that the answer says
// nothing about accounts elsewhere.
constexpr Sql member_by_address{"orgs.member_by_address", R"(
    SELECT v.*
    FROM memberships m
    JOIN users u ON u.id = m.user_id AND u.email_key = $2
    JOIN membership_view v ON v.org_id = m.org_id AND v.user_id = m.user_id
    WHERE m.org_id = $1)"};

constexpr Sql live_by_address{"orgs.live_invitation", R"(
    SELECT v.*
    FROM invitations i
    JOIN invitation_view v ON v.org_id = i.org_id AND v.id = i.id
    WHERE i.org_id = $1 AND i.email_key = $2 AND i.status = 'pending' AND i.expires_at > now())"};

constexpr Sql mails_today{"orgs.invitation_mails", R"(
    SELECT coalesce(sum(send_count), 0)::bigint AS mails
    FROM invitations
    WHERE org_id = $1 AND last_sent_at > now() - interval '1 day')"};

constexpr Sql close_expired{"orgs.close_expired_invitation", R"(
    UPDATE invitations
    SET status = 'expired', last_edited_time = now(), version = version + 1
    WHERE org_id = $1 AND email_key = $2 AND status = 'pending' AND expires_at <= now())"};

constexpr Sql insert_invitation{"orgs.insert_invitation", R"(
    INSERT INTO invitations
        (org_id, id, email, email_key, role, message, token_digest, invited_by, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9::interval))"};

constexpr Sql renew_invitation{"orgs.renew_invitation", R"(
    UPDATE invitations
    SET role = $3, message = $4, token_digest = $5, expires_at = now() + $6::interval,
        send_count = send_count + 1, last_sent_at = now(), last_edited_time = now(),
        version = version + 1
    WHERE org_id = $1 AND id = $2)"};

constexpr Sql write_end{"orgs.end_invitation", R"(
    UPDATE invitations
    SET status = $3,
        responded_at = CASE WHEN $3 IN ('accepted', 'declined') THEN now() END,
        last_edited_time = now(), version = version + 1
    WHERE org_id = $1 AND id = $2)"};

constexpr Sql some_invitations{"orgs.list_invitations", R"(
    SELECT * FROM invitation_view
    WHERE org_id = $1
      AND ($2::text IS NULL OR status = $2)
      AND ($3::uuid IS NULL OR id < $3)
    ORDER BY id DESC
    LIMIT $4)"};

constexpr Sql find_invitation{"orgs.find_invitation", R"(
    SELECT * FROM invitation_view WHERE org_id = $1 AND id = $2)"};

struct Mails {
    std::int64_t mails = 0;
};
SVC_RECORD(Mails, (mails));

// ---------------------------------------------------------------------------- create

struct CreateInvitationRequest {
    Uuid org_id;
    Email email;
    InviteRole role = InviteRole::member;
    std::optional<std::string> message;
};
SVC_RECORD(
    CreateInvitationRequest,
    (org_id, "A workspace that the caller looks after."),
    (email, "Whom to invite; whether or not the address has an account."),
    (role, "What the person will be able to do. Agents invite no admins.", defaulted),
    (message, "A few words for the mail.", length(1, 1000), trimmed, multiline)
);

using Invited = Answer<std::variant<InvitationResponse, AlreadyMemberResponse>>;

std::chrono::seconds lifetime(Call& call) {
    return std::chrono::days(call.use<Settings>().invitation_days);
}

Timestamp after(const Timestamp& start, std::chrono::seconds span) {
    return {start.micros + std::chrono::microseconds(span).count()};
}

void require_invitations_left(Call& call, const Mails& today) {
    if (today.mails < call.use<Settings>().invitation_mails_a_day) return;
    throw Failure(
        Fault::rate_limited,
        "The workspace has sent as many invitations as it may in a day; go on tomorrow."
    )
        .with("rate_limit_reason", "invitation_mails_a_day")
        .with_header("Retry-After", "3600");
}

InvitationResponse make(
    Call& call,
    const CreateInvitationRequest& in,
    const MembershipState& membership_state,
    const std::string& token
) {
    InvitationResponse made;
    made.id = new_uuid();
    made.org_id = call.org();
    made.org_name = membership_state.name;
    made.email = in.email;
    made.role = in.role;
    made.message = in.message;
    made.invited_by = ref_of(call.caller());
    made.expires_at = after(membership_state.now, lifetime(call));
    made.last_sent_at = made.created_time = made.last_edited_time = membership_state.now;

    Event event = created(invitation_created, made);
    event.name = made.email.str();
    call.check(event);
    Tx& tx = call.tx();
    const std::string key = email_key(in.email);
    tx.queue(close_expired, made.org_id, key);
    tx.queue(
        insert_invitation,
        made.org_id,
        made.id,
        made.email,
        key,
        made.role,
        made.message,
        sha256(token),
        call.caller().id,
        lifetime(call)
    );
    call.emit(event);
    return made;
}

InvitationResponse renew(
    Call& call,
    const CreateInvitationRequest& in,
    const MembershipState& membership_state,
    const InvitationResponse& before,
    const std::string& token
) {
    InvitationResponse renewed = before;
    renewed.role = in.role;
    renewed.message = in.message;
    renewed.expires_at = after(membership_state.now, lifetime(call));
    renewed.send_count += 1;
    renewed.last_sent_at = renewed.last_edited_time = membership_state.now;
    renewed.version += 1;
    const Event event = invitation_event(invitation_resent, before, renewed);
    call.check(event);
    call.tx().queue(
        renew_invitation,
        renewed.org_id,
        renewed.id,
        renewed.role,
        renewed.message,
        sha256(token),
        lifetime(call)
    );
    call.emit(event);
    return renewed;
}

void post_mail(Call& call, const InvitationResponse& invitation, const std::string& token) {
    const Sender from{invitation.org_name, call.caller().name, call.kernel().base_url()};
    const std::string link =
        from.base_url + "/invitations/" + invitation.id.str() + "?token=" + token;
    call.use<mail::Outbox>().post(
        call,
        invitation_mail(
            from, invitation.email, link, invitation.message, call.use<Settings>().invitation_days
        )
    );
}

Invited create(Call& call, const CreateInvitationRequest& in) {
    const Uuid& org = require_here(call, in.org_id);
    const std::string key = email_key(in.email);
    Tx& tx = call.tx();
    auto locked = lock_seats(call, org);
    auto members = tx.later<MembershipResponse>(member_by_address, org, key);
    auto live = tx.later<InvitationResponse>(live_by_address, org, key);
    auto today = tx.later<Mails>(mails_today, org);
    auto sent = count_sent(call);
    present_address(tx, key);
    auto received = count_received(call);
    const MembershipState membership_state = locked.one_or_retry();
    require_right_to_give(call.caller(), membership_state, as_org_role(in.role));
    if (auto member = members.one())
        return {
            200,
            AlreadyMemberResponse{{}, org, membership_state.name, in.email, *std::move(member)}};

    require_invitations_left(call, today.one_or_retry());
    require_mails_left(call, sent, received);
    const std::string token = random_token();
    const auto before = live.one();
    InvitationResponse invitation = before ? renew(call, in, membership_state, *before, token)
                                           : make(call, in, membership_state, token);
    post_mail(call, invitation, token);
    return {before ? 200 : 201, std::move(invitation)};
}

const Operation create_invitation{
    .name = "create_invitation",
    .route = "POST /v1/orgs/{org_id}/invitations",
    .summary = "Invite somebody to a workspace by mail.",
    .description =
        "201 with a new invitation; 200 when the address has one already, which is mailed again "
        "with another link (the one before no longer counts); 200 with `already_member` when the "
        "address is a member's. The answer is the same whether or not the address has an "
        "account. An invitation holds no seat.",
    .access = Access::admin,
    .status = 201,
    .also = {200},
    .open_world = true,
    .handler = create,
};

// ------------------------------------------------------------------------------ list

struct InvitationsQuery {
    Uuid org_id;
    std::optional<InvitationStatus> status;
    Paging paging;
};
SVC_RECORD(
    InvitationsQuery,
    (org_id, "A workspace that the caller looks after."),
    (status, "Only those; `pending` are the ones that can still be accepted."),
    (paging, "", flatten)
);

Page<InvitationResponse> list(Call& call, const InvitationsQuery& in) {
    const Uuid& org = require_here(call, in.org_id);
    const auto start = call.after(in.paging);
    auto rows = call.tx().all<InvitationResponse>(
        some_invitations,
        org,
        in.status,
        start ? std::optional(start->front()) : std::nullopt,
        in.paging.page_size + 1
    );
    return call.page(std::move(rows), in.paging, [](const InvitationResponse& last) {
        return std::vector{last.id.str()};
    });
}

const Operation list_invitations{
    .name = "list_invitations",
    .route = "GET /v1/orgs/{org_id}/invitations",
    .summary = "List the invitations of a workspace, newest first.",
    .access = Access::admin,
    .handler = list,
};

// ---------------------------------------------------------------------------- revoke

struct InvitationId {
    Uuid org_id;
    Uuid invitation_id;
};
SVC_RECORD(
    InvitationId,
    (org_id, "A workspace that the caller looks after."),
    (invitation_id, "One of its invitations.")
);

void revoke(Call& call, const InvitationId& in) {
    const Uuid& org = require_here(call, in.org_id);
    auto locked = lock_seats(call, org);
    const auto before = call.tx().one<InvitationResponse>(find_invitation, org, in.invitation_id);
    if (!before) not_found("invitation");
    require_right_over(call.caller(), locked.one_or_retry(), as_org_role(before->role));
    if (before->status == InvitationStatus::revoked) return;
    call.require_version(before->version);
    if (before->status != InvitationStatus::pending)
        throw Failure(
            Fault::conflict,
            "The invitation is " + std::string(name_of(before->status)) + " already."
        )
            .with("reason", "invitation_not_live");
    const auto ended =
        end_invitation(call.tx(), *before, {InvitationStatus::revoked, locked.one_or_retry().now});
    const Event event = invitation_event(invitation_revoked, *before, ended);
    call.check(event);
    call.emit(event);
}

const Operation revoke_invitation{
    .name = "revoke_invitation",
    .route = "DELETE /v1/orgs/{org_id}/invitations/{invitation_id}",
    .summary = "Revoke an invitation.",
    .description =
        "The address can be invited again. One that was answered or has run out is 409 with the "
        "reason `invitation_not_live`.",
    .access = Access::admin,
    .status = 204,
    .destructive = true,
    .idempotent = true,
    .versioned = true,
    .handler = revoke,
};

}  // namespace

Event invitation_event(
    const EventKind& kind, const InvitationResponse& before, const InvitationResponse& after
) {
    Event event = changed(kind, before, after);
    event.name = after.email.str();
    return event;
}

InvitationResponse end_invitation(
    Tx& tx, const InvitationResponse& invitation, const InvitationEnd& end
) {
    InvitationResponse ended = invitation;
    ended.status = end.status;
    if (end.status != InvitationStatus::revoked) ended.responded_at = end.at;
    ended.last_edited_time = end.at;
    ended.version += 1;
    tx.queue(write_end, ended.org_id, ended.id, ended.status);
    return ended;
}

void add_invitation_operations(Kernel& kernel) {
    for (const EventKind* each :
         {&invitation_created,
          &invitation_resent,
          &invitation_accepted,
          &invitation_declined,
          &invitation_revoked})
        kernel.add(*each);
    kernel.add(list_invitations);
    kernel.add(create_invitation);
    kernel.add(revoke_invitation);
}

}  // namespace svc::orgs
