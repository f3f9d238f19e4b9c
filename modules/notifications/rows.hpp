#pragma once

#include "modules/notifications/shapes.hpp"
#include "svc/kernel.hpp"

namespace svc::notifications {

/// The columns of a NotificationRow, of a row `n` of notifications; `epoch` and `read_all_at` of
/// its inbox.
#define SVC_NOTIFICATION(epoch, read_all_at)                                                    \
    "n.org_id, n.user_id, n.id, n.kind, n.title, n.body, n.actor, n.target_type, n.target_id, " \
    "n.board_id, n.card_id, n.event_id, n.event_count, n.created_time, "                        \
    "coalesce(n.read_at, CASE WHEN n.epoch < " epoch                                            \
    " THEN "                                                                                    \
    "coalesce(" read_all_at ", now()) END) AS read_at"

/// The same of a row `p` of personal_notifications.
#define SVC_PERSONAL_NOTIFICATION                                                               \
    "p.about_org AS org_id, p.user_id, p.id, p.kind, p.title, p.body, p.actor, p.target_type, " \
    "p.target_id, NULL::uuid AS board_id, NULL::uuid AS card_id, p.event_id, "                  \
    "1::bigint AS event_count, p.created_time, p.read_at"

struct NotificationRow {
    Uuid org_id, user_id, id;
    NotificationKind kind{};
    std::string title;
    std::optional<std::string> body;
    std::optional<PrincipalRef> actor;
    std::string target_type;
    Uuid target_id;
    std::optional<Uuid> board_id, card_id, event_id;
    std::int64_t event_count = 1;
    Timestamp created_time;
    std::optional<Timestamp> read_at;
};
SVC_SHARED_RECORD(
    NotificationRow,
    (org_id),
    (user_id),
    (id),
    (kind),
    (title),
    (body),
    (actor),
    (target_type),
    (target_id),
    (board_id),
    (card_id),
    (event_id),
    (event_count),
    (created_time),
    (read_at)
);

NotificationResponse shown(const Kernel& kernel, NotificationRow row);

}  // namespace svc::notifications
