#include "modules/queue/taking_statements.hpp"

#include "modules/boards/api/access.hpp"
#include "modules/orgs/api/caller_holds.hpp"
#include "modules/queue/limits.hpp"
#include "modules/queue/rights.hpp"
#include "svc/event_row.hpp"

namespace svc::queue {

namespace {

#define SVC_TAKEN_NUMBERS(text)                                                           \
    SVC_FILL(                                                                             \
        SVC_FILL(SVC_FILL(text, "attempt", "t.attempt::text"), "epoch", "t.epoch::text"), \
        "lease_ttl_seconds",                                                              \
        "t.lease_ttl_seconds::text"                                                       \
    )
#define SVC_TAKEN_TIMES(text)                                        \
    SVC_FILL(                                                        \
        SVC_FILL(text, "claimed_at", SVC_TIME_TEXT("t.claimed_at")), \
        "expires_at",                                                \
        SVC_TIME_TEXT("t.expires_at")                                \
    )
#define SVC_TAKEN(text)                                                                   \
    SVC_FILL(                                                                             \
        SVC_FILL(SVC_TAKEN_NUMBERS(SVC_TAKEN_TIMES(text)), "card_id", "t.card_id::text"), \
        "id",                                                                             \
        "t.lease_id::text"                                                                \
    )

// The caller's right, the column's settings, the next cards and their shapes in one statement, and
// the events. Everything is looked up by key behind OFFSET 0: left to itself the planner joins, and
// as long as it has no statistics it scans whole tables for that. Cards that others are just taking
// are passed over. Who claims was found out a moment before: here it is asked whether that still
// holds, of a token's bearer by what is known of it, of a person by the seat. $5 board, $6 column,
// $7 leases, as many as cards are wanted, $8 their digests, $9 time to live; $10 to $12 where to
// begin; $13 token; $14 to $16 what is known of the caller; $17 the events' ids; $18 bytes of cards,
// behind which no further card is taken; the event from $19; $48 the requests that the cards are
// claimed for, as many as leases.
//
// Each part of a statement is made ready whenever it runs, and most columns have no limits: the
// short form takes nothing where there is one, and tells. The other one counts; $49 and $50 say
// whether others wait who are limited by the column or by the agent. A single card is asked for as
// such: a plan from when nobody had counted the table's rows goes through all of the workspace's to
// find those of a list, and finds one by its key.
constexpr std::string_view seen_column = R"(
    WITH col AS (
        SELECT k.id, k.queue_enabled, k.lease_ttl_seconds, k.queue_paused, k.max_in_flight,
            a.max_leases, b.is_archived,
            CASE WHEN s.role IS NOT NULL THEN
                )" SVC_BOARD_ROLE_OF("$2", "$3", "s.role", "b.visibility", "b.created_by") R"(
            END AS role,
            )" SVC_CALLER_HOLDS("$14", "$15", "$16") R"( AS caller_holds,)";
constexpr std::string_view without_limits = R"(
            CASE WHEN k.max_in_flight IS NULL THEN cardinality($7::uuid[]) ELSE 0 END AS slots,
            CASE WHEN a.max_leases IS NULL THEN cardinality($7::uuid[]) ELSE 0 END AS agents_slots,
            nullif()" SVC_HAS_HARD_LIMITS R"(, false) AS target_full, NULL::uuid AS target_id)";
constexpr std::string_view with_limits = R"(
            CASE WHEN k.max_in_flight IS NULL THEN cardinality($7::uuid[])
                WHEN $49::boolean THEN )" SVC_SLOTS_LEFT R"( ELSE 0 END AS slots,
            CASE WHEN a.max_leases IS NULL THEN cardinality($7::uuid[])
                WHEN $50::boolean THEN )" SVC_AGENTS_LEASES_LEFT R"( ELSE 0 END AS agents_slots,
            )" SVC_TARGET_IS_FULL R"( AS target_full,
            (SELECT u.completed_id FROM column_turns u WHERE u.org_id = $1 AND u.id = k.id)
                AS target_id)";
constexpr std::string_view and_taken = R"(
        FROM columns k
        CROSS JOIN LATERAL (
            SELECT o.id, o.visibility, o.created_by, o.is_archived FROM boards o
            WHERE o.org_id = $1 AND o.id = k.board_id AND NOT o.in_trash
            OFFSET 0
        ) b
        CROSS JOIN LATERAL (
            SELECT CASE WHEN $3 = 'agent' THEN $4::text ELSE (
                SELECT lower_role($4::text, m.role) FROM memberships m
                WHERE m.org_id = $1 AND m.user_id = $2)
            END AS role
            OFFSET 0
        ) s
        )" SVC_MAX_LEASES
                                       R"(
        )" SVC_BOARD_GRANT_BY_KEY("b.id") R"(
        WHERE k.org_id = $1 AND k.board_id = $5 AND k.id = $6 AND NOT k.in_trash
    ), found AS MATERIALIZED (
        SELECT r.card_id, r.urgency, r.place FROM queue r
        WHERE r.org_id = $1
            AND r.column_id = (
                SELECT id FROM col
                WHERE queue_enabled AND NOT queue_paused AND NOT is_archived AND caller_holds
                    AND role IN ('editor', 'admin') AND target_full IS NOT TRUE)
            AND r.state = 'ready' AND NOT r.blocked
            AND (r.urgency, r.place, r.card_id) >= ($10::smallint, $11, $12::uuid)
        ORDER BY r.urgency, r.place, r.card_id
        LIMIT (SELECT least(cardinality($7::uuid[]), slots, agents_slots) FROM col)
        FOR UPDATE SKIP LOCKED
    ), sized AS MATERIALIZED (
        SELECT f.card_id, c.version, c.comment_count,
            (row_number() OVER up_to_it)::int AS number,
            sum(c.shown_bytes) OVER up_to_it - c.shown_bytes AS bytes_before
        FROM found f
        CROSS JOIN LATERAL (
            SELECT o.version, o.comment_count, o.shown_bytes FROM cards o
            WHERE o.org_id = $1 AND o.id = f.card_id
            OFFSET 0
        ) c
        WINDOW up_to_it AS (
            ORDER BY f.urgency, f.place, f.card_id ROWS UNBOUNDED PRECEDING)
    ), taken AS (
        UPDATE queue q
        SET state = 'leased', attempt = q.attempt + 1, epoch = q.epoch + 1, holder_id = $2,
            (lease_id, lease_digest, claimed_version, claimed_comments) = (
                SELECT ($7::uuid[])[s.number], ($8::bytea[])[s.number], s.version,
                    s.comment_count
                FROM sized s WHERE s.card_id = q.card_id),
            lease_ttl_seconds = coalesce($9::int, (SELECT lease_ttl_seconds FROM col)),
            claimed_at = now(), renewed_at = NULL,
            expires_at = now() + make_interval(
                secs => coalesce($9::int, (SELECT lease_ttl_seconds FROM col))),
            token_id = $13
        WHERE q.org_id = $1 AND q.card_id)";
constexpr std::string_view one = R"( = (
            SELECT s.card_id FROM sized s WHERE s.bytes_before < $18::bigint))";
constexpr std::string_view some = R"( = ANY (ARRAY(
            SELECT s.card_id FROM sized s WHERE s.bytes_before < $18::bigint)))";
constexpr std::string_view and_seen = R"(
        RETURNING q.card_id, q.lease_id, q.attempt, q.epoch, q.lease_ttl_seconds, q.claimed_at,
            q.expires_at, q.urgency, q.place
    ), emitted AS (
        )" SVC_INSERT_EVENTS(19,
                                       "coalesce(($17::uuid[])[array_position("
                                       "$7::uuid[], t.lease_id)], " SVC_EVENT_ENTRY(19) ")",
                                       "coalesce(t.lease_id, " SVC_EVENT_OBJECT(19) ")",
                                       "coalesce(t.epoch, " SVC_EVENT_VERSION(19) ")",
                                       "coalesce(t.card_id, " SVC_EVENT_CARD(19) ")",
                                       SVC_TAKEN(SVC_EVENT_CHANGES(19)),
                                       "coalesce(($48::uuid[])[array_position("
                                       "$7::uuid[], t.lease_id)], " SVC_EVENT_REQUEST(19) ")",
                                       "taken t") R"(
    )
    SELECT col.role, col.caller_holds, col.queue_enabled, col.is_archived AS board_archived,
        col.queue_paused AS paused, col.target_full, col.target_id, col.max_in_flight,
        col.max_leases, col.slots > 0 AS has_slot, col.agents_slots > 0 AS agent_free,
        t.card_id IS NOT NULL AS taken,
        CASE WHEN t.card_id IS NULL THEN (
            SELECT ceil(extract(epoch FROM min(w.available_at) - now()) * 1000)::bigint
            FROM queue w
            WHERE w.org_id = $1 AND w.column_id = $6 AND w.state = 'backoff')
        END AS next_ready_milliseconds,
        t.lease_id, t.attempt, t.epoch, t.lease_ttl_seconds, t.claimed_at, t.expires_at,
        t.urgency, t.place, v.*
    FROM col
    LEFT JOIN taken t ON true
    LEFT JOIN LATERAL (
        SELECT * FROM card_view c WHERE c.org_id = $1 AND c.id = t.card_id OFFSET 0
    ) v ON true
    ORDER BY t.urgency, t.place, t.card_id)";
constexpr Sql take_one{
    "queue.take_next", SqlText<seen_column, without_limits, and_taken, one, and_seen>::view};
constexpr Sql take_some{
    "queue.take_some", SqlText<seen_column, without_limits, and_taken, some, and_seen>::view};
constexpr Sql take_one_limited{
    "queue.take_next_limited", SqlText<seen_column, with_limits, and_taken, one, and_seen>::view};
constexpr Sql take_some_limited{
    "queue.take_some_limited", SqlText<seen_column, with_limits, and_taken, some, and_seen>::view};

}  // namespace

const Sql& taking_statement(TakeWish wish) {
    if (wish.counts_limits) return wish.just_one ? take_one_limited : take_some_limited;
    return wish.just_one ? take_one : take_some;
}

}  // namespace svc::queue
