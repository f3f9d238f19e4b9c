#pragma once

#include "modules/boards/api/moves.hpp"
#include "modules/boards/statements.hpp"
#include "svc/order_key.hpp"

/// Giving cards a place.
namespace svc::boards {

/// A column as a card finds it that wants to enter.
struct Destination {
    ColumnRules column;
    std::optional<std::int64_t> card_count;  ///< cards in it, counted where the limit is hard
    OrderKey below;                          ///< of the last card; none when it is empty
    std::optional<Uuid> key_conflict;        ///< the open card with the same external key

    /// One card more would break a hard limit.
    bool full() const;
    /// Throws Failure 409 wip_limit_reached.
    void require_room() const;
};

/// The same as a statement finds it; without a kind where the board has no such column.
struct ColumnFound {
    std::optional<ColumnKind> kind;
    std::optional<std::int64_t> wip_limit;
    std::optional<WipPolicy> wip_policy;
    std::optional<bool> queue_enabled;
    std::optional<QueueOrder> queue_order;
    std::optional<std::int64_t> card_count;
    OrderKey below;
    std::optional<Uuid> key_conflict;

    /// Of a column that there is.
    Destination as(const Uuid& column) const;
};
SVC_SHARED_RECORD(
    ColumnFound,
    (kind),
    (wip_limit),
    (wip_policy),
    (queue_enabled),
    (queue_order),
    (card_count),
    (below),
    (key_conflict)
);

/// What a card's place in the work queues is when it comes into a column, or (null) leaves the
/// board: it begins there afresh.
void enter(Card& card, const ColumnRules* column);

/// 409 wip_limit_reached: `card_count` cards are there already.
Failure wip_limit_reached(std::int64_t limit, std::int64_t card_count);

/// 409 external_key_taken: `key_conflict` has it.
Failure external_key_taken(const Uuid& key_conflict);

/// Where the request wants a card among those of a column; at the end when it names neither.
struct Anchors {
    std::optional<Uuid> before, after;
    bool any() const { return before || after; }
};

struct Gap {
    OrderKey below, above;
    bool anchored = false;  ///< the cards named stand in the column
};
SVC_SHARED_RECORD(Gap, (below), (above), (anchored));

/// Queues the look-up of the gap that `anchors` name, `card` itself left out of account.
DeferredRows<Gap> find_gap(
    Tx& tx, const Uuid& org, const Uuid& column, const Uuid& card, const Anchors& anchors
);
/// A key for that gap; where two who came together have the same key, they are parted first, or,
/// while others place cards in the column, joined. Throws Failure 422 when an anchor stands
/// elsewhere or they contradict.
OrderKey key_at(
    Call& call, DeferredRows<Gap>& gap, const Uuid& column, const Uuid& card, const Anchors& anchors
);

/// The implementation of Moves, and the list of watchers that this module tells itself.
class MovesImpl final : public Moves {
public:
    static const MovesImpl& of(const Kernel& kernel);

    void watch(CardWatcher& watcher) override { watchers_.push_back(&watcher); }
    using Moves::begin;
    std::vector<std::unique_ptr<Move>> begin(
        Tx& tx,
        const BoardCaller& caller,
        const std::vector<MoveWish>& cards,
        MoveReason turn,
        const CardWatcher* asker
    ) override;
    const std::vector<CardWatcher*>& watchers() const { return watchers_; }
    void blockers_changed(
        Tx& tx, Actor& actor, const Uuid& org, const std::vector<CardPlace>& cards
    ) const;
    /// What the watchers do once it is placed, all but `asker`.
    std::vector<CardWatcher::Placed> about_to_place(
        Tx& tx, const BoardCaller& caller, const Uuid& card, const CardWatcher* asker
    ) const;
    /// Queues nothing unless the key is long; then it makes room around it, if nobody else is about
    /// to place cards in the column. For when the card has its place and its watchers know it.
    void make_room(Tx& tx, const Uuid& org, const Uuid& column, const OrderKey& key) const;

private:
    std::vector<CardWatcher*> watchers_;  // filled while modules open
};

}  // namespace svc::boards
