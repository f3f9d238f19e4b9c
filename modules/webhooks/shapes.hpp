#pragma once

#include "svc/caller.hpp"

/// Webhooks and their deliveries as they are shown (contract sections 6.25 and 6.26).
namespace svc::webhooks {

enum class WebhookStatus { active, paused, disabled };
BOOST_DESCRIBE_ENUM(WebhookStatus, active, paused, disabled)

struct WebhookResponse {
    Object<"webhook"> object;
    Uuid id;
    Uuid org_id;
    std::optional<Uuid> board_id;
    std::optional<std::string> name;
    std::string url;
    std::vector<std::string> events;
    WebhookStatus status = WebhookStatus::active;
    std::optional<std::string> disabled_reason;
    std::string secret_hint;
    std::optional<Timestamp> old_secret_until;
    std::int64_t consecutive_failures = 0;
    std::optional<Timestamp> last_success_at, last_failure_at;
    std::int64_t dropped_count = 0;
    Timestamp created_time;
    PrincipalRef created_by;
    Timestamp last_edited_time;
    PrincipalRef last_edited_by;
    std::int64_t version = 1;
    std::optional<std::string> secret;
};
SVC_SHARED_RECORD(
    WebhookResponse,
    (object, "Always \"webhook\"."),
    (id, "The webhook's id."),
    (org_id, "The workspace it is in."),
    (board_id, "The board whose events it gets; null: the whole workspace's."),
    (name, "What it is for; null when not given."),
    (url, "Where events are sent to."),
    (events, "Which kinds: `card.moved`, all of a noun by `card.*`, or `*`."),
    (status,
     "Events are sent while it is `active`. Those of a `paused` one, and of one that was "
     "`disabled` "
     "because its endpoint failed, are held, and sent once it is active again."),
    (disabled_reason, "Why it was disabled; null when it is not."),
    (secret_hint, "The last four characters of its secret."),
    (old_secret_until,
     "Until when the secret of before signs beside the new one; null when it does not."),
    (consecutive_failures, "Attempts that failed since the last that succeeded."),
    (last_success_at, "When an event was last taken; null when none was."),
    (last_failure_at, "When an attempt last failed; null when none did."),
    (dropped_count, "Deliveries that were dropped, for more waited than may be held."),
    (created_time, "When it was made."),
    (created_by, "Who made it."),
    (last_edited_time, "When it was last changed."),
    (last_edited_by, "Who changed it last."),
    (version, "Rises by one with every change; also the ETag."),
    (secret,
     "What deliveries are signed with. Shown once, in the answer that made or rotated it.",
     omit_empty,
     secret)
);

enum class DeliveryStatus { pending, succeeded, failed, abandoned };
BOOST_DESCRIBE_ENUM(DeliveryStatus, pending, succeeded, failed, abandoned)

struct DeliveryAttempt {
    std::int64_t number = 1;
    Timestamp at;
    std::optional<std::int64_t> status_code;
    std::optional<std::string> error;
    std::int64_t duration_ms = 0;
};
SVC_SHARED_RECORD(
    DeliveryAttempt,
    (number, "1 for the first; sent as X-Svc-Attempt."),
    (at, "When it ended."),
    (status_code, "What the endpoint answered; null when it did not."),
    (error, "Why it failed; null when it did not."),
    (duration_ms, "How long it took.")
);

/// Of a delivery so many are kept.
inline constexpr std::size_t most_attempts_kept = 10;

struct DeliveryResponse {
    Object<"webhook_delivery"> object;
    Uuid id;
    Uuid webhook_id;
    Uuid event_id;
    std::string kind;
    DeliveryStatus status = DeliveryStatus::pending;
    std::int64_t attempt_count = 0;
    std::optional<Timestamp> next_attempt_at;
    std::vector<DeliveryAttempt> attempts;
    std::optional<std::string> response_excerpt;
    Timestamp created_time;
};
SVC_SHARED_RECORD(
    DeliveryResponse,
    (object, "Always \"webhook_delivery\"."),
    (id, "The delivery's id; sent as X-Svc-Delivery-Id, the same at every attempt."),
    (webhook_id, "The webhook."),
    (event_id, "The event; sent as X-Svc-Event-Id."),
    (kind, "The event's kind."),
    (status,
     "`pending`: not tried yet. `failed`: tried, and will be again. `abandoned`: given up; "
     "redeliver_webhook makes it once more."),
    (attempt_count, "How often it was tried."),
    (next_attempt_at,
     "When it is due; later while the endpoint keeps failing, and not before the webhook is active "
     "again. Null when it is done with."),
    (attempts, "The latest attempts, oldest first.", length(0, most_attempts_kept)),
    (response_excerpt, "The beginning of what was answered last; null when nothing was."),
    (created_time, "When the event was recorded for this webhook.")
);

}  // namespace svc::webhooks
