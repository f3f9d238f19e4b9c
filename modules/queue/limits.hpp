#pragma once

/// What a queue column and an agent are held to, as parts of a statement: literals, with the column
/// as `k` of the workspace $1, the caller as BoardCaller binds it, and `a` as SVC_MAX_LEASES joins
/// it.

/// How many leases the caller may have at a time, as `a.max_leases`; null: any number.
#define SVC_MAX_LEASES                                                                  \
    "CROSS JOIN LATERAL (SELECT CASE WHEN $3 = 'agent' THEN (SELECT g.max_leases FROM " \
    "agents g WHERE g.org_id = $1 AND g.id = $2) END AS max_leases OFFSET 0) a"

/// How many leases more there may be for which `condition` holds, of `most`. Those of the workspace
/// are gone through, which are as many as there are workers: an index by column or holder would be
/// written by every claim.
#define SVC_LEASES_LEFT(condition, most)                                                         \
    "greatest(" most " - (SELECT count(*) FROM (SELECT FROM queue i WHERE i.org_id = $1 AND "    \
    "i.lease_id IS NOT NULL AND " condition " LIMIT " most ") n), 0)"
#define SVC_SLOTS_LEFT SVC_LEASES_LEFT("i.column_id = k.id", "k.max_in_flight")
#define SVC_AGENTS_LEASES_LEFT SVC_LEASES_LEFT("i.holder_id = $2", "a.max_leases")

/// Whether the board has a column with a hard limit.
#define SVC_HAS_HARD_LIMITS                                                                       \
    "EXISTS (SELECT FROM columns l WHERE l.org_id = $1 AND l.board_id = k.board_id AND "          \
    "l.wip_policy = 'hard' AND l.wip_limit IS NOT NULL AND NOT l.in_trash)"
/// Whether the column that completed cards go to takes no more; null where the board has no such
/// limit, as most, which one look says.
#define SVC_TARGET_IS_FULL                                                                        \
    "CASE WHEN " SVC_HAS_HARD_LIMITS " THEN coalesce((SELECT "                                    \
    "(SELECT count(*) FROM (SELECT FROM cards c WHERE c.org_id = $1 AND c.column_id = t.id AND "  \
    "NOT c.is_archived AND NOT c.in_trash LIMIT t.wip_limit) n) >= t.wip_limit FROM column_turns " \
    "u CROSS JOIN LATERAL (SELECT o.id, o.wip_limit FROM columns o WHERE o.org_id = $1 AND o.id " \
    "= u.completed_id AND o.wip_policy = 'hard' AND o.wip_limit IS NOT NULL AND NOT o.in_trash "  \
    "OFFSET 0) t WHERE u.org_id = $1 AND u.id = k.id), false) END"
