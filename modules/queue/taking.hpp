#pragma once

#include "modules/boards/api/shapes.hpp"
#include "modules/queue/lib/rows.hpp"
#include "modules/queue/lib/token.hpp"

#include <mutex>
#include <optional>
#include <set>
#include <vector>

/// Taking cards out of queue columns: what claims have in common.
namespace svc::queue {

/// Why a claim is given no card.
enum class ClaimReason { empty, paused, max_in_flight, max_leases, target_full };
BOOST_DESCRIBE_ENUM(ClaimReason, empty, paused, max_in_flight, max_leases, target_full)

struct ClaimedCard {
    Lease lease;
    std::string lease_token;
    boards::Card card;
};
SVC_SHARED_RECORD(
    ClaimedCard,
    (lease, "What you hold."),
    (lease_token, "Proves that this card is yours.", secret),
    (card, "What is to be done.")
);

/// A column as a claim found it.
struct ColumnSeen {
    std::optional<boards::BoardRole> role;
    bool caller_holds = false;
    bool queue_enabled = false;
    bool board_archived = false;
    bool paused = false;
    std::optional<bool> target_full;  ///< none: no column of the board has a hard limit
    std::optional<Uuid> target_id;    ///< where completed cards go, as far as limits are counted
    std::optional<std::int64_t> max_in_flight;
    std::optional<std::int64_t> max_leases;
    bool has_slot = true;    ///< fewer of its cards are leased than may be
    bool agent_free = true;  ///< fewer cards are leased to the caller than may be
    bool taken = false;
    std::optional<std::int64_t> next_ready_milliseconds;  ///< until a pause ends

    ClaimReason reason() const;
};
SVC_SHARED_RECORD(
    ColumnSeen,
    (role),
    (caller_holds),
    (queue_enabled),
    (board_archived),
    (paused),
    (target_full),
    (target_id),
    (max_in_flight),
    (max_leases),
    (has_slot),
    (agent_free),
    (taken),
    (next_ready_milliseconds)
);

/// What a lease is given before it is known which card it is of.
struct Ticket {
    std::string request_id;  ///< under which the claim is recorded
    Uuid lease_id = new_uuid();
    LeaseToken::Secret secret = LeaseToken::new_secret();
    Sha256 digest = LeaseToken::digest_of(secret);
};

/// Columns and agents that may have so many leases and no more, and boards with a column that takes
/// so many cards and no more, as far as this server knows: a guess, for it is dear to find out each
/// time. Whoever claims from such a column, or is such an agent, waits for others.
/// Offered to the handlers. Any thread.
class KnownLimits {
public:
    static constexpr std::string_view name = "queue.KnownLimits";

    bool contains(const Uuid& id) const;
    void set(const Uuid& id, bool in);

private:
    static constexpr std::size_t most = 4096;
    mutable std::mutex mutex_;
    std::set<Uuid> ids_;
};

/// One statement a column, for one card or for many. Where leases are limited it is one claim at a
/// time, and everywhere else no claim waits for another.
class Taking {
public:
    /// At most `most` cards, of columns of this board.
    Taking(
        Call& call, const Uuid& board, const std::optional<std::int64_t>& ttl, std::int64_t most
    );
    /// A card for each of these requests, in their order.
    Taking(
        Call& call,
        const Uuid& board,
        const std::optional<std::int64_t>& ttl,
        std::vector<std::string> request_ids
    );

    /// Claims from these columns, in this order. Throws what keeps the caller from claiming there.
    void run(const std::vector<Uuid>& columns);

    std::vector<ClaimedCard>& claimed() { return claimed_; }
    /// As they were when they were last asked: in the order of run().
    const std::vector<ColumnSeen>& seen() const { return seen_; }

private:
    void take_from(const Uuid& column, ColumnSeen& seen);
    void take_from(const Uuid& column, const QueueKey& from, ColumnSeen& seen);
    bool enough() const;
    std::vector<Ticket> tickets() const;
    bool holds(const Uuid& column) const;
    /// Limits are counted, as far as it is known that there are some.
    bool counts_limits(const Uuid& column) const;
    void hold_limits();
    Result queue_take(const Uuid& column, const std::vector<Ticket>& tickets, const QueueKey& from);
    void read_taken(
        const Uuid& column, Result& result, std::size_t row, const std::vector<Ticket>& tickets
    );
    Lease lease_of(const Uuid& column, const Uuid& id) const;

    Call& call_;
    const Uuid board_;
    const std::optional<std::int64_t> ttl_;
    std::size_t most_ = 1;
    std::vector<std::string> request_ids_;  ///< of the cards; the call's for all that are not named
    std::vector<Uuid> held_;    ///< columns whose limit is asked by one claim at a time
    bool holds_agent_ = false;  ///< the same of the caller's
    bool board_is_limited_ = false;
    std::vector<ColumnSeen> seen_;
    std::vector<ClaimedCard> claimed_;
    QueueKey last_;  ///< where the last of them stood
};

}  // namespace svc::queue
