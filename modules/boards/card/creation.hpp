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
    std::optional<ColumnKind> kind;  ///< none: the board has no such column
    Uuid column_id;
    std::optional<std::int64_t> wip_limit;
    std::optional<WipPolicy> wip_policy;
    std::optional<bool> queue_enabled;
    std::optional<QueueOrder> queue_order;
    std::optional<std::int64_t> card_count;  ///< cards in the column, counted where it is limited
    OrderKey below;                          ///< of the column's last card
    std::optional<Uuid> key_conflict;        ///< the open card with the same external key
    std::vector<std::string> required;       ///< properties that cards have to have values of
    bool created = false;

    ColumnRules rules() const;
    /// The column takes so many cards and no more.
    bool is_limited() const;
    /// Throws Failure 409 wip_limit_reached.
    void require_room() const;
};
SVC_SHARED_RECORD(
    Ground,
    (role),
    (caller_holds),
    (key),
    (is_archived),
    (in_trash),
    (now),
    (kind),
    (column_id),
    (wip_limit),
    (wip_policy),
    (queue_enabled),
    (queue_order),
    (card_count),
    (below),
    (key_conflict),
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
    held,      ///< the same behind hold_place(): the column may be limited and have room
    as_found,  ///< the ground was found to be right; if it is not any more, the call is run again
};
BOOST_DESCRIBE_ENUM(CreateHow, at_once, held, as_found)
/// Queues the statement that creates the card, counts it and emits its event. Its key, its times
/// and its place in a queue are the statement's to say.
DeferredRows<Ground> queue_creation(
    Call& call, const Card& card, const std::optional<std::int64_t>& number, CreateHow how
);

}  // namespace svc::boards
