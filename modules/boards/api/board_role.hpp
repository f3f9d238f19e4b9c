#pragma once

/// The judgement of a caller's role on a board, as parts of a statement: literals, so that they
/// stand where the statement has them. `board_role()` of the migrations decides; here is what it
/// is given. All take the workspace as $1.

/// The role of `principal`, a caller of `kind` with `role` in the workspace, on a board of that
/// `visibility` and `creator`; null for a stranger. With the board's grant as `g`.
#define SVC_BOARD_ROLE_OF(principal, kind, role, visibility, creator)                           \
    "board_role(" principal ", " kind ", " role ", " visibility ", " creator ", g.role, " kind  \
    " = 'agent' AND EXISTS (SELECT FROM board_grants x WHERE x.org_id = $1 AND x.principal_id " \
    "= " principal "))"
/// The role of the caller, whom BoardCaller binds as $2 to $4.
#define SVC_BOARD_ROLE(visibility, creator) SVC_BOARD_ROLE_OF("$2", "$3", "$4", visibility, creator)

/// Joins what `principal` was granted on the board, as `g`.
#define SVC_BOARD_GRANT_OF(principal, board)                                    \
    "LEFT JOIN board_grants g ON g.org_id = $1 AND g.principal_id = " principal \
    " AND g.board_id = " board
#define SVC_BOARD_GRANT(board) SVC_BOARD_GRANT_OF("$2", board)
/// The same, looked up by key for each row whatever the planner expects (decision 18).
#define SVC_BOARD_GRANT_OF_BY_KEY(principal, board)                            \
    "LEFT JOIN LATERAL (SELECT x.role FROM board_grants x WHERE x.org_id = $1" \
    " AND x.principal_id = " principal " AND x.board_id = " board " OFFSET 0) g ON true"
#define SVC_BOARD_GRANT_BY_KEY(board) SVC_BOARD_GRANT_OF_BY_KEY("$2", board)
