#pragma once

#include "modules/boards/api/access.hpp"
#include "modules/boards/api/card_queue.hpp"
#include "modules/queue/api.hpp"
#include "modules/queue/lib/hints.hpp"

namespace svc {
class Actor;
}
namespace svc::boards {
struct Card;
}

/// The row that says who has a card, and the four things that can be done to it.
namespace svc::queue {

/// A PrincipalRef of whoever is known by that id in that workspace; without a name where nobody is.
#define SVC_PRINCIPAL(org, id)                                                                 \
    "coalesce((SELECT json_build_object('id', p.id, 'principal_type', p.type, 'name', p.name) " \
    "FROM principals p WHERE p.org_id = " org " AND p.id = " id                                \
    "), json_build_object('id', " id ", 'principal_type', 'automation', 'name', NULL))"
/// Who has, or had, the lease of a row; null where nobody has one.
#define SVC_HOLDER(row)                                                              \
    "CASE WHEN " row ".holder_id IS NOT NULL THEN " SVC_PRINCIPAL(row ".org_id", row \
    ".holder_id") " END AS holder"
/// The same where most are the caller's, whom BoardCaller binds: looked up once for all of them.
#define SVC_HOLDER_OR_CALLER(row)                                                   \
    "CASE WHEN " row ".holder_id = $2 THEN " SVC_PRINCIPAL("$1", "$2") " WHEN " row \
    ".holder_id IS NOT NULL THEN " SVC_PRINCIPAL(row ".org_id", row ".holder_id")   \
    " END AS holder"

/// The columns of a QueueRow but its holder, of a row `q` of queue and its column `k`.
#define SVC_QUEUE_ROW                                                                         \
    "q.card_id, q.board_id, q.column_id, q.state, q.attempt, q.epoch, q.lease_id, "           \
    "q.lease_digest, q.lease_ttl_seconds, q.claimed_at, q.renewed_at, q.expires_at, "         \
    "k.queue_order, k.max_attempts, k.backoff_seconds, k.backoff_max_seconds, "               \
    "k.max_in_flight, k.queue_paused AS paused, q.claimed_version, q.claimed_comments, "      \
    "now() AS now"

/// A row of `queue`, with what its column says about tries and claims. Of a leased card also the
/// version and the number of comments that it had when it was claimed.
struct QueueRow {
    Uuid card_id;
    Uuid board_id;
    Uuid column_id;
    boards::QueueState state{};
    std::int64_t attempt = 0;
    std::int64_t epoch = 0;
    std::optional<Uuid> lease_id;
    std::optional<std::string> lease_digest;
    std::optional<PrincipalRef> holder;
    std::optional<std::int64_t> lease_ttl_seconds;
    std::optional<Timestamp> claimed_at;
    std::optional<Timestamp> renewed_at;
    std::optional<Timestamp> expires_at;
    boards::QueueOrder queue_order{};
    std::int64_t max_attempts = 0;
    std::int64_t backoff_seconds = 0;
    std::int64_t backoff_max_seconds = 0;
    std::optional<std::int64_t> max_in_flight;
    bool paused = false;
    std::optional<std::int64_t> claimed_version;
    std::optional<std::int64_t> claimed_comments;
    Timestamp now;
};
SVC_SHARED_RECORD(
    QueueRow,
    (card_id),
    (board_id),
    (column_id),
    (state),
    (attempt),
    (epoch),
    (lease_id),
    (lease_digest),
    (holder),
    (lease_ttl_seconds),
    (claimed_at),
    (renewed_at),
    (expires_at),
    (queue_order),
    (max_attempts),
    (backoff_seconds),
    (backoff_max_seconds),
    (max_in_flight),
    (paused),
    (claimed_version),
    (claimed_comments),
    (now)
);

/// Queues the look-up of cards' rows, locked until the transaction ends, in the order of their ids.
/// Cards are locked before their rows here, everywhere. Nothing is there for whoever may not change
/// the card.
DeferredRows<QueueRow> lock_held(
    Tx& tx, const boards::BoardCaller& caller, const std::vector<Uuid>& cards
);

/// The same, whoever may what: for cards that are locked.
DeferredRows<QueueRow> lock_held(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards);

/// The live lease of a leased row.
Lease lease_of(const Uuid& org, const QueueRow& held);
/// The same lease, over.
Lease ended(Lease lease, LeaseState state, const Timestamp& now);

/// The event of a lease: all of a new one; of one that ended, what changed.
Event event_of(const EventKind& kind, const Lease& after, const Lease* before);
/// Of a new one, all but `gaps`, which the statement knows that inserts the event.
Event event_of(const EventKind& kind, const Lease& after, std::span<const std::string_view> gaps);

/// The card is open, and waits for others that are.
bool has_to_wait(const boards::Card& card);

/// Ready in a column, tries forgotten.
void queue_up(Tx& tx, const boards::Card& card, const QueueKey& key);
/// The same of many cards of one column.
void queue_up(
    Tx& tx, const std::vector<const boards::Card*>& cards, const std::vector<QueueKey>& keys
);
/// No longer in any queue.
void take_out(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards);

/// How a card that nobody has leased stands from now on.
struct Standing {
    boards::CardQueue queue;  ///< idle: in no queue any more; `last_error` stays to be read
    /// A queue that it comes to.
    struct Entered {
        Uuid column_id;
        QueueKey key;
        Timestamp at;
    };
    std::optional<Entered> entered{};
};
/// Frees the row to stand so. Once that is committed, wakes who waits for the card if it is ready.
void stand(
    Kernel& kernel,
    Tx& tx,
    Actor& actor,
    const Uuid& org,
    const QueueRow& held,
    const Standing& standing
);
/// A lease that ends: it becomes `after`, and its row is freed to stand so.
struct Ending {
    const EventKind* kind = nullptr;
    Lease after;
    QueueRow held;
    Standing standing;
};
/// Frees the rows, keeps how the leases ended, emits the events and wakes who waits for the cards
/// and whom only the number of leases kept from one. Some tens at most, each of another card.
void end_leases(
    Kernel& kernel, Tx& tx, Actor& actor, const Uuid& org, const std::vector<Ending>& endings
);

/// The columns of a Lease that is over, of a row of lease_outcomes.
#define SVC_ENDED_LEASE(o)                                                                \
    o ".lease_id AS id, " o ".org_id, " o ".board_id, " o ".column_id, " o ".card_id, " o \
      ".state, " o ".attempt, " o ".epoch, " o ".lease_ttl_seconds, " o ".claimed_at, " o \
      ".renewed_at, " o ".expires_at, " o ".ended_at, " o ".error, " o ".result, " o      \
      ".cost, " SVC_HOLDER(o)

/// The same of a lease that is live, of a row of queue.
#define SVC_LIVE_LEASE(q)                                                                 \
    q ".lease_id AS id, " q ".org_id, " q ".board_id, " q ".column_id, " q ".card_id, "   \
      "'active' AS state, " q ".attempt, " q ".epoch, " q ".lease_ttl_seconds, " q        \
      ".claimed_at, " q ".renewed_at, " q ".expires_at, NULL::timestamptz AS ended_at, "  \
      "NULL::text AS error, NULL::json AS result, NULL::json AS cost, " SVC_HOLDER(q)

/// 409: the column's queue is not enabled.
Failure not_a_queue();

/// Where a card stands after a try that failed: exhausted when it was the last or `retryable` is
/// false, else in backoff for `pause`, or, without one, for a time that doubles with every try.
enum class Retry { yes, no };
boards::CardQueue after_failure(
    const QueueRow& held,
    Retry retryable,
    const std::optional<std::chrono::seconds>& pause,
    const std::optional<std::string>& error,
    std::uint64_t random_bits
);

/// What those wait for who wait for a card of this column.
std::string topic_of(const Uuid& column);

/// A card of this column is ready: look again. Call it after the commit.
void wake(Kernel& kernel, const Uuid& column);
/// The same on all servers: for what leaves no event, from which the others would hear of it.
void wake_everywhere(Kernel& kernel, const Uuid& column);
/// While the module opens: hears what other servers wake everywhere.
void hear_wakes(Kernel& kernel);

/// What those wait for whom only a number keeps from a card: that of the leases of this column or
/// to this agent.
std::string slot_of(const Uuid& column_or_agent);
/// One more may be had, on all servers. Call it after the commit.
void wake_for_slot(Kernel& kernel, const Uuid& column_or_agent);

/// The same for the number of cards in this column, to which those of others go when completed. Who
/// waits for a slot of this column itself has nothing of it.
std::string room_in(const Uuid& column);
/// What those wait for besides whom a full column keeps from a card: that completed cards go to
/// another one, as the order of the board's columns or a column's queue says.
std::string turns_of(const Uuid& board);
void wake_for_room(Kernel& kernel, const Uuid& column);

}  // namespace svc::queue
