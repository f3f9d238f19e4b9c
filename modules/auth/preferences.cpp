// What a person chose, for every workspace and every device.

#include "modules/auth/preferences.hpp"
#include "modules/orgs/api/directory_writes.hpp"

#include "modules/auth/lib/time_zone.hpp"
#include "modules/auth/users.hpp"
#include "modules/orgs/api.hpp"

#include <utility>

namespace svc::auth {

namespace {

constexpr EventKind preferences_changed{
    .name = "account.preferences_changed",
    .object = "user",
    .summary = "Somebody has changed their preferences; the values are private.",
};

constexpr Sql find_preferences{"auth.find_preferences", R"(
    SELECT preferences AS chosen, last_edited_time, version, now() AS now
    FROM users WHERE id = $1)"};

constexpr Sql lock_preferences{"auth.lock_preferences", R"(
    SELECT preferences AS chosen, last_edited_time, version, now() AS now
    FROM users WHERE id = $1
    FOR NO KEY UPDATE)"};

struct Row {
    Preferences chosen;
    Timestamp last_edited_time;
    std::int64_t version = 1;
    Timestamp now;
};
SVC_RECORD(Row, (chosen), (last_edited_time), (version), (now));

struct UserPreferencesResponse {
    Object<"user_preferences"> object;
    Uuid user_id;
    Preferences chosen;
    Timestamp last_edited_time;
    std::int64_t version = 1;
};
SVC_RECORD(
    UserPreferencesResponse,
    (object, "Always \"user_preferences\"."),
    (user_id, "Whose they are."),
    (chosen, "", flatten),
    (last_edited_time, "When the account was last changed."),
    (version, "The account's version: rises by one with every change; also the ETag.")
);

UserPreferencesResponse answer_of(const Uuid& person, Row row) {
    return {{}, person, std::move(row.chosen), row.last_edited_time, row.version};
}

// ------------------------------------------------------------------------------ read

/// An agent chose nothing; what holds for it are the defaults.
UserPreferencesResponse of_agent(Call& call) {
    return answer_of(call.caller().id, {.chosen = {}, .last_edited_time = {}, .now = {}});
}

UserPreferencesResponse get(Call& call, const Nothing&) {
    const Caller& caller = call.caller();
    if (!caller.is_person()) return of_agent(call);
    auto row = call.tx().one<Row>(find_preferences, caller.id);
    if (!row) not_found("account");
    return answer_of(caller.id, *std::move(row));
}

const Operation get_my_preferences{
    .name = "get_my_preferences",
    .route = "GET /v1/me/preferences",
    .summary = "Read your preferences.",
    .description = "They are yours in every workspace. An agent has the defaults.",
    .access = Access::me,
    .handler = get,
};

// ---------------------------------------------------------------------------- change

struct UpdateChannels {
    Patch<bool> in_app;
    Patch<bool> email;
};
SVC_RECORD(UpdateChannels, (in_app, "In the list of notifications."), (email, "By mail."));

struct UpdateNotifications {
    Patch<UpdateChannels> mention, assigned, comment, moved, due, invitation, membership,
        lease_failed, lease_expired, exhausted, automation_failed, agent_disabled, webhook_disabled,
        billing, feedback, system;
};
SVC_RECORD(
    UpdateNotifications,
    (mention, "Somebody mentioned you."),
    (assigned, "A card was assigned to you."),
    (comment, "Somebody commented on a card you watch, or that is yours."),
    (moved, "Somebody moved a card you watch, or that is yours, to another column."),
    (due, "A card of yours is due soon."),
    (invitation,
     "You were invited to a workspace. The invitation itself is mailed whatever you chose."),
    (membership, "You were added to a workspace, or have another role in it."),
    (lease_failed, "A worker failed on a card you watch, or that is yours."),
    (lease_expired, "A worker let its lease run out on a card you watch, or that is yours."),
    (exhausted, "A card you watch, or that is yours, has used up its attempts."),
    (automation_failed, "An automation of a workspace you administer failed, or was disabled."),
    (agent_disabled,
     "An agent of yours, or of a workspace you administer, was disabled or has used up its "
     "budget."),
    (webhook_disabled, "A webhook of a workspace you administer was disabled."),
    (billing, "Something about the bill of a workspace you own."),
    (feedback, "A report of yours has another state, or was replied to."),
    (system, "News of the service itself.")
);

struct UpdatePreferencesRequest {
    Patch<Theme> theme;
    Patch<Density> density;
    Patch<std::string> locale;
    Patch<std::string> timezone;
    Patch<WeekStart> week_start;
    Patch<TimeFormat> time_format;
    Patch<bool> reduced_motion;
    Patch<bool> keyboard_shortcuts;
    Patch<bool> surveys_opt_out;
    Patch<EmailDigest> email_digest;
    Patch<std::int64_t> digest_hour;
    Patch<UpdateNotifications> notifications;
};
SVC_RECORD(
    UpdatePreferencesRequest,
    (theme, "Light, dark, or as the system is."),
    (density, "How close things stand."),
    (locale,
     "Preferred language, such as `en` or `de-CH` (BCP 47).",
     length(2, 35),
     matches(locale_pattern)),
    (timezone,
     "Preferred time zone, such as `Europe/Zurich` (IANA).",
     length(1, 64),
     matches(time_zone_pattern)),
    (week_start, "The first day of the week."),
    (time_format, "The clock: 24 or 12 hours."),
    (reduced_motion, "Nothing moves that need not."),
    (keyboard_shortcuts, "Enables single-key shortcuts."),
    (surveys_opt_out, "No survey ever asks."),
    (email_digest,
     "How often unread notifications are summed up in a mail, one for each workspace: `daily`, or "
     "`weekly` on the first day of the week."),
    (digest_hour, "The hour, in your time zone, at which that mail is sent.", range(0, 23)),
    (notifications, "How you are notified, by kind; kinds that are left out stay as they are.")
);

using ChannelsMember = Patch<UpdateChannels> UpdateNotifications::*;
using Choice = NotificationChannels NotificationChoices::*;
using PreferencesIn = UpdateNotifications;
using ChoiceIn = NotificationChoices;
constexpr std::pair<ChannelsMember, Choice> kinds[] = {
    {&PreferencesIn::mention, &ChoiceIn::mention},
    {&PreferencesIn::assigned, &ChoiceIn::assigned},
    {&PreferencesIn::comment, &ChoiceIn::comment},
    {&PreferencesIn::moved, &ChoiceIn::moved},
    {&PreferencesIn::due, &ChoiceIn::due},
    {&PreferencesIn::invitation, &ChoiceIn::invitation},
    {&PreferencesIn::membership, &ChoiceIn::membership},
    {&PreferencesIn::lease_failed, &ChoiceIn::lease_failed},
    {&PreferencesIn::lease_expired, &ChoiceIn::lease_expired},
    {&PreferencesIn::exhausted, &ChoiceIn::exhausted},
    {&PreferencesIn::automation_failed, &ChoiceIn::automation_failed},
    {&PreferencesIn::agent_disabled, &ChoiceIn::agent_disabled},
    {&PreferencesIn::webhook_disabled, &ChoiceIn::webhook_disabled},
    {&PreferencesIn::billing, &ChoiceIn::billing},
    {&PreferencesIn::feedback, &ChoiceIn::feedback},
    {&PreferencesIn::system, &ChoiceIn::system},
};

void apply(const UpdatePreferencesRequest& in, Preferences& to) {
    in.theme.apply_to(to.theme);
    in.density.apply_to(to.density);
    in.locale.apply_to(to.locale);
    in.timezone.apply_to(to.timezone);
    in.week_start.apply_to(to.week_start);
    in.time_format.apply_to(to.time_format);
    in.reduced_motion.apply_to(to.reduced_motion);
    in.keyboard_shortcuts.apply_to(to.keyboard_shortcuts);
    in.surveys_opt_out.apply_to(to.surveys_opt_out);
    in.email_digest.apply_to(to.email_digest);
    in.digest_hour.apply_to(to.digest_hour);
    if (!in.notifications.given()) return;
    for (const auto& [channels, choice] : kinds) {
        const auto& wanted = in.notifications.value().*channels;
        if (!wanted.given()) continue;
        wanted.value().in_app.apply_to((to.notifications.*choice).in_app);
        wanted.value().email.apply_to((to.notifications.*choice).email);
    }
}

/// What a later default may change without overruling anybody.
JsonText differing_from_defaults(const Preferences& chosen) {
    const Preferences defaults;
    JsonText changes;
    std::string previous;
    write_difference(record_of<Preferences>(), &defaults, &chosen, changes.text, previous);
    return changes;
}

void write(const Kernel& kernel, Tx& tx, const Uuid& person, const Preferences& chosen) {
    orgs::set_preferences(tx, person, differing_from_defaults(chosen).text);
    if (auto* watcher = kernel.find<PreferencesWatcher>()) watcher->changed(tx, person, chosen);
}

UserPreferencesResponse update(Call& call, const UpdatePreferencesRequest& in) {
    if (in.timezone.given() && !is_time_zone(in.timezone.value()))
        throw wrong_field(call, "timezone", "there is no such time zone");
    const Uuid& person = person_of(call).id;
    auto row = call.tx().one<Row>(lock_preferences, person);
    if (!row) not_found("account");
    call.require_version(row->version);
    const Preferences before = row->chosen;
    apply(in, row->chosen);
    if (row->chosen != before) {
        write(call.kernel(), call.tx(), person, row->chosen);
        row->last_edited_time = row->now;
        ++row->version;
        note_in_audit(call, {.kind = &preferences_changed, .id = person, .version = row->version});
    }
    return answer_of(person, *std::move(row));
}

const Operation update_my_preferences{
    .name = "update_my_preferences",
    .route = "PATCH /v1/me/preferences",
    .summary = "Change your preferences.",
    .description = "Changes only what is sent, of `notifications` too. An agent has none (403).",
    .access = Access::me,
    .guards = {orgs::refuse_reading_tokens},
    .for_people = true,
    .idempotent = true,
    .versioned = true,
    .handler = update,
};

}  // namespace

bool PreferencesOfPeople::change(
    Tx& tx, const Uuid& person, const std::function<void(Preferences&)>& edit
) {
    auto row = tx.one<Row>(lock_preferences, person);
    if (!row) return false;
    const Preferences before = row->chosen;
    edit(row->chosen);
    if (row->chosen != before) write(kernel_, tx, person, row->chosen);
    return true;
}

void add_preferences_operations(Kernel& kernel) {
    kernel.add(get_my_preferences);
    kernel.add(update_my_preferences);
}

}  // namespace svc::auth
