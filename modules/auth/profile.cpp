// How a person shows to others, and what they say of themselves.

#include "modules/auth/api.hpp"
#include "modules/auth/users.hpp"
#include "modules/orgs/api.hpp"
#include "modules/orgs/api/directory_writes.hpp"

namespace svc::auth {

namespace {

constexpr EventKind profile_changed{
    .name = "account.profile_changed",
    .object = "user",
    .summary = "Somebody has changed their profile.",
};

constexpr Sql find_profile{"auth.find_profile", R"(
    SELECT id AS user_id, name, avatar_url, avatar_file_id, job_title, bio, pronouns, location,
        links, created_time, last_edited_time, version
    FROM users WHERE id = $1)"};

constexpr Sql find_agents_profile{"auth.find_agents_profile", R"(
    SELECT id AS user_id, name, avatar_url, NULL AS avatar_file_id, NULL AS job_title,
        NULL AS bio, NULL AS pronouns, NULL AS location, '[]' AS links, created_time,
        last_edited_time, version
    FROM principals WHERE org_id = $1 AND id = $2)"};

constexpr Sql lock_account{"auth.lock_account", R"(
    SELECT now() AS now FROM users WHERE id = $1 FOR NO KEY UPDATE)"};

constexpr Sql list_own_orgs{"auth.list_own_orgs", R"(
    SELECT org_id FROM memberships WHERE user_id = $1 ORDER BY org_id)"};

struct LockedAccount {
    Timestamp now;
};
SVC_RECORD(LockedAccount, (now));

struct OwnOrg {
    Uuid org_id;
};
SVC_RECORD(OwnOrg, (org_id));

struct UserProfileResponse {
    Object<"user_profile"> object;
    Uuid user_id;
    std::optional<std::string> name;
    std::optional<Url> avatar_url;
    std::optional<Uuid> avatar_file_id;
    std::optional<std::string> job_title;
    std::optional<std::string> bio;
    std::optional<std::string> pronouns;
    std::optional<std::string> location;
    std::vector<Url> links;
    Timestamp created_time;
    Timestamp last_edited_time;
    std::int64_t version = 1;
};
SVC_RECORD(
    UserProfileResponse,
    (object, "Always \"user_profile\"."),
    (user_id, "Id of the person or agent."),
    (name, "As people see it; null when none was given."),
    (avatar_url, "A picture; null when there is none."),
    (avatar_file_id, "The uploaded file that the picture is; null when it is none."),
    (job_title, "What the person does; null when not said."),
    (bio, "A few words about the person; null when not said."),
    (pronouns, "How to speak of the person; null when not said."),
    (location, "Where the person is; null when not said."),
    (links, "Where to read more."),
    (created_time, "When the account was made."),
    (last_edited_time, "When the account was last changed."),
    (version, "The account's version: rises by one with every change; also the ETag.")
);

// ------------------------------------------------------------------------------ read

UserProfileResponse get(Call& call, const Nothing&) {
    const Caller& caller = call.caller();
    auto found =
        caller.is_person()
            ? call.tx().one<UserProfileResponse>(find_profile, caller.id)
            : call.tx().one<UserProfileResponse>(find_agents_profile, call.org(), caller.id);
    if (!found) not_found("account");
    return *std::move(found);
}

const Operation get_my_profile{
    .name = "get_my_profile",
    .route = "GET /v1/me/profile",
    .summary = "Read your profile: how you show to others.",
    .description = "An agent's has a name and a picture, which its workspace gives it.",
    .access = Access::me,
    .handler = get,
};

// ---------------------------------------------------------------------------- change

struct UpdateProfileRequest {
    Patch<std::string> name;
    Patch<std::optional<Uuid>> avatar_file_id;
    Patch<std::optional<std::string>> job_title;
    Patch<std::optional<std::string>> bio;
    Patch<std::optional<std::string>> pronouns;
    Patch<std::optional<std::string>> location;
    Patch<std::vector<Url>> links;
};
SVC_RECORD(
    UpdateProfileRequest,
    (name, "As people will see you, in every workspace.", length(1, 120), trimmed),
    (avatar_file_id, "A picture that you have uploaded; null for none."),
    (job_title, "What you do; null clears it.", length(0, 120), trimmed),
    (bio, "A few words about you; null clears them.", length(0, 2000)),
    (pronouns, "How to speak of you; null clears it.", length(0, 40), trimmed),
    (location, "Where you are; null clears it.", length(0, 120), trimmed),
    (links, "Where to read more, in place of what is there.", length(0, 5))
);

void apply(Call& call, const UpdateProfileRequest& in, UserProfileResponse& to) {
    if (in.name.given()) to.name = in.name.value();
    in.job_title.apply_to(to.job_title);
    in.bio.apply_to(to.bio);
    in.pronouns.apply_to(to.pronouns);
    in.location.apply_to(to.location);
    in.links.apply_to(to.links);
    if (!in.avatar_file_id.given() || in.avatar_file_id.value() == to.avatar_file_id) return;
    to.avatar_file_id = in.avatar_file_id.value();
    to.avatar_url.reset();
    if (!to.avatar_file_id) return;
    if (auto* pictures = call.kernel().find<Pictures>())
        to.avatar_url = pictures->address_of(call, *to.avatar_file_id);
    if (!to.avatar_url)
        throw wrong_field(call, "avatar_file_id", "you have uploaded no such picture");
}

void write(Call& call, const UserProfileResponse& profile) {
    JsonText links{""};
    Json<std::vector<Url>>::write(profile.links, links.text);
    orgs::set_look(
        call.tx(),
        profile.user_id,
        {.shown = {profile.name, profile.avatar_url},
         .avatar_file_id = profile.avatar_file_id,
         .job_title = profile.job_title,
         .bio = profile.bio,
         .pronouns = profile.pronouns,
         .location = profile.location,
         .links = links.text}
    );
}

/// The workspaces know the person by the new name and picture too.
void show_everywhere(
    Call& call,
    const std::vector<OwnOrg>& orgs,
    const UserProfileResponse& before,
    const UserProfileResponse& profile
) {
    const bool renamed = profile.name != before.name;
    if (!renamed && profile.avatar_url == before.avatar_url) return;
    Tx& tx = call.tx();
    auto* token_holders = renamed ? call.kernel().find<orgs::TokenHolders>() : nullptr;
    std::vector<std::function<bool()>> with_tokens;
    for (const OwnOrg& each : orgs) {
        tx.set_scope(each.org_id, profile.user_id);
        orgs::update_principal(
            tx, each.org_id, profile.user_id, {profile.name, profile.avatar_url}
        );
        if (token_holders)
            with_tokens.push_back(token_holders->has_tokens(tx, each.org_id, profile.user_id));
    }
    // Callers by token are known by their name; a session reads it with every request, and nobody's
    // rights hang on a picture.
    for (std::size_t i = 0; i < with_tokens.size(); ++i) {
        if (!with_tokens[i]()) continue;
        tx.set_scope(orgs[i].org_id, profile.user_id);
        call.use<orgs::Directory>().bump_security_epoch(tx, orgs[i].org_id);
    }
    tx.set_scope(call.caller().org_id, call.caller().user_id);
}

Event entry_of(const UserProfileResponse& before, const UserProfileResponse& after) {
    Event event{
        .kind = &profile_changed,
        .id = after.user_id,
        .version = after.version,
        .name = after.name};
    write_difference(
        record_of<UserProfileResponse>(), &before, &after, event.changes, event.previous
    );
    return event;
}

UserProfileResponse update(Call& call, const UpdateProfileRequest& in) {
    Tx& tx = call.tx();
    const Uuid& person = person_of(call).id;
    auto locked = tx.later<LockedAccount>(lock_account, person);
    auto found = tx.later<UserProfileResponse>(find_profile, person);
    auto orgs = tx.later<OwnOrg>(list_own_orgs, person);
    const auto before = found.one();
    if (!before) not_found("account");
    call.require_version(before->version);
    UserProfileResponse after = *before;
    apply(call, in, after);
    if (to_json(after) == to_json(*before)) return after;
    after.last_edited_time = locked.one_or_retry().now;
    ++after.version;
    write(call, after);
    note_in_audit(call, entry_of(*before, after));
    show_everywhere(call, orgs.all(), *before, after);
    return after;
}

const Operation update_my_profile{
    .name = "update_my_profile",
    .route = "PATCH /v1/me/profile",
    .summary = "Change your profile.",
    .description =
        "Changes only the fields that are sent; null clears, except the name. Every workspace you "
        "are in shows the new name and picture. An agent's profile is its workspace's to change "
        "(403).",
    .access = Access::me,
    .guards = {orgs::refuse_reading_tokens},
    .for_people = true,
    .idempotent = true,
    .versioned = true,
    .handler = update,
};

}  // namespace

void add_profile_operations(Kernel& kernel) {
    kernel.add(get_my_profile);
    kernel.add(update_my_profile);
}

}  // namespace svc::auth
