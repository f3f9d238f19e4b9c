#pragma once

#include "modules/boards/api/access.hpp"
#include "svc/actor.hpp"

#include <functional>
#include <memory>
#include <span>
#include <vector>

/// Moving cards, and keeping in step with where they stand.
namespace svc::boards {

struct Card;
struct Column;

/// What a column asks of the cards in it.
struct ColumnRules {
    Uuid column_id;
    ColumnKind kind{};
    std::optional<std::int64_t> wip_limit;
    WipPolicy wip_policy{};
    bool queue_enabled = false;
    QueueOrder queue_order{};
};
SVC_SHARED_RECORD(
    ColumnRules, (column_id), (kind), (wip_limit), (wip_policy), (queue_enabled), (queue_order)
);

/// A card that is given a place: made, moved, archived, restored.
struct Placing {
    const Card* before = nullptr;  ///< null when it is new
    const Card& after;
    const ColumnRules* column = nullptr;  ///< where it stands now; null when it left the board
    Timestamp now;                        ///< the transaction's, by the database
    Actor& actor;
};

/// A card, and the column that it stands in.
struct CardPlace {
    Uuid card;
    Uuid column;
};

/// Keeps something of its own in step with where cards stand, in the transaction that places
/// them (docs/decisions/0011-boards-tells-its-watchers.md). Handed to Moves::watch while modules
/// open; called on any thread.
class CardWatcher {
public:
    virtual ~CardWatcher() = default;

    using Placed = std::function<void(const Placing&)>;
    /// An existing card, locked if `caller` may change it, is about to be placed. May queue what it
    /// needs to know, but reads nothing yet. What it returns is called once the place is certain;
    /// it may read those answers, queue writes and emit events, but causes no further round trip.
    virtual Placed about_to_place(Tx& tx, const BoardCaller& caller, const Uuid& card) = 0;

    using PlacedAll = std::function<void(std::span<const Placing>)>;
    /// The same for many that all come to one column or all leave the board, with a few statements
    /// for all of them. Those given to what it returns are some of `cards`, in any order.
    virtual PlacedAll about_to_place(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards) = 0;
    /// The statement that creates cards is queued, and writes nothing of those that may not be
    /// created; may queue writes that hang on the cards' rows. Their numbers, their times and what
    /// their columns are like are not known yet.
    virtual void creating(Tx& tx, const std::vector<const Card*>& cards) = 0;
    /// One of them is created.
    virtual void created(const Placing& placing) = 0;
    /// It is queued that some of these cards have more or less to wait for than before, or that
    /// they are open or not; may queue writes.
    virtual void blockers_changed(
        Tx& tx, Actor& actor, const Uuid& org, const std::vector<CardPlace>& cards
    ) = 0;
    /// A card in a queue has another priority or due date; may queue writes.
    virtual void reordered(Tx& tx, const Card& card) = 0;
    /// A queue offers its cards in another order, and its row is queued; may queue writes.
    virtual void reordered(Tx& tx, const Column& column) = 0;
    /// Cards of this column have other keys in the same order, and their rows are queued; may
    /// queue writes.
    virtual void spaced(
        Tx& tx, const Uuid& org, const Uuid& column, const std::vector<Uuid>& cards
    ) = 0;
};

/// What a caller may do with a card.
struct CardRights {
    std::optional<BoardRole> role;
    bool board_is_archived = false;
};

/// A move in steps: begin() queued what has to be read and locked, decide() says what becomes of
/// the card, write() queues that. Dropped before, nothing was done. The first question sends the
/// pipeline. Of those that were begun together each takes those that were decided before it for
/// done.
class Move {
public:
    virtual ~Move() = default;
    /// The card as it stands, locked until the transaction ends if the caller may edit it; null
    /// when there is none.
    virtual const Card* card() = 0;
    /// Of the caller; null when there is no such card, or its board is in the trash.
    virtual std::optional<CardRights> rights() = 0;
    /// Where it would go; null when there is no such column.
    virtual const ColumnRules* to() = 0;
    /// There is no room: to() has a hard limit and is full.
    virtual bool full() = 0;
    /// The card as it stands afterwards. Throws Failure 409 wip_limit_reached when full().
    virtual Card decide(Actor& actor) = 0;
    /// Queues all that was decided of those that were begun together.
    virtual void write(Actor& actor) = 0;

    /// Both, where no other was begun with it.
    virtual Card carry_out(Actor& actor) = 0;
};

/// Where a card is to go when nobody says so by name.
enum class MoveReason { completed, exhausted };
BOOST_DESCRIBE_ENUM(MoveReason, completed, exhausted)

/// A card that is to go to `column`, or, without one, to where its present column sends cards.
struct MoveWish {
    Uuid card;
    std::optional<Uuid> column;
};

/// Offered by boards to modules that move cards.
class Moves {
public:
    static constexpr std::string_view name = "boards.Moves";

    virtual void watch(CardWatcher& watcher) = 0;
    /// Begins to move cards to the ends of columns. `asker` moves its own things itself and is not
    /// told. All is locked in the order in which everybody locks: the cards and those that wait for
    /// them, then boards, then columns. For a caller that may not edit a card nothing of it is
    /// locked, and it is not to be carried out. Each card once.
    virtual std::vector<std::unique_ptr<Move>> begin(
        Tx& tx,
        const BoardCaller& caller,
        const std::vector<MoveWish>& cards,
        MoveReason turn,
        const CardWatcher* asker
    ) = 0;
    std::unique_ptr<Move> begin(
        Tx& tx,
        const BoardCaller& caller,
        const MoveWish& card,
        MoveReason turn,
        const CardWatcher* asker
    ) {
        return std::move(begin(tx, caller, std::vector{card}, turn, asker).front());
    }

protected:
    ~Moves() = default;
};

}  // namespace svc::boards
