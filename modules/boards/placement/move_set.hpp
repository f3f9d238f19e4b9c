#pragma once

#include "modules/boards/api/shapes.hpp"
#include "modules/boards/card/access.hpp"
#include "modules/boards/placement/moves.hpp"

#include <map>
#include <set>

/// Giving cards another place, or none: what is looked up for several of them at once, and written
/// at once.
namespace svc::boards {

/// What is asked of cards: columns by name, or those that the present ones name at `turn`.
struct MoveRequest {
    BoardCaller caller;
    std::vector<MoveWish> cards;
    std::string_view turn;
    const CardWatcher* asker = nullptr;
};

/// A turn of this module's own, by this name in the statement that locks.
inline constexpr std::string_view back_to_column = "back";

/// A card that was locked, and the column that was locked for it.
struct LockedTarget {
    Uuid card_id;
    std::optional<Uuid> column_id;
};
SVC_SHARED_RECORD(LockedTarget, (card_id), (column_id));

struct LockedCards {
    Timestamp now;
    AsJson<std::vector<Uuid>> ids;  ///< with those that wait for them; sorted
    AsJson<std::vector<LockedTarget>> targets;
};
SVC_SHARED_RECORD(LockedCards, (now), (ids), (targets));

/// A card, where it goes, and what the columns are called that it leaves and comes to.
struct MoveSeen {
    CardAccess access;
    std::optional<Uuid> to_id;
    ColumnFound to;
    std::optional<std::string> to_name;
    std::string from_name, from_kind;
    AsJson<std::vector<Uuid>> links;  ///< the cards that wait for it; sorted
};
SVC_SHARED_RECORD(
    MoveSeen,
    (access, "", flatten),
    (to_id),
    (to, "", flatten),
    (to_name),
    (from_name),
    (from_kind),
    (links)
);

/// What became of a card.
struct Decided {
    std::size_t number = 0;  ///< among the cards of the request
    Card before, after;
    std::optional<ColumnRules> column;  ///< where it stands now; none when it left the board
    std::vector<Uuid> links;            ///< the cards that wait for it
    Event event;
};

class MoveSet {
public:
    MoveSet(Tx& tx, const MovesImpl& moves, MoveRequest request);

    Tx& tx() { return tx_; }
    const MovesImpl& moves() const { return moves_; }
    const MoveRequest& request() const { return request_; }
    Timestamp now() { return locked().now; }

    /// Nothing when there is no such card.
    std::optional<MoveSeen> seen(std::size_t number);
    /// `found`, once the cards are where they go that were decided before.
    Destination by_now(const Destination& found, const Card& card) const;

    void decided(Decided card);
    /// Queues it, and tells those who wait and those who watch.
    void write(Actor& actor);

private:
    const LockedCards& locked();
    void queue_rows(Actor& actor);
    void tell_waiting(Actor& actor);
    void lock_late_comers(const std::set<Uuid>& links);

    Tx& tx_;
    const MovesImpl& moves_;
    const MoveRequest request_;
    DeferredRows<LockedCards> locked_later_;
    // Their locks ask for the role as well, so the last word on it comes after them.
    std::vector<std::vector<CardWatcher::Placed>> after_placing_;  // for each card
    DeferredRows<MoveSeen> seen_later_;
    std::optional<LockedCards> locked_;
    std::optional<std::map<Uuid, MoveSeen>> seen_;
    std::vector<Decided> decided_;
    // Of all that were decided:
    std::map<Uuid, std::int64_t> more_in_;                           // columns
    std::map<Uuid, OrderKey> last_in_;                               // columns
    std::map<std::pair<Uuid, std::string>, Uuid> keys_of_reopened_;  // by board and external key
};

}  // namespace svc::boards
