// What the link in an invitation mail leads to: what somebody sees of the invitation who has not
// signed in yet. The token shows that whoever asks has the mail; it accepts nothing.

#include "modules/orgs/invitations.hpp"
#include "modules/orgs/mail_limits.hpp"
#include "modules/orgs/orgs.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

namespace svc::orgs {

namespace {

constexpr Sql find_org{"orgs.find_org_by_token", R"(
    SELECT i.org_id
    FROM invitations i
    WHERE i.token_digest = $1 AND i.id = $2 AND i.org_id IS NOT NULL)"};

constexpr Sql see_invitation{"orgs.preview_invitation", R"(
    SELECT v.id, v.org_name, v.invited_by ->> 'name' AS invited_by_name, v.email, v.role, v.status,
        v.message, v.expires_at
    FROM invitation_view v
    JOIN orgs o ON o.id = v.org_id AND o.deleted_at IS NULL
    WHERE v.org_id = svc_org() AND v.id = $1)"};

struct Inviting {
    Uuid org_id;
};
SVC_RECORD(Inviting, (org_id));

struct InvitationPreview {
    Object<"invitation_preview"> object;
    Uuid id;
    std::string org_name;
    std::optional<std::string> invited_by_name;
    Email email;
    InviteRole role{};
    InvitationStatus status{};
    std::optional<std::string> message;
    Timestamp expires_at;
};
SVC_RECORD(
    InvitationPreview,
    (object, "Always \"invitation_preview\"."),
    (id, "The invitation's id; accepting and declining name it."),
    (org_name, "The name of the workspace."),
    (invited_by_name, "The name of whoever invites; null when there is none."),
    (email, "The address that is invited, as it was typed."),
    (role, "What the person will be able to do."),
    (status, "`pending` until it is answered, revoked, or has run out."),
    (message, "A few words from whoever invites; null when there are none."),
    (expires_at, "It can be accepted until then.")
);

struct PreviewQuery {
    Uuid invitation_id;
    std::string token;
};
SVC_RECORD(
    PreviewQuery,
    (invitation_id, "The id in the mailed link."),
    (token,
     "The token in the mailed link.",
     in_header("x-svc-invitation-token"),
     length(1, 128),
     secret)
);

InvitationPreview preview(Call& call, const PreviewQuery& in) {
    call.add_header("Cache-Control", "no-store");
    auto& previews = call.use<Previews>();
    previews.require(
        previews.count(network_of(call.client_address()), call.request_id()),
        "This is asked for too often; try again in a minute."
    );
    const Sha256 digest = sha256(in.token);
    Tx& tx = call.tx();
    present_address(tx, hex(digest));
    const auto inviting = tx.one<Inviting>(find_org, digest, in.invitation_id);
    if (!inviting) not_found("invitation");
    tx.set_scope(inviting->org_id, std::nullopt);
    auto invitation = tx.one<InvitationPreview>(see_invitation, in.invitation_id);
    if (!invitation) not_found("invitation");
    return *std::move(invitation);
}

const Operation get_invitation_preview{
    .name = "get_invitation_preview",
    .route = "GET /v1/invitations/{invitation_id}",
    .summary = "Read an invitation with the token of its mail, before signing in.",
    .description =
        "For the page that the mailed link leads to. A token that is not of the newest mail is "
        "404; 429 when one place asks more than 60 times a minute. The token shows "
        "the invitation and nothing else: accepting takes a session of the invited address.",
    .access = Access::anyone,
    .tool = false,
    .handler = preview,
};

}  // namespace

void add_invitation_preview(Kernel& kernel) { kernel.add(get_invitation_preview); }

}  // namespace svc::orgs
