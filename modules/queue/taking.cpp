#include "modules/queue/taking.hpp"

#include "modules/boards/api/card_files.hpp"
#include "modules/orgs/api/caller_holds.hpp"
#include "modules/queue/limits.hpp"
#include "modules/queue/operations.hpp"
#include "modules/queue/rights.hpp"
#include "svc/encoding.hpp"
#include "svc/event_row.hpp"

#include <algorithm>

namespace svc::queue {

namespace {

/// What a claim's event does not know before.
constexpr std::string_view found_by_claim[] = {
    "id", "card_id", "attempt", "epoch", "lease_ttl_seconds", "claimed_at", "expires_at"
};
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
// $7 leases, as many as cards are wanted, $8 their digests, $9 holder, $10 time to live; $11 to $13
// where to begin; $14 token; $15 to $17 what is known of the caller; $18 the events' ids; $19 bytes
// of cards, behind which no further card is taken; the event from $20.
//
// Each part of a statement is made ready whenever it runs, and most columns have no limits: the
// short form takes nothing where there is one, and tells. The other one counts; $44 and $45 say
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
            )" SVC_CALLER_HOLDS("$15", "$16", "$17") R"( AS caller_holds,)";
constexpr std::string_view without_limits = R"(
            CASE WHEN k.max_in_flight IS NULL THEN cardinality($7::uuid[]) ELSE 0 END AS slots,
            CASE WHEN a.max_leases IS NULL THEN cardinality($7::uuid[]) ELSE 0 END AS agents_slots,
            nullif()" SVC_HAS_HARD_LIMITS R"(, false) AS target_full)";
constexpr std::string_view with_limits = R"(
            CASE WHEN k.max_in_flight IS NULL THEN cardinality($7::uuid[])
                WHEN $45::boolean THEN )" SVC_SLOTS_LEFT R"( ELSE 0 END AS slots,
            CASE WHEN a.max_leases IS NULL THEN cardinality($7::uuid[])
                WHEN $46::boolean THEN )" SVC_AGENTS_LEASES_LEFT R"( ELSE 0 END AS agents_slots,
            )" SVC_TARGET_IS_FULL R"( AS target_full)";
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
            AND (r.urgency, r.place, r.card_id) >= ($11::smallint, $12, $13::uuid)
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
        SET state = 'leased', attempt = q.attempt + 1, epoch = q.epoch + 1, holder = $9,
            (lease_id, lease_digest, claimed_version, claimed_comments) = (
                SELECT ($7::uuid[])[s.number], ($8::bytea[])[s.number], s.version,
                    s.comment_count
                FROM sized s WHERE s.card_id = q.card_id),
            lease_ttl_seconds = coalesce($10::int, (SELECT lease_ttl_seconds FROM col)),
            claimed_at = now(), renewed_at = NULL,
            expires_at = now() + make_interval(
                secs => coalesce($10::int, (SELECT lease_ttl_seconds FROM col))),
            token_id = $14
        WHERE q.org_id = $1 AND q.card_id)";
constexpr std::string_view one = R"( = (
            SELECT s.card_id FROM sized s WHERE s.bytes_before < $19::bigint))";
constexpr std::string_view some = R"( = ANY (ARRAY(
            SELECT s.card_id FROM sized s WHERE s.bytes_before < $19::bigint)))";
constexpr std::string_view and_seen = R"(
        RETURNING q.card_id, q.lease_id, q.attempt, q.epoch, q.lease_ttl_seconds, q.claimed_at,
            q.expires_at, q.urgency, q.place
    ), emitted AS (
        )" SVC_INSERT_EVENTS(20,
                                       "coalesce(($18::uuid[])[array_position("
                                       "$7::uuid[], t.lease_id)], " SVC_EVENT_ENTRY(20) ")",
                                       "coalesce(t.lease_id, " SVC_EVENT_OBJECT(20) ")",
                                       "coalesce(t.epoch, " SVC_EVENT_VERSION(20) ")",
                                       "coalesce(t.card_id, " SVC_EVENT_CARD(20) ")",
                                       SVC_TAKEN(SVC_EVENT_CHANGES(20)),
                                       "coalesce(($44::text[])[array_position("
                                       "$7::uuid[], t.lease_id)], " SVC_EVENT_REQUEST(20) ")",
                                       "taken t") R"(
    )
    SELECT col.role, col.caller_holds, col.queue_enabled, col.is_archived AS board_archived,
        col.queue_paused AS paused, col.target_full, col.max_in_flight, col.max_leases,
        col.slots > 0 AS has_slot, col.agents_slots > 0 AS agent_free,
        t.card_id IS NOT NULL AS taken,
        CASE WHEN t.card_id IS NULL THEN (
            SELECT ceil(extract(epoch FROM min(w.available_at) - now()))::int FROM queue w
            WHERE w.org_id = $1 AND w.column_id = $6 AND w.state = 'backoff')
        END AS next_ready_seconds,
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

// In one order, whatever the columns and whoever the agent; a statement of its own, so that what
// comes after it counts what was committed while it waited.
constexpr Sql hold_them{"queue.hold_limits", R"(
    SELECT pg_advisory_xact_lock(l.key)
    FROM (
        SELECT hashtextextended('queue.limit ' || i.id::text, 0) AS key
        FROM unnest($1::uuid[]) i (id)
        ORDER BY 1
        OFFSET 0
    ) l)"};

struct Taken {
    boards::Card card;
    Uuid lease_id;
    std::int64_t attempt = 0;
    std::int64_t epoch = 0;
    std::int64_t lease_ttl_seconds = 0;
    Timestamp claimed_at;
    Timestamp expires_at;
    std::int64_t urgency = 0;
    std::string place;
};
SVC_RECORD(
    Taken,
    (card, "", flatten),
    (lease_id),
    (attempt),
    (epoch),
    (lease_ttl_seconds),
    (claimed_at),
    (expires_at),
    (urgency),
    (place)
);

constexpr std::size_t enough_bytes = page_bytes / 4;  ///< of cards, for one answer

void require_queue(const ColumnSeen& column) {
    boards::require(column.role, boards::BoardRole::editor, "column");
    if (!column.queue_enabled) throw not_a_queue();
    if (column.board_archived) throw boards::board_archived();
}

}  // namespace

ClaimReason ColumnSeen::reason() const {
    if (paused) return ClaimReason::paused;
    if (!agent_free) return ClaimReason::max_leases;
    if (!has_slot) return ClaimReason::max_in_flight;
    if (target_full.value_or(false)) return ClaimReason::target_full;
    return ClaimReason::empty;
}

bool KnownLimits::contains(const Uuid& id) const {
    const std::scoped_lock lock(mutex_);
    return ids_.contains(id);
}

void KnownLimits::set(const Uuid& id, bool in) {
    const std::scoped_lock lock(mutex_);
    if (!in) {
        ids_.erase(id);
        return;
    }
    ids_.insert(id);
    if (ids_.size() > most)
        ids_.erase(*ids_.begin() == id ? std::next(ids_.begin()) : ids_.begin());
}

Taking::Taking(
    Call& call, const Uuid& board, const std::optional<std::int64_t>& ttl, std::int64_t most
)
    : call_(call), board_(board), ttl_(ttl) {
    // One card at a time where something may refuse it: its refusal is the whole answer.
    most_ = call.has_hooks(lease_claimed) ? 1 : static_cast<std::size_t>(most);
    hold_claims(call.tx(), call.org());
}

Taking::Taking(
    Call& call,
    const Uuid& board,
    const std::optional<std::int64_t>& ttl,
    std::vector<std::string> request_ids
)
    : Taking(call, board, ttl, static_cast<std::int64_t>(request_ids.size())) {
    request_ids_ = std::move(request_ids);
}

void Taking::run(const std::vector<Uuid>& columns) {
    seen_.assign(columns.size(), {});
    const auto& known = call_.use<KnownLimits>();
    for (const Uuid& each : columns)
        if (known.contains(each)) held_.push_back(each);
    holds_agent_ = known.contains(call_.caller().id);
    board_is_limited_ = known.contains(board_);
    std::vector<std::size_t> limited;  // by more than is held
    for (std::size_t i = 0; i < columns.size() && !enough(); ++i) {
        take_from(columns[i], seen_[i]);
        if ((seen_[i].max_in_flight && !holds(columns[i])) ||
            (seen_[i].max_leases && !holds_agent_))
            limited.push_back(i);
    }
    if (!claimed_.empty() || limited.empty()) return;
    // What is held is held until the end, and more of it comes in one order only: from the
    // beginning, by what is known now.
    if (!held_.empty() || holds_agent_)
        throw RetryTransaction("limits that were not known to this server");
    held_ = columns;
    holds_agent_ = true;
    for (const std::size_t i : limited)
        if (!enough()) take_from(columns[i], seen_[i]);
}

bool Taking::holds(const Uuid& column) const {
    return std::ranges::find(held_, column) != held_.end();
}

bool Taking::enough() const {
    if (claimed_.empty()) return false;
    return claimed_.size() >= most_ || call_.tx().bytes_received() >= enough_bytes;
}

void Taking::take_from(const Uuid& column, ColumnSeen& seen) {
    const std::size_t before = claimed_.size();
    const QueueKey from = call_.use<Hints>().from(column);
    take_from(column, from, seen);
    const bool none = claimed_.size() == before;
    if (none && from != QueueKey::head() && seen.reason() == ClaimReason::empty)
        take_from(column, QueueKey::head(), seen);
    auto& known = call_.use<KnownLimits>();
    known.set(column, seen.max_in_flight.has_value());
    known.set(call_.caller().id, seen.max_leases.has_value());
    if (claimed_.size() == before) return;
    call_.after_commit([&hints = call_.use<Hints>(), column, at = last_] {
        hints.found(column, at);
    });
}

/// In one round trip, but for the first time on a board that has a column with a hard limit.
void Taking::take_from(const Uuid& column, const QueueKey& from, ColumnSeen& seen) {
    if (!held_.empty() || holds_agent_) hold_limits();
    const std::vector<Ticket> tickets = this->tickets();
    Result result = queue_take(column, tickets, from);
    if (result.rows() == 0) not_found("column");
    result.read(0, record_of<ColumnSeen>(), &seen);
    call_.caller_holds(seen.caller_holds);
    require_queue(seen);
    call_.use<KnownLimits>().set(board_, seen.target_full.has_value());
    if (seen.target_full && !counts_limits(column)) {
        board_is_limited_ = true;
        return take_from(column, from, seen);
    }
    if (!seen.taken) return;
    for (std::size_t row = 0; row < result.rows(); ++row) read_taken(column, result, row, tickets);
}

std::vector<Ticket> Taking::tickets() const {
    std::vector<Ticket> tickets;
    for (std::size_t i = claimed_.size(); i < most_; ++i)
        tickets.push_back({i < request_ids_.size() ? request_ids_[i] : call_.request_id()});
    return tickets;
}

void Taking::hold_limits() {
    std::vector<Uuid> ids = held_;
    if (holds_agent_) ids.push_back(call_.caller().id);
    call_.tx().queue(hold_them, ids);
}

Result Taking::queue_take(
    const Uuid& column, const std::vector<Ticket>& tickets, const QueueKey& from
) {
    const auto caller = boards::BoardCaller::of(call_);
    const orgs::KnownRights rights(call_.caller());
    std::vector<Uuid> leases, entries;
    std::vector<std::string> digests, request_ids;
    for (const Ticket& each : tickets) {
        leases.push_back(each.lease_id);
        entries.push_back(new_uuid());
        request_ids.push_back(each.request_id);
        digests.push_back("\\x" + hex(each.digest));
    }
    const std::size_t bytes = enough_bytes - std::min(call_.tx().bytes_received(), enough_bytes);
    const auto ask = [&](const Sql& sql, const auto&... limits) {
        return call_.tx().queue(
            sql,
            caller.org,
            caller.principal,
            caller.kind,
            caller.role,
            board_,
            column,
            leases,
            digests,
            to_json(ref_of(call_.caller())),
            ttl_,
            from.urgency,
            from.place,
            from.card,
            call_.caller().token_id,
            rights.epoch,
            rights.until,
            rights.past_due,
            entries,
            static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1)),
            call_.event_row(event_of(lease_claimed, lease_of(column, {}), found_by_claim)),
            request_ids,
            limits...
        );
    };
    const bool just_one = tickets.size() == 1;
    if (!counts_limits(column)) return ask(just_one ? take_one : take_some);
    return ask(just_one ? take_one_limited : take_some_limited, holds(column), holds_agent_);
}

bool Taking::counts_limits(const Uuid& column) const {
    return board_is_limited_ || holds_agent_ || holds(column);
}

void Taking::read_taken(
    const Uuid& column, Result& result, std::size_t row, const std::vector<Ticket>& tickets
) {
    Taken taken;
    result.read(row, record_of<Taken>(), &taken);
    boards::Card& card = taken.card;
    Lease lease = lease_of(column, taken.lease_id);
    lease.card_id = card.id;
    lease.attempt = taken.attempt;
    lease.epoch = taken.epoch;
    lease.lease_ttl_seconds = taken.lease_ttl_seconds;
    lease.claimed_at = taken.claimed_at;
    lease.expires_at = taken.expires_at;
    card.queue = {boards::QueueState::leased, taken.attempt, std::nullopt, card.queue.last_error};
    card.lease = boards::CardLease{lease.id, lease.holder, lease.attempt, lease.expires_at};
    boards::show(call_.kernel(), card);
    if (call_.has_hooks(lease_claimed)) call_.check(event_of(lease_claimed, lease, nullptr));
    last_ = {taken.urgency, taken.place, card.id};
    const auto& secret = std::ranges::find(tickets, lease.id, &Ticket::lease_id)->secret;
    claimed_.push_back({lease, LeaseToken(card.id, secret).str(), std::move(card)});
}

Lease Taking::lease_of(const Uuid& column, const Uuid& id) const {
    Lease lease;
    lease.id = id;
    lease.org_id = call_.org();
    lease.board_id = board_;
    lease.column_id = column;
    lease.holder = ref_of(call_.caller());
    return lease;
}

}  // namespace svc::queue
