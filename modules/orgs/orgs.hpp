#pragma once

#include "modules/orgs/api.hpp"

namespace svc::orgs {

struct Settings {
    static constexpr std::string_view name = "orgs.Settings";  ///< offered to the handlers
    std::int64_t free_seats = 5;
    std::int64_t invitation_days = 7;
    std::int64_t invitation_mails_a_day = 200;
    std::int64_t mails_of_one_sender_a_day = 500;
    std::int64_t mails_to_one_address_a_day = 20;
    std::int64_t workspaces_of_one_owner = 100;
    std::int64_t resend_seconds = 60;
    std::string billing_portal;
};
SVC_SHARED_RECORD(
    Settings,
    (free_seats,
     "How many people a workspace on the free plan has room for.",
     range(1, 100000),
     defaulted),
    (invitation_days, "How long an invitation can be accepted.", range(1, 365), defaulted),
    (invitation_mails_a_day,
     "Mails of invitations that a workspace may send within a day, then 429.",
     range(1, 1000000),
     defaulted),
    (mails_of_one_sender_a_day,
     "Mails about workspaces, of every sort, that one person may send within a day, then 429.",
     range(1, 1000000),
     defaulted),
    (mails_to_one_address_a_day,
     "Mails about workspaces, of all of them, that one address may be sent within a day, then 429.",
     range(1, 1000000),
     defaulted),
    (workspaces_of_one_owner,
     "How many workspaces one person may own before making another is refused.",
     range(1, 1000000),
     defaulted),
    (resend_seconds,
     "Seconds before a member can be sent the mail that tells of the workspace once more.",
     range(1, 86400),
     defaulted),
    (billing_portal,
     "Where owners manage billing, shown by get_billing; empty: nowhere.",
     length(0, 2000),
     matches("(https?://.+)?"),
     defaulted)
);

struct OrgId {
    Uuid org_id;
};
SVC_SHARED_RECORD(OrgId, (org_id, "A workspace that the caller is in."));

/// As the person $2 sees the workspace; $3: seats of the free plan.
inline constexpr Sql find_org{"orgs.find_org", R"(
    SELECT v.*, CASE WHEN v.plan = 'free' THEN $3::bigint END AS seat_cap, m.role,
        NULL::json AS storage
    FROM org_view v
    JOIN memberships m ON m.org_id = v.id AND m.user_id = $2
    WHERE v.id = $1)"};
/// A token sees its own workspace, with its own rights; nothing for a person who is signed in.
std::optional<Uuid> only_org(const Caller& caller);
/// The caller's own view: a token has the rights it has.
void narrow(const Caller& caller, OrganizationResponse& org);

/// The icon as it is kept: with its address, if it is an uploaded picture. 422 when its `type` does
/// not name what it has.
std::optional<Icon> icon_of(Call& call, std::optional<Icon> icon);

// Each file puts its operations into the kernel.
void add_org_operations(Kernel& kernel);
void add_org_changes(Kernel& kernel);
void add_switch_operation(Kernel& kernel);
void add_member_operations(Kernel& kernel);
void add_direct_additions(Kernel& kernel);
void add_invitation_operations(Kernel& kernel);
void add_my_invitation_operations(Kernel& kernel);
void add_invitation_preview(Kernel& kernel);
void add_billing_operations(Kernel& kernel);
void add_user_operations(Kernel& kernel);
void add_audit_operations(Kernel& kernel);

extern const EventKind org_billing_changed;

/// The command `org`: plans and bills.
Command org_command(Kernel& kernel);

}  // namespace svc::orgs
