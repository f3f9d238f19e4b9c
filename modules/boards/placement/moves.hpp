#pragma once

#include "modules/boards/api/moves.hpp"
#include "modules/boards/statements.hpp"

/// Giving cards a place.
namespace svc::boards {

/// A column as a card finds it that wants to enter.
struct Destination {
    ColumnRules column;
    std::optional<std::int64_t> standing;  ///< cards in it, counted where the limit is hard
    OrderKey below;                        ///< of the last card; none when it is empty
    std::optional<Uuid> rival;             ///< the open card with the same external key

    /// One card more would break a hard limit.
    bool full() const;
    /// Throws Failure 409 wip_limit_reached.
    void require_room() const;
};
SVC_SHARED_RECORD(Destination, (column, "", spread), (standing), (below), (rival));

/// What a card's place in the work queues is when it comes into a column, or (null) leaves the
/// board: it begins there afresh.
void enter(Card& card, const ColumnRules* column);

/// 409 wip_limit_reached: `standing` cards are there already.
Failure wip_limit_reached(std::int64_t limit, std::int64_t standing);

/// 409 external_key_taken: `rival` has it.
Failure external_key_taken(const Uuid& rival);

/// Where the request wants a card among those of a column; at the end when it names neither.
struct Anchors {
    std::optional<Uuid> before, after;
    bool any() const { return before || after; }
};

struct Spot {
    OrderKey below, above;
    bool anchored = false;  ///< the cards named stand in the column
};
SVC_SHARED_RECORD(Spot, (below), (above), (anchored));

/// Queues the look-up of the spot that `anchors` name, `card` itself left out of account.
Later<Spot> find_spot(
    Tx& tx, const Uuid& org, const Uuid& column, const Uuid& card, const Anchors& anchors
);
/// A key for that spot; where two who came together have the same key, they are parted first, or,
/// while others place cards in the column, joined. Throws Failure 422 when an anchor stands
/// elsewhere or they contradict.
OrderKey key_at(
    Call& call, Later<Spot>& spot, const Uuid& column, const Uuid& card, const Anchors& anchors
);

/// Queues nothing unless the key is long; then it makes room around it, if nobody else is about to
/// place cards in the column. For when the card has its place and its watchers know it.
void make_room_for_cards(Tx& tx, const Uuid& org, const Uuid& column, const OrderKey& key);

/// The implementation of Moves, and the list of watchers that this module tells itself.
class MovesHere final : public Moves {
public:
    void watch(CardWatcher& watcher) override { watchers_.push_back(&watcher); }
    std::unique_ptr<Move> begin(
        Tx& tx,
        const Seat& seat,
        const Uuid& card,
        const std::optional<Uuid>& column,
        Turn turn,
        const CardWatcher* asker
    ) override;
    const std::vector<CardWatcher*>& watchers() const { return watchers_; }

private:
    std::vector<CardWatcher*> watchers_;
};

/// Filled while modules open, read by any thread afterwards.
MovesHere& moves();

/// The settles of all watchers but `asker`.
std::vector<CardWatcher::Settle> about_to_place(
    Tx& tx, const Seat& seat, const Uuid& card, const CardWatcher* asker = nullptr
);

}  // namespace svc::boards
