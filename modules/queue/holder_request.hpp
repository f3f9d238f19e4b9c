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

/// How the lease that had this token ended; nothing while it goes on, or when it is long over.
std::optional<Outcome> outcome_of(Tx& tx, const Uuid& org, const LeaseToken& token);

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

/// What proves whose a lease is. One that is none, or not this lease's, is a 404 for whoever may
/// not look at the lease, and otherwise a 403, or a 409 when the lease is over.
LeaseToken token_of(Call& call, const std::optional<Uuid>& lease, std::string_view text);

/// A lease's card and its row, as found.
struct HeldCard {
    std::unique_ptr<boards::Move> move;  ///< null when the holder keeps the card
    std::optional<QueueRow> row;
};

/// Looks at cards that are to be moved at `turn`, and locks them, in one round trip. Each card
/// once.
std::vector<HeldCard> look_at(
    Call& call,
    const boards::BoardCaller& caller,
    const std::vector<boards::MoveWish>& cards,
    boards::MoveReason turn
);

/// A request of a lease's holder. A lease that is unknown or of another workspace is a 404, one
/// that is over a 409, and a token that is not its own a 403 for whoever may look at the lease.
/// What a caller who may not edit the board sends with a wrong token locks nothing. Without an id
/// it is the lease that the token is of, and a token of none is a 404.
class HolderRequest {
public:
    /// Of a holder who gives the card back or on.
    HolderRequest(Call& call, const Uuid& lease, std::string_view token, boards::MoveReason turn);
    /// The same, once the card was looked at as that wish and turn say.
    HolderRequest(
        Call& call,
        const std::optional<Uuid>& lease,
        const LeaseToken& token,
        const std::optional<Uuid>& column,
        boards::MoveReason turn,
        HeldCard found
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

    const QueueRow& held() const { return *found_.row; }
    boards::Move& move() { return *found_.move; }
    /// Of a holder who keeps it, once there is a right to require.
    const LeasedCard& card() const { return *seen_; }

    /// Asks whether the lease may end so, before anything else is done by its end.
    void check(const EventKind& kind, const Lease& after);
    /// Ends the lease: asks, has `change` do what else is to be done and say how the card stands
    /// then, keeps the answer and emits.
    LeaseResult end(
        const EventKind& kind, const Lease& after, const std::function<Settled(Actor&)>& change
    );
    /// A lease that this has ended, and its card then.
    LeaseResult result(const Lease& after, boards::Card card) const;

private:
    void look(const boards::BoardCaller& caller);
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
    HeldCard found_;
    std::optional<LeasedCard> seen_;
    std::optional<boards::CardRights> rights_;  // the caller's own
};

}  // namespace svc::queue
