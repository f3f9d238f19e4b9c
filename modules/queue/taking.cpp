#include "modules/queue/taking.hpp"

#include "modules/boards/api/card_files.hpp"
#include "modules/orgs/api/caller_holds.hpp"
#include "modules/orgs/api/directory_writes.hpp"
#include "modules/queue/limits.hpp"
#include "modules/queue/operations.hpp"
#include "modules/queue/rights.hpp"
#include "modules/queue/taking_statements.hpp"
#include "svc/encoding.hpp"

#include <algorithm>

namespace svc::queue {

namespace {

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
    const Caller& caller = call.caller();
    if (caller.type == PrincipalType::automation)
        orgs::name_principal(call.tx(), call.org(), caller.id, caller.type, {.name = caller.name});
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
    if (!seen.taken && claimed_.empty()) call_.tx().changed_nothing();
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
    const bool limited = counts_limits(column);
    const Sql& sql = taking_statement({.just_one = just_one, .counts_limits = limited});
    return limited ? ask(sql, holds(column), holds_agent_) : ask(sql);
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
