#pragma once

#include "modules/boards/api/moves.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/queue/lib/rows.hpp"
#include "modules/queue/lib/token.hpp"
#include "modules/queue/watcher.hpp"

/// What renew, complete, fail and release have in common.
namespace svc::queue {

struct LeaseResult {
    Object<"lease_result"> object;
    AsJson<Lease> lease;
    std::optional<AsJson<boards::Card>> card;
};
SVC_SHARED_RECORD(
    LeaseResult,
    (object),
    (lease, "As it is now."),
    (card, "As it is now; null when you may no longer see its board.")
);

inline constexpr std::string_view token_doc = "As claim_next_card gave it.";

/// 409: the lease is over, and how it ended.
[[noreturn]] void lease_is_over(LeaseState how);

/// How a lease ended, and what proves whose it was.
struct Outcome {
    Lease lease;
    std::string digest;
};
SVC_SHARED_RECORD(Outcome, (lease, "", flatten), (digest));

/// A leased card, as far as a renewal tells of it.
struct LeasedCard {
    std::optional<boards::BoardRole> role;
    bool board_is_archived = false;
    std::int64_t version = 0;
    std::int64_t comment_count = 0;
    bool has_to_wait = false;
};
SVC_SHARED_RECORD(
    LeasedCard, (role), (board_is_archived), (version), (comment_count), (has_to_wait)
);

/// A request of a lease's holder. It queues its look-ups for one round trip; the first question
/// sends them. A lease that is unknown or of another workspace is a 404, one that is over a 409,
/// and a token that is not its own a 403 for whoever may look at the lease. What a caller who may
/// not edit the board sends with a wrong token locks nothing. Without an id it is the lease that
/// the token is of, and a token of none is a 404.
class HolderRequest {
public:
    HolderRequest(
        Call& call,
        const std::optional<Uuid>& lease,
        std::string_view token,
        const std::optional<Uuid>& column,
        boards::MoveReason turn
    );
    /// Of a holder who keeps the card. Nothing but the lease is locked: who renews neither waits
    /// for those that change the card or hold it up, nor can stand in a circle with them.
    HolderRequest(Call& call, const Uuid& lease, std::string_view token);

    /// For what changes more than giving the card back does, for which the token is enough: 404 on
    /// a deleted board, 409 on one that is archived.
    void require_open_board();
    void require(boards::BoardRole least) { boards::require(rights_->role, least, "lease"); }

    /// When the same request has ended the lease already: the lease as it ended, and the card as it
    /// is now. Nothing while the lease is live. Asked first.
    std::optional<LeaseResult> answered(LeaseState same);

    const QueueRow& held() const { return *held_; }
    boards::Move& move() { return *move_; }
    /// Of a holder who keeps it, once there is a right to require.
    const LeasedCard& card() const { return *seen_; }

    /// Ends the lease: asks, has `change` do what else is to be done and say how the card stands
    /// then, keeps the answer and emits.
    LeaseResult end(
        const EventKind& kind, const Lease& after, const std::function<Settled(Actor&)>& change
    );

private:
    void begin(const boards::BoardCaller& caller);
    std::optional<boards::CardRights> rights();
    /// Asked behind the locks: whoever was just ending the lease is done by then.
    std::optional<Outcome> find_outcome();
    bool is_token_known();
    bool is_meant(const QueueRow& row) const;
    std::optional<AsJson<boards::Card>> if_visible(boards::Card card) const;

    Call& call_;
    const std::optional<Uuid> lease_id_;
    const LeaseToken token_;
    const std::optional<Uuid> column_;
    const std::optional<boards::MoveReason> turn_;  // none: the card is kept
    std::unique_ptr<boards::Move> move_;
    std::optional<DeferredRows<LeasedCard>> seen_later_;
    std::optional<LeasedCard> seen_;
    std::optional<DeferredRows<QueueRow>> held_later_;
    std::optional<boards::CardRights> rights_;  // the caller's own
    std::optional<QueueRow> held_;
};

}  // namespace svc::queue
