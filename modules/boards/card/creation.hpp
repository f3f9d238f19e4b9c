#pragma once

#include "modules/boards/api/shapes.hpp"
#include "modules/boards/placement/moves.hpp"

/// The statement that creates a card, and what it goes by.
namespace svc::boards {

/// What a card finds that is to be created: its board, its column, and the caller's right.
struct Ground {
    std::optional<BoardRole> role;
    bool caller_holds = false;
    std::string key;  ///< of the board
    bool is_archived = false;
    bool in_trash = false;
    Timestamp now;
    Uuid column_id;
    ColumnFound column;
    std::vector<std::string> required;  ///< properties that cards have to have values of
    std::int64_t created = 0;           ///< cards, the first of those that were to be

    /// Once it is known that there is such a column.
    Destination destination() const { return column.as(column_id); }
    /// The column takes so many cards and no more.
    bool is_limited() const { return column.card_count.has_value(); }
};
SVC_SHARED_RECORD(
    Ground,
    (role),
    (caller_holds),
    (key),
    (is_archived),
    (in_trash),
    (now),
    (column_id),
    (column, "", flatten),
    (required),
    (created)
);

/// Queues a look at the ground.
DeferredRows<Ground> see_ground(
    Call& call,
    const Uuid& board,
    const Uuid& column,
    const std::optional<std::string>& external_key
);

/// Queues the locks under which the ground stays as it is: what the board defines, and, where the
/// column is limited, the column. Nothing is held, and the answer is empty, for callers who may
/// not edit the board.
Result hold_place(Call& call, const Uuid& board, const Uuid& column);

enum class CreateHow {
    at_once,   ///< unless the ground is against it, or the column is limited
    held,      ///< the same behind hold_place(): the column may be limited and have room for some
    as_found,  ///< the ground was found to be right; if it is not any more, the call is run again
};
BOOST_DESCRIBE_ENUM(CreateHow, at_once, held, as_found)
/// A card that is to be.
struct NewCard {
    Card card;
    std::string request_id;              ///< its event is recorded under
    std::optional<std::int64_t> number;  ///< none for callers who may not edit the board
};
/// Queues the statement that creates the cards, counts them and emits their events. All come into
/// one column, in the order of their positions; where it takes fewer, the first do. Their keys,
/// their times and their places in a queue are the statement's to say.
DeferredRows<Ground> queue_creation(Call& call, std::span<const NewCard> cards, CreateHow how);

}  // namespace svc::boards
