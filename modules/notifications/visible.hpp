#pragma once

#include "modules/boards/api/board_role.hpp"

/// Which notifications somebody may see now, as parts of statements: whatever they might see when
/// they were told. $1 is the workspace, $2 to $4 the reader (boards::BoardCaller).

/// Whether `role` in the workspace is enough for `least`.
#define SVC_NOTIFIED_ROLE_OF(role, least)                                         \
    "CASE " least " WHEN 'owner' THEN " role " = 'owner' WHEN 'admin' THEN " role \
    " IN ('owner', 'admin') ELSE true END"
/// The same of the reader's.
#define SVC_NOTIFIED_ROLE(least) SVC_NOTIFIED_ROLE_OF("$4", least)

/// Joins the board `id` that is there and not in the trash as `b`, and what `principal` was granted
/// on it.
#define SVC_NOTIFIED_BOARD_OF(principal, id)                                   \
    "LEFT JOIN LATERAL (SELECT o.id, o.visibility, o.created_by FROM boards o" \
    " WHERE o.org_id = $1 AND o.id = " id                                      \
    " AND NOT o.in_trash OFFSET 0) b ON true " SVC_BOARD_GRANT_OF_BY_KEY(principal, "b.id")
/// The same of the reader.
#define SVC_NOTIFIED_BOARD(id) SVC_NOTIFIED_BOARD_OF("$2", id)
#define SVC_NOTIFIED_BOARD_SEEN \
    "(b.id IS NOT NULL AND " SVC_BOARD_ROLE("b.visibility", "b.created_by") " IS NOT NULL)"

/// Joins the card of a notification `n` as `k`, and its board. Cards stay on their boards.
#define SVC_NOTIFIED_PLACE                                                                 \
    "LEFT JOIN LATERAL (SELECT c.id FROM cards c WHERE c.org_id = $1 AND c.id = n.card_id" \
    " AND NOT c.in_trash OFFSET 0) k ON true " SVC_NOTIFIED_BOARD("n.board_id")
/// Whether a notification `n` may be seen whose place is joined so.
#define SVC_NOTIFICATION_SEEN                      \
    SVC_NOTIFIED_ROLE("n.least_role")              \
    " AND (n.card_id IS NULL OR k.id IS NOT NULL)" \
    " AND (n.board_id IS NULL OR " SVC_NOTIFIED_BOARD_SEEN ")"
