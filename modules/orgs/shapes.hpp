#pragma once

#include "svc/caller.hpp"

/// People and workspaces as they are shown (contract sections 3, 6.6 and 6.7).
namespace svc::orgs {

enum class Plan { free, team, business };
BOOST_DESCRIBE_ENUM(Plan, free, team, business)

enum class BillingState { active, trialing, past_due, canceled };
BOOST_DESCRIBE_ENUM(BillingState, active, trialing, past_due, canceled)

enum class MembershipStatus { active, invited };
BOOST_DESCRIBE_ENUM(MembershipStatus, active, invited)

enum class IconType { emoji, external, file };
BOOST_DESCRIBE_ENUM(IconType, emoji, external, file)

struct ExternalIcon {
    Url url;
    bool operator==(const ExternalIcon&) const = default;
};
SVC_SHARED_RECORD(ExternalIcon, (url, "Where the picture is."));

struct IconFile {
    Url url;
    std::optional<Timestamp> expires_at;
    bool operator==(const IconFile&) const = default;
};
SVC_SHARED_RECORD(
    IconFile,
    (url, "Where the picture is."),
    (expires_at, "When that address stops working; null: it lasts.")
);

struct Icon {
    IconType type{};
    std::optional<std::string> emoji;
    std::optional<ExternalIcon> external;
    std::optional<Uuid> file_id;
    std::optional<IconFile> file;
    bool operator==(const Icon&) const = default;
};
SVC_SHARED_RECORD(
    Icon,
    (type, "The type, which says what other field there is."),
    (emoji, "One emoji; with type `emoji`.", length(1, 32), omit_empty),
    (external, "A picture elsewhere; with type `external`.", omit_empty),
    (file_id, "A picture that you have uploaded for this; with type `file`.", omit_empty),
    (file, "Where that picture is.", omit_empty, read_only)
);

struct WorkspaceStorage {
    std::int64_t used_bytes = 0;
    std::optional<std::int64_t> limit_bytes;
};
SVC_SHARED_RECORD(
    WorkspaceStorage,
    (used_bytes,
     "Cards, their bodies, comments, earlier versions and files, those in the trash among them. "
     "What "
     "was removed for good counts for up to a day longer."),
    (limit_bytes, "How many it may store; null when there is no limit.")
);

struct OrganizationResponse {
    Object<"organization"> object;
    Uuid id;
    std::string name;
    std::string slug;
    std::optional<Icon> icon;
    Plan plan{};
    BillingState billing_state{};
    std::optional<std::int64_t> seat_cap;
    std::int64_t seat_count = 0;
    OrgRole role{};
    std::optional<WorkspaceStorage> storage;
    Timestamp created_time;
    PrincipalRef created_by;
    Timestamp last_edited_time;
    PrincipalRef last_edited_by;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    OrganizationResponse,
    (object, "Always \"organization\"."),
    (id, "Names the workspace in paths and in the header X-Svc-Org."),
    (name, "As people call it."),
    (slug, "Its unique short name, for addresses."),
    (icon, "Shown beside the name; null when there is none."),
    (plan, "The plan it is subscribed to."),
    (billing_state, "In `past_due` nothing in the workspace can be changed."),
    (seat_cap, "How many people the plan has room for; null when there is no limit."),
    (seat_count, "Members who are people. Pending invitations are not counted."),
    (role, "What the caller may do here: the lower of the token's role and its owner's."),
    (storage, "What it stores; get_org says it.", omit_empty),
    (created_time, "When it was made."),
    (created_by, "Who made it."),
    (last_edited_time, "When it was last changed."),
    (last_edited_by, "Who changed it last."),
    (version, "Rises by one with every change; also the ETag.")
);

struct UserSummary {
    Object<"user"> object;
    Uuid id;
    std::optional<std::string> name;
    std::optional<Url> avatar_url;
    Email email;
    bool email_verified = false;
};
SVC_SHARED_RECORD(
    UserSummary,
    (object, "Always \"user\"."),
    (id, "The person's id, the same in every workspace."),
    (name, "As people see it; null when none was given."),
    (avatar_url, "A picture; null when there is none."),
    (email, "The address of the account."),
    (email_verified, "The owner of the address has confirmed it.")
);

struct MembershipResponse {
    Object<"membership"> object;
    Uuid id;
    Uuid org_id;
    std::string org_name;
    Uuid user_id;
    UserSummary user;
    OrgRole role{};
    MembershipStatus status{};
    std::optional<PrincipalRef> invited_by;
    Timestamp joined_at;
    std::optional<Timestamp> last_active_at;
    Timestamp created_time;
    Timestamp last_edited_time;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    MembershipResponse,
    (object, "Always \"membership\"."),
    (id, "The membership's id."),
    (org_id, "The workspace."),
    (org_name, "Its name."),
    (user_id, "The person."),
    (user, "The person, as far as fellow members see them."),
    (role, "What the person may do in the workspace."),
    (status, "`invited` until a person who was added directly has confirmed the address."),
    (invited_by, "Who invited the person; null for who created the workspace."),
    (joined_at, "Since when."),
    (last_active_at, "When the person was last seen in the workspace, give or take a minute."),
    (created_time, "When the membership was made."),
    (last_edited_time, "When it was last changed."),
    (version, "Rises by one with every change; also the ETag.")
);

enum class UserType { person, bot };
BOOST_DESCRIBE_ENUM(UserType, person, bot)

struct PersonDetails {
    Email email;
};
SVC_SHARED_RECORD(PersonDetails, (email, "The address of the account."));

enum class BotOwnerType { workspace };
BOOST_DESCRIBE_ENUM(BotOwnerType, workspace)

struct BotOwner {
    BotOwnerType type{};
    bool workspace = true;
};
SVC_SHARED_RECORD(
    BotOwner, (type, "Always \"workspace\"."), (workspace, "Always true: bots belong to no person.")
);

struct WorkspaceLimits {
    std::int64_t max_file_upload_size_in_bytes = 20 << 20;
};
SVC_SHARED_RECORD(
    WorkspaceLimits, (max_file_upload_size_in_bytes, "The largest file that is taken.")
);

struct BotDetails {
    BotOwner owner;
    Uuid workspace_id;
    std::string workspace_name;
    WorkspaceLimits workspace_limits;
};
SVC_SHARED_RECORD(
    BotDetails,
    (owner, "Who it belongs to."),
    (workspace_id, "The workspace it works in."),
    (workspace_name, "The name of that workspace."),
    (workspace_limits, "What it may do there.")
);

}  // namespace svc::orgs
