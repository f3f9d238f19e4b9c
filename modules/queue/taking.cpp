#include "modules/queue/taking.hpp"

#include "modules/boards/api/card_files.hpp"
#include "modules/orgs/api/caller_holds.hpp"
#include "modules/queue/limits.hpp"
#include "modules/queue/operations.hpp"
#include "modules/queue/rights.hpp"
#include "svc/event_row.hpp"

#include <algorithm>

namespace svc::queue {

namespace {

/// What a claim's event does not know before.
constexpr std::string_view found_by_claim[] = {
    "card_id", "attempt", "epoch", "lease_ttl_seconds", "claimed_at", "expires_at"
};
#define SVC_TAKEN(text)                                                                            \
    SVC_FILL(                                                                                      \
        SVC_FILL(                                                                                  \
            SVC_FILL(                                                                              \
                SVC_FILL(                                                                          \
                    SVC_FILL(                                                                      \
                        SVC_FILL(text, "card_id", "t.card_id::text"), "attempt", "t.attempt::text" \
                    ),                                                                             \
                    "epoch",                                                                       \
                    "t.epoch::text"                                                                \
                ),                                                                                 \
                "lease_ttl_seconds",                                                               \
                "t.lease_ttl_seconds::text"                                                        \
            ),                                                                                     \
            "claimed_at",                                                                          \
            SVC_TIME_TEXT("t.claimed_at")                                                          \
        ),                                                                                         \
        "expires_at",                                                                              \
        SVC_TIME_TEXT("t.expires_at")                                                              \
    )

// The caller's right, the column's settings, the card and its shape in one statement, and the
// event. Everything is looked up by key behind OFFSET 0: left to itself the planner joins, and as
// long as it has no statistics it scans whole tables for that. Cards that others are just taking
// are passed over. Who claims was found out a moment before: here it is asked whether that still
// holds, of a token's bearer by what is known of it, of a person by the seat. $5 board, $6 column,
// $7 lease, $8 digest, $9 holder, $10 time to live; $11 to $13 where to begin; $14 token; $15 to
// $17 what is known of the caller; $18 and $19 whether others wait who are limited by the column or
// by the agent; the event from $20. Leases are counted where a limit is set, and whether the next
// column is full is asked where a column may be.
constexpr Sql take{
    "queue.take_next",
    R"(
    WITH col AS (
        SELECT k.id, k.queue_enabled, k.lease_ttl_seconds, k.queue_paused, k.max_in_flight,
            a.max_leases, b.is_archived,
            CASE WHEN s.role IS NOT NULL THEN
                )" SVC_BOARD_ROLE_OF("$2", "$3", "s.role", "b.visibility", "b.created_by") R"(
            END AS role,
            )" SVC_CALLER_HOLDS("$15", "$16", "$17") R"( AS caller_holds,
            k.max_in_flight IS NULL OR $18::boolean AND )" SVC_HAS_SLOT R"( AS has_slot,
            a.max_leases IS NULL OR $19::boolean AND )" SVC_AGENT_IS_FREE R"( AS agent_free,
            )" SVC_TARGET_IS_FULL R"( AS target_full
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
    ), taken AS (
        UPDATE queue q
        SET state = 'leased', attempt = q.attempt + 1, epoch = q.epoch + 1,
            lease_id = $7, lease_digest = $8, holder = $9,
            lease_ttl_seconds = coalesce($10::int, (SELECT lease_ttl_seconds FROM col)),
            claimed_at = now(), renewed_at = NULL,
            expires_at = now() + make_interval(
                secs => coalesce($10::int, (SELECT lease_ttl_seconds FROM col))),
            token_id = $14,
            (claimed_version, claimed_comments) = (
                SELECT c.version, c.comment_count FROM cards c
                WHERE c.org_id = $1 AND c.id = q.card_id)
        WHERE q.org_id = $1 AND q.card_id = (
            SELECT r.card_id FROM queue r
            WHERE r.org_id = $1
                AND r.column_id = (
                    SELECT id FROM col
                    WHERE queue_enabled AND NOT queue_paused AND NOT is_archived AND caller_holds
                        AND role IN ('editor', 'admin')
                        AND has_slot AND agent_free AND NOT target_full)
                AND r.state = 'ready' AND NOT r.blocked
                AND (r.urgency, r.place, r.card_id) >= ($11::smallint, $12, $13::uuid)
            ORDER BY r.urgency, r.place, r.card_id
            LIMIT 1
            FOR UPDATE SKIP LOCKED)
        RETURNING q.card_id, q.attempt, q.epoch, q.lease_ttl_seconds, q.claimed_at,
            q.expires_at, q.urgency, q.place
    ), emitted AS (
        )" SVC_INSERT_EVENT(20,
                                                     SVC_EVENT_OBJECT(20),
                                                     "coalesce(t.epoch, " SVC_EVENT_VERSION(20) ")",
                                                     "coalesce(t.card_id, " SVC_EVENT_CARD(20) ")",
                                                     SVC_TAKEN(SVC_EVENT_CHANGES(20)),
                                                     "taken t") R"(
    )
    SELECT col.role, col.caller_holds, col.queue_enabled, col.is_archived AS board_archived,
        col.queue_paused AS paused, col.target_full, col.max_in_flight, col.max_leases,
        col.has_slot, col.agent_free, t.card_id IS NOT NULL AS taken,
        CASE WHEN t.card_id IS NULL THEN (
            SELECT ceil(extract(epoch FROM min(w.available_at) - now()))::int FROM queue w
            WHERE w.org_id = $1 AND w.column_id = $6 AND w.state = 'backoff')
        END AS next_ready_seconds,
        t.attempt, t.epoch, t.lease_ttl_seconds, t.claimed_at, t.expires_at, t.urgency, t.place,
        v.*
    FROM col
    LEFT JOIN taken t ON true
    LEFT JOIN LATERAL (
        SELECT * FROM card_view c WHERE c.org_id = $1 AND c.id = t.card_id OFFSET 0
    ) v ON true)"
};

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
    (attempt),
    (epoch),
    (lease_ttl_seconds),
    (claimed_at),
    (expires_at),
    (urgency),
    (place)
);

constexpr std::size_t most_at_once = 5;  // before it is looked how long the answer gets

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
    if (target_full) return ClaimReason::target_full;
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
    const bool one = most == 1 || call.has_hooks(lease_claimed);
    most_ = one ? 1 : static_cast<std::size_t>(most);
    if (one) call.goes_alone(lease_claimed);
    hold_claims(call.tx(), call.org());
}

void Taking::run(const std::vector<Uuid>& columns) {
    seen_.assign(columns.size(), {});
    const auto& known = call_.use<KnownLimits>();
    for (const Uuid& each : columns)
        if (known.contains(each)) held_.push_back(each);
    holds_agent_ = known.contains(call_.caller().id);
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
    return claimed_.size() >= most_ || call_.tx().bytes_received() >= page_bytes / 4;
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

void Taking::take_from(const Uuid& column, QueueKey key, ColumnSeen& seen) {
    bool is_there_more = true;
    while (is_there_more && !enough()) {
        // One at first: most of those who look find nothing.
        const std::size_t left = most_ - claimed_.size(), before = claimed_.size();
        const std::size_t count = claimed_.empty() ? 1 : std::min(left, most_at_once);
        is_there_more = take_some(count, column, key, seen);
        if (claimed_.size() > before) key = last_;
    }
}

/// In one round trip. False when there are no more.
bool Taking::take_some(
    std::size_t count, const Uuid& column, const QueueKey& from, ColumnSeen& seen
) {
    if (!held_.empty() || holds_agent_) hold_limits();
    const std::vector<Ticket> tickets(count);
    std::vector<Result> results;
    for (const Ticket& each : tickets) results.push_back(queue_one(column, each, from));
    bool all = true;
    for (std::size_t i = 0; i < count; ++i) {
        if (results[i].rows() == 0) not_found("column");
        results[i].read(0, record_of<ColumnSeen>(), &seen);
        call_.caller_holds(seen.caller_holds);
        require_queue(seen);
        if (seen.taken) read_one(column, results[i], tickets[i]);
        all = all && seen.taken;
    }
    return all;
}

void Taking::hold_limits() {
    std::vector<Uuid> ids = held_;
    if (holds_agent_) ids.push_back(call_.caller().id);
    call_.tx().queue(hold_them, ids);
}

Result Taking::queue_one(const Uuid& column, const Ticket& ticket, const QueueKey& from) {
    const auto caller = boards::BoardCaller::of(call_);
    const orgs::KnownRights rights(call_.caller());
    return call_.tx().queue(
        take,
        caller.org,
        caller.principal,
        caller.kind,
        caller.role,
        board_,
        column,
        ticket.lease_id,
        ticket.digest,
        to_json(ref_of(call_.caller())),
        ttl_,
        from.urgency,
        from.place,
        from.card,
        call_.caller().token_id,
        rights.epoch,
        rights.until,
        rights.past_due,
        holds(column),
        holds_agent_,
        call_.event_row(event_of(lease_claimed, lease_of(column, ticket), found_by_claim))
    );
}

void Taking::read_one(const Uuid& column, Result& result, const Ticket& ticket) {
    Taken taken;
    result.read(0, record_of<Taken>(), &taken);
    boards::Card& card = taken.card;
    Lease lease = lease_of(column, ticket);
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
    claimed_.push_back({lease, LeaseToken(card.id, ticket.secret).str(), std::move(card)});
}

Lease Taking::lease_of(const Uuid& column, const Ticket& ticket) const {
    Lease lease;
    lease.id = ticket.lease_id;
    lease.org_id = call_.org();
    lease.board_id = board_;
    lease.column_id = column;
    lease.holder = ref_of(call_.caller());
    return lease;
}

}  // namespace svc::queue
