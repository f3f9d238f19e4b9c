#pragma once

#include "modules/boards/api/board_role.hpp"

/// Looking at queue columns, as parts of a statement: literals, of the workspace $1, for a caller
/// whom BoardCaller binds, with the column as `k`.

/// What the caller of a list may do on a board, which gives nothing for one they cannot see.
#define SVC_QUEUE_BOARD(board)                                                                    \
    "CROSS JOIN LATERAL (SELECT o.id, o.key, o.name, o.visibility, o.created_by, o.is_archived "  \
    "FROM boards o WHERE o.org_id = $1 AND o.id = " board                                         \
    " AND NOT o.in_trash OFFSET 0) b " SVC_BOARD_GRANT_BY_KEY("b.id")                             \
    " CROSS JOIN LATERAL (SELECT " SVC_BOARD_ROLE("b.visibility", "b.created_by")                 \
    " AS role OFFSET 0) r "

/// The ready cards of column k as `w`, if `condition` holds; so many are counted at most. The one
/// that waits longest is looked for among all, in the words of its index.
#define SVC_READY_CARDS(condition, most)                                                          \
    "CROSS JOIN LATERAL (SELECT (SELECT count(*) FROM (SELECT FROM queue q WHERE q.org_id = $1 "  \
    "AND q.column_id = k.id AND q.state = 'ready' AND NOT q.blocked AND " condition " LIMIT " most \
    ") c) AS ready, (SELECT q.queued_at FROM queue q WHERE q.org_id = $1 AND q.column_id = k.id "  \
    "AND CASE q.state WHEN 'ready' THEN NOT q.blocked END AND " condition                         \
    " ORDER BY q.queued_at LIMIT 1) AS oldest_queued_at OFFSET 0) w"

/// How many of the column's cards there are, ten thousand at most, for which `condition` holds.
#define SVC_CARDS_OF(condition)                                                         \
    "(SELECT count(*) FROM (SELECT FROM queue q WHERE q.org_id = $1 AND q.column_id = " \
    "k.id AND " condition " LIMIT 10000) c)"

/// The same for a caller whom SVC_QUEUE_BOARD lets see the board.
#define SVC_COUNT_OF(condition) SVC_CARDS_OF("r.role IS NOT NULL AND " condition)
