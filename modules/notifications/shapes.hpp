#pragma once

#include "svc/caller.hpp"

/// Notifications as they are shown (contract sections 6.10 to 6.12).
namespace svc::notifications {

/// One for each choice in a person's preferences.
enum class NotificationKind {
    mention,
    assigned,
    comment,
    moved,
    due,
    invitation,
    membership,
    lease_failed,
    lease_expired,
    exhausted,
    automation_failed,
    agent_disabled,
    webhook_disabled,
    billing,
    feedback,
    system,
};
BOOST_DESCRIBE_ENUM(
    NotificationKind,
    mention,
    assigned,
    comment,
    moved,
    due,
    invitation,
    membership,
    lease_failed,
    lease_expired,
    exhausted,
    automation_failed,
    agent_disabled,
    webhook_disabled,
    billing,
    feedback,
    system
)

struct NotificationTarget {
    std::string type;
    Uuid id;
    std::optional<Uuid> board_id, card_id;
    std::string url;
};
SVC_SHARED_RECORD(
    NotificationTarget,
    (type, "What it is: `card`, `comment`, `block`, `agent`, `webhook`, `invitation` …"),
    (id, "Its id."),
    (board_id, "The board it is on; null when it is on none."),
    (card_id, "The card it is or belongs to; null when there is none."),
    (url, "Where people see it.")
);

struct NotificationResponse {
    Object<"notification"> object;
    Uuid id;
    Uuid org_id;
    Uuid user_id;
    NotificationKind kind{};
    std::string title;
    std::optional<std::string> body;
    std::optional<PrincipalRef> actor;
    std::optional<NotificationTarget> target;
    std::optional<Uuid> event_id;
    std::int64_t event_count = 1;
    bool read = false;
    std::optional<Timestamp> read_at;
    Timestamp created_time;
};
SVC_SHARED_RECORD(
    NotificationResponse,
    (object, "Always \"notification\"."),
    (id, "The notification's id."),
    (org_id, "The workspace it is about."),
    (user_id, "Whose it is: you."),
    (kind, "What sort of news it is: the name of a choice in your preferences."),
    (title, "What happened, in one line.", length(1, 200)),
    (body, "More of it, such as what a comment says; null when there is no more.", length(0, 2000)),
    (actor, "Who did it, under the name they had then; null when nobody did."),
    (target, "What it is about."),
    (event_id, "The event it tells of, the newest of several; null when it tells of none."),
    (event_count,
     "How many things it tells of. Until you read it, what else of its kind happens to the same "
     "card is added to it, and it comes first again."),
    (read, "Whether you have read it."),
    (read_at, "When you read it; null when you have not."),
    (created_time, "When the newest of what it tells of happened.")
);

struct UnreadCountResponse {
    Object<"unread_count"> object;
    std::optional<Uuid> org_id;
    std::int64_t unread_count = 0;
};
SVC_SHARED_RECORD(
    UnreadCountResponse,
    (object, "Always \"unread_count\"."),
    (org_id, "The workspace; null when you are in none."),
    (unread_count, "How many notifications that you may see you have not read.")
);

struct NotificationsRead {
    Object<"notifications_read"> object;
    std::optional<Uuid> org_id;
    std::int64_t updated_count = 0;
    std::int64_t unread_count = 0;
    Timestamp read_at;
};
SVC_SHARED_RECORD(
    NotificationsRead,
    (object, "Always \"notifications_read\"."),
    (org_id, "The workspace; null when you are in none."),
    (updated_count, "How many of those that you may see were unread before."),
    (unread_count, "How many are unread now: 0."),
    (read_at, "When they were marked.")
);

}  // namespace svc::notifications
