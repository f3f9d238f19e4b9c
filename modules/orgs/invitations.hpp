#pragma once

#include "modules/orgs/shapes.hpp"
#include "svc/events.hpp"
#include "svc/rate_limit.hpp"
#include "svc/tx.hpp"

/// Invitations as they are shown (contract sections 6.8 and 6.9).
namespace svc::orgs {

/// Rises like OrgRole; nobody becomes an owner by invitation.
enum class InviteRole { viewer, member, admin };
BOOST_DESCRIBE_ENUM(InviteRole, viewer, member, admin)

inline OrgRole as_org_role(InviteRole role) { return static_cast<OrgRole>(role); }

enum class InvitationStatus { pending, accepted, declined, expired, revoked };
BOOST_DESCRIBE_ENUM(InvitationStatus, pending, accepted, declined, expired, revoked)

struct InvitationResponse {
    Object<"invitation"> object;
    Uuid id;
    Uuid org_id;
    std::string org_name;
    Email email;
    InviteRole role{};
    InvitationStatus status{};
    std::optional<std::string> message;
    PrincipalRef invited_by;
    Timestamp expires_at;
    std::int64_t send_count = 1;
    Timestamp last_sent_at;
    std::optional<Timestamp> responded_at;
    Timestamp created_time;
    Timestamp last_edited_time;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    InvitationResponse,
    (object, "Always \"invitation\"."),
    (id, "The invitation's id, to accept or decline it by."),
    (org_id, "The workspace."),
    (org_name, "Its name."),
    (email, "The address that is invited, as it was typed."),
    (role, "What the person will be able to do."),
    (status, "`pending` until it is answered, revoked, or has run out."),
    (message, "A few words from whoever invites; null when there are none."),
    (invited_by, "Who invites."),
    (expires_at, "It can be accepted until then."),
    (send_count, "How often it was mailed."),
    (last_sent_at, "When it was mailed last."),
    (responded_at, "When it was accepted or declined; null until then."),
    (created_time, "When it was made."),
    (last_edited_time, "When it was last changed."),
    (version, "Rises by one with every change; also the ETag.")
);

struct AlreadyMemberResponse {
    Object<"already_member"> object;
    Uuid org_id;
    std::string org_name;
    Email email;
    MembershipResponse membership;
};
SVC_SHARED_RECORD(
    AlreadyMemberResponse,
    (object, "Always \"already_member\"."),
    (org_id, "The workspace."),
    (org_name, "Its name."),
    (email, "The address, as it was typed."),
    (membership, "The member who has this address.")
);

extern const EventKind invitation_created, invitation_resent, invitation_accepted,
    invitation_declined, invitation_revoked;

/// What is emitted when an invitation has changed; people know it by its address.
Event invitation_event(
    const EventKind& kind, const InvitationResponse& before, const InvitationResponse& after
);

/// How often one place looks at invitations without having signed in. Tokens cannot be guessed;
/// this bounds what asking costs.
struct Previews : MemoryRateLimit {
    static constexpr std::string_view name = "orgs.Previews";  ///< offered to the handlers
    Previews() : MemoryRateLimit({"invitation_preview", 60, std::chrono::minutes(1)}) {}
};

/// An answered or revoked invitation.
struct InvitationEnd {
    InvitationStatus status{};
    Timestamp at;
};
/// `invitation` as it is from then on, and queues that into its row.
InvitationResponse end_invitation(
    Tx& tx, const InvitationResponse& invitation, const InvitationEnd& end
);

}  // namespace svc::orgs
