// Taking the next card of a column, or the next ones.

#include "modules/boards/api/access.hpp"
#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/orgs/api/caller_holds.hpp"
#include "modules/queue/lib/rows.hpp"
#include "modules/queue/lib/token.hpp"
#include "modules/queue/operations.hpp"
#include "modules/queue/rights.hpp"
#include "svc/event_row.hpp"

#include <algorithm>

namespace svc::queue {

namespace {

struct ClaimNextRequest {
    Uuid board_id;
    Uuid column_id;
    std::optional<std::int64_t> lease_ttl_seconds;
    std::int64_t wait_seconds = 0;
    std::int64_t max_cards = 1;
};
SVC_RECORD(
    ClaimNextRequest,
    (board_id),
    (column_id, "A column whose queue is enabled."),
    (lease_ttl_seconds,
     "How long the claim holds unless renewed; the column's own time if left out.",
     range(5, 86400)),
    (wait_seconds,
     "How long to wait for a card when there is none. Does not wait when the caller has as many "
     "calls waiting as the server allows.",
     range(0, 45),
     defaulted),
    (max_cards,
     "How many cards to claim at most, each with a lease of its own. Fewer are claimed when there "
     "are fewer or when the answer becomes long.",
     range(1, 25),
     defaulted)
);

struct ClaimedCard {
    Lease lease;
    std::string lease_token;
    boards::Card card;
};
SVC_RECORD(
    ClaimedCard,
    (lease, "What you hold."),
    (lease_token, "Proves that this card is yours.", secret),
    (card, "What is to be done.")
);

struct ClaimResponse {
    Object<"claim"> object;
    bool claimed = false;
    std::optional<Lease> lease;
    std::optional<std::string> lease_token;
    std::optional<boards::Card> card;
    std::optional<std::int64_t> retry_after_seconds;
    std::vector<ClaimedCard> additional_claims;
};
SVC_RECORD(
    ClaimResponse,
    (object),
    (claimed, "False when there is nothing to do at present."),
    (lease, "What you hold; null when nothing was claimed."),
    (lease_token,
     "Proves that the card is yours: renew, complete, fail and release ask for it.",
     secret),
    (card, "What is to be done; null when nothing was claimed."),
    (retry_after_seconds, "When it is worth asking again."),
    (additional_claims,
     "Further cards, when `max_cards` asked for more than one; in the order of the queue.")
);

/// What a claim's event does not know before.
constexpr std::string_view found_by_claim[] = {
    "card_id", "attempt", "epoch", "lease_ttl_seconds", "claimed_at", "expires_at"};
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
// $17 what is known of the caller; the event from $18.
constexpr Sql take{
    "queue.take_next",
    R"(
    WITH col AS (
        SELECT k.id, k.queue_enabled, k.lease_ttl_seconds, b.is_archived,
            CASE WHEN s.role IS NOT NULL THEN
                )" SVC_BOARD_ROLE_OF("$2", "$3", "s.role", "b.visibility", "b.created_by") R"(
            END AS role,
            )" SVC_CALLER_HOLDS("$15", "$16", "$17") R"( AS caller_holds
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
            token_id = $14
        WHERE q.org_id = $1 AND q.card_id = (
            SELECT r.card_id FROM queue r
            WHERE r.org_id = $1
                AND r.column_id = (
                    SELECT id FROM col
                    WHERE queue_enabled AND NOT is_archived AND caller_holds
                        AND role IN ('editor', 'admin'))
                AND r.state = 'ready'
                AND (r.urgency, r.place, r.card_id) >= ($11::smallint, $12, $13::uuid)
            ORDER BY r.urgency, r.place, r.card_id
            LIMIT 1
            FOR UPDATE SKIP LOCKED)
        RETURNING q.card_id, q.attempt, q.epoch, q.lease_ttl_seconds, q.claimed_at,
            q.expires_at, q.urgency, q.place
    ), emitted AS (
        )" SVC_INSERT_EVENT(
        18,
        SVC_EVENT_OBJECT(18),
        "coalesce(t.epoch, " SVC_EVENT_VERSION(18) ")",
        "coalesce(t.card_id, " SVC_EVENT_CARD(18) ")",
        SVC_TAKEN(SVC_EVENT_CHANGES(18)),
        "taken t"
    ) R"(
    )
    SELECT col.role, col.caller_holds, col.queue_enabled, col.is_archived AS board_archived,
        t.card_id IS NOT NULL AS taken,
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
    ) v ON true)"};

struct Looked {
    std::optional<boards::BoardRole> role;
    bool caller_holds = false;
    bool queue_enabled = false;
    bool board_archived = false;
    bool taken = false;
    std::optional<std::int64_t> next_ready_seconds;
};
SVC_RECORD(
    Looked, (role), (caller_holds), (queue_enabled), (board_archived), (taken), (next_ready_seconds)
);

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

/// What a lease is given before it is known which card it is of.
struct Ticket {
    Uuid lease_id = new_uuid();
    LeaseToken::Secret secret = LeaseToken::new_secret();
    Sha256 digest = LeaseToken::digest_of(secret);
};

class Claim {
public:
    Claim(Call& call, const ClaimNextRequest& in) : call_(call), in_(in) {
        // One card at a time where something may refuse it: its refusal is the whole answer.
        const bool one = in.max_cards == 1 || call.has_hooks(lease_claimed);
        most_ = one ? 1 : static_cast<std::size_t>(in.max_cards);
        if (one) call.goes_alone(lease_claimed);
    }

    ClaimResponse run() {
        hold_claims(call_.tx(), call_.org());
        const QueueKey from = call_.use<Hints>().from(in_.column_id);
        take_from(from);
        if (claimed_.empty() && from != QueueKey::head()) take_from(QueueKey::head());
        if (!claimed_.empty()) return answer();
        if (in_.wait_seconds > 0)
            call_.wait_for(topic_of(in_.column_id), std::chrono::seconds(in_.wait_seconds));
        ClaimResponse nothing;
        nothing.retry_after_seconds =
            std::clamp<std::int64_t>(column_.next_ready_seconds.value_or(usual_pause), 1, 60);
        return nothing;
    }

private:
    static constexpr std::int64_t usual_pause = 5;  // seconds
    static constexpr std::size_t most_at_once = 5;  // before it is looked how long the answer gets

    void take_from(QueueKey from) {
        bool is_there_more = true;
        while (is_there_more && claimed_.size() < most_ &&
               call_.tx().bytes_received() < page_bytes / 4) {
            // One at first: most of those who look find nothing.
            const std::size_t left = most_ - claimed_.size();
            is_there_more = take_some(claimed_.empty() ? 1 : std::min(left, most_at_once), from);
            if (!claimed_.empty()) from = last_;
        }
    }

    /// In one round trip. False when there are no more.
    bool take_some(std::size_t count, const QueueKey& from) {
        const std::vector<Ticket> tickets(count);
        std::vector<Result> results;
        for (const Ticket& each : tickets) results.push_back(queue_one(each, from));
        bool all = true;
        for (std::size_t i = 0; i < count; ++i) {
            if (results[i].rows() == 0) not_found("column");
            results[i].read(0, record_of<Looked>(), &column_);
            call_.caller_holds(column_.caller_holds);
            require_queue(column_);
            if (column_.taken) read_one(results[i], tickets[i]);
            all = all && column_.taken;
        }
        return all;
    }

    Result queue_one(const Ticket& ticket, const QueueKey& from) {
        const auto caller = boards::BoardCaller::of(call_);
        const orgs::KnownRights rights(call_.caller());
        return call_.tx().queue(
            take,
            caller.org,
            caller.principal,
            caller.kind,
            caller.role,
            in_.board_id,
            in_.column_id,
            ticket.lease_id,
            ticket.digest,
            to_json(ref_of(call_.caller())),
            in_.lease_ttl_seconds,
            from.urgency,
            from.place,
            from.card,
            call_.caller().token_id,
            rights.epoch,
            rights.until,
            rights.past_due,
            call_.event_row(event_of(lease_claimed, lease_of(ticket, Taken{}), found_by_claim))
        );
    }

    void read_one(Result& result, const Ticket& ticket) {
        Taken taken;
        result.read(0, record_of<Taken>(), &taken);
        const Lease lease = lease_of(ticket, taken);
        boards::Card& card = taken.card;
        card.queue = {
            boards::QueueState::leased, taken.attempt, std::nullopt, card.queue.last_error};
        card.lease = boards::CardLease{lease.id, lease.holder, lease.attempt, lease.expires_at};
        boards::show(call_.kernel(), card);
        if (call_.has_hooks(lease_claimed)) call_.check(event_of(lease_claimed, lease, nullptr));
        last_ = {taken.urgency, taken.place, card.id};
        claimed_.push_back({lease, LeaseToken(card.id, ticket.secret).str(), std::move(card)});
    }

    static void require_queue(const Looked& column) {
        boards::require(column.role, boards::BoardRole::editor, "column");
        if (!column.queue_enabled) throw not_a_queue();
        if (column.board_archived) throw boards::board_archived();
    }

    ClaimResponse answer() {
        call_.after_commit([&hints = call_.use<Hints>(), column = in_.column_id, at = last_] {
            hints.found(column, at);
        });
        ClaimResponse claim;
        claim.claimed = true;
        claim.lease = std::move(claimed_.front().lease);
        claim.lease_token = std::move(claimed_.front().lease_token);
        claim.card = std::move(claimed_.front().card);
        claimed_.erase(claimed_.begin());
        claim.additional_claims = std::move(claimed_);
        return claim;
    }

    Lease lease_of(const Ticket& ticket, const Taken& taken) const {
        Lease lease;
        lease.id = ticket.lease_id;
        lease.org_id = call_.org();
        lease.board_id = in_.board_id;
        lease.column_id = in_.column_id;
        lease.card_id = taken.card.id;
        lease.holder = ref_of(call_.caller());
        lease.attempt = taken.attempt;
        lease.epoch = taken.epoch;
        lease.lease_ttl_seconds = taken.lease_ttl_seconds;
        lease.claimed_at = taken.claimed_at;
        lease.expires_at = taken.expires_at;
        return lease;
    }

    Call& call_;
    const ClaimNextRequest& in_;
    std::size_t most_ = 1;
    Looked column_;  ///< as it was when it was last asked
    std::vector<ClaimedCard> claimed_;
    QueueKey last_;  ///< where the last of them stood
};

ClaimResponse claim(Call& call, const ClaimNextRequest& in) { return Claim(call, in).run(); }

}  // namespace

const Operation claim_next_card{
    .name = "claim_next_card",
    .route = "POST /v1/boards/{board_id}/columns/{column_id}:claim-next",
    .summary = "Claim the next card of a queue column to work on it.",
    .description =
        "Leases the next card to you alone and returns it with a `lease_token`. Work on it, "
        "renew_lease before `expires_at`, then complete_lease or fail_lease. With nothing to do, "
        "`claimed` is false; `wait_seconds` waits for a card first. `max_cards` claims several, "
        "which complete_leases completes in one call.",
    .access = Access::board_editor,
    .handler = claim,
};

}  // namespace svc::queue
