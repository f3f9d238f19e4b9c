#pragma once

#include "svc/types.hpp"

/// What a person chose for every workspace (contract section 6.5).
///
/// The column `users.preferences` holds what differs from the defaults below; reading it into a
/// Preferences fills in the rest, in any module that joins `users`.
namespace svc::auth {

enum class Theme { system, light, dark };
BOOST_DESCRIBE_ENUM(Theme, system, light, dark)

enum class Density { comfortable, compact };
BOOST_DESCRIBE_ENUM(Density, comfortable, compact)

enum class WeekStart { monday, sunday, saturday };
BOOST_DESCRIBE_ENUM(WeekStart, monday, sunday, saturday)

enum class TimeFormat { h24, h12 };
BOOST_DESCRIBE_ENUM(TimeFormat, h24, h12)

enum class EmailDigest { off, daily, weekly };
BOOST_DESCRIBE_ENUM(EmailDigest, off, daily, weekly)

/// How a person hears of one kind of thing.
struct NotificationChannels {
    bool in_app = true;
    bool email = false;
    bool operator==(const NotificationChannels&) const = default;
};
SVC_SHARED_RECORD(
    NotificationChannels,
    (in_app, "In the list of notifications.", defaulted),
    (email, "By mail.", defaulted)
);

/// One for each kind of notification. By mail comes what waits for an answer or stands still
/// without one, unless the person chose otherwise.
struct NotificationChoices {
    NotificationChannels mention{true, true};
    NotificationChannels assigned{true, true};
    NotificationChannels comment{true, false};
    NotificationChannels moved{true, false};
    NotificationChannels due{true, true};
    NotificationChannels invitation{true, true};
    NotificationChannels membership{true, false};
    NotificationChannels lease_failed{true, false};
    NotificationChannels lease_expired{true, false};
    NotificationChannels exhausted{true, true};
    NotificationChannels automation_failed{true, true};
    NotificationChannels agent_disabled{true, true};
    NotificationChannels webhook_disabled{true, true};
    NotificationChannels billing{true, true};
    NotificationChannels feedback{true, true};
    NotificationChannels system{true, false};
    bool operator==(const NotificationChoices&) const = default;
};
SVC_SHARED_RECORD(
    NotificationChoices,
    (mention, "Somebody mentioned you.", defaulted),
    (assigned, "A card was assigned to you.", defaulted),
    (comment, "Somebody commented on a card you watch, or that is yours.", defaulted),
    (moved, "Somebody moved a card you watch, or that is yours, to another column.", defaulted),
    (due, "A card of yours is due soon.", defaulted),
    (invitation,
     "You were invited to a workspace. The invitation itself is mailed whatever you chose.",
     defaulted),
    (membership, "You were added to a workspace, or have another role in it.", defaulted),
    (lease_failed, "A worker failed on a card you watch, or that is yours.", defaulted),
    (lease_expired,
     "A worker let its lease run out on a card you watch, or that is yours.",
     defaulted),
    (exhausted, "A card you watch, or that is yours, has used up its attempts.", defaulted),
    (automation_failed,
     "An automation of a workspace you administer failed, or was disabled.",
     defaulted),
    (agent_disabled,
     "An agent of yours, or of a workspace you administer, was disabled or has used up its "
     "budget.",
     defaulted),
    (webhook_disabled, "A webhook of a workspace you administer was disabled.", defaulted),
    (billing, "Something about the bill of a workspace you own.", defaulted),
    (feedback, "A report of yours has another state, or was replied to.", defaulted),
    (system, "News of the service itself.", defaulted)
);

inline constexpr std::string_view locale_pattern = "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$";

struct Preferences {
    Theme theme = Theme::system;
    Density density = Density::comfortable;
    std::string locale = "en";
    std::string timezone = "UTC";
    WeekStart week_start = WeekStart::monday;
    TimeFormat time_format = TimeFormat::h24;
    bool reduced_motion = false;
    bool keyboard_shortcuts = true;
    bool surveys_opt_out = false;
    EmailDigest email_digest = EmailDigest::weekly;
    std::int64_t digest_hour = 8;
    NotificationChoices notifications;
    bool operator==(const Preferences&) const = default;
};
SVC_SHARED_RECORD(
    Preferences,
    (theme, "Light, dark, or as the system is.", defaulted),
    (density, "How close things stand.", defaulted),
    (locale, "Preferred language, such as `en` or `de-CH` (BCP 47).", defaulted),
    (timezone, "Preferred time zone, such as `Europe/Zurich` (IANA).", defaulted),
    (week_start, "The first day of the week.", defaulted),
    (time_format, "The clock: 24 or 12 hours.", defaulted),
    (reduced_motion, "Nothing moves that need not.", defaulted),
    (keyboard_shortcuts, "Enables single-key shortcuts.", defaulted),
    (surveys_opt_out, "No survey ever asks.", defaulted),
    (email_digest,
     "How often unread notifications are summed up in a mail, one for each workspace: `daily`, or "
     "`weekly` on the first day of the week. Nothing is sent when there are none.",
     defaulted),
    (digest_hour, "The hour, in your time zone, at which that mail is sent.", defaulted),
    (notifications, "How you are notified, by kind.", defaulted)
);

}  // namespace svc::auth
