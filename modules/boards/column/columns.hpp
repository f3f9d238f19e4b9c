#pragma once

#include "modules/boards/api/column.hpp"
#include "modules/boards/api/moves.hpp"
#include "modules/boards/statements.hpp"
#include "svc/order_key.hpp"

/// What several files need to know of columns.
namespace svc::boards {

struct Board;

inline constexpr std::int64_t most_columns = 100;  // on a board

/// A new column on `board`, made by whoever made that; its place is the caller's to give.
Column column_of(const Board& board, const std::string& name, ColumnKind kind);

/// Queues the row.
void insert(Call& call, const Column& column, const OrderKey& place);

/// A column with its place as it is kept.
struct ColumnAccess {
    Column column;
    OrderKey order_key;
};
SVC_SHARED_RECORD(ColumnAccess, (column, "", flatten), (order_key));

inline constexpr Sql see_column{"boards.get_column", R"(
    SELECT v.* FROM column_view v WHERE v.org_id = $1 AND v.board_id = $2 AND v.id = $3)"};

/// What the column asks of cards that come into it.
ColumnRules rules_of(const Column& column);

/// A queue as a request has it: what is left out stays as it is, or as it is by default.
struct ColumnQueueChange {
    Patch<bool> enabled;
    Patch<std::int64_t> lease_ttl_seconds;
    Patch<std::int64_t> max_attempts;
    Patch<std::int64_t> backoff_seconds;
    Patch<std::int64_t> backoff_max_seconds;
    Patch<bool> paused;
    Patch<std::optional<std::int64_t>> max_in_flight;
    Patch<QueueOrder> order;
    Patch<std::optional<Uuid>> on_complete_column_id;
    Patch<std::optional<Uuid>> on_exhausted_column_id;

    /// Whether it concerns how the cards here stand in the queue.
    bool concerns_cards() const { return enabled.given() || order.given(); }
    void apply_to(ColumnQueue& queue) const;
};
SVC_SHARED_RECORD(
    ColumnQueueChange,
    (enabled,
     "Whether workers may claim its cards. Switched off, workers lose the cards they have; "
     "switched "
     "on, all cards here are ready."),
    (lease_ttl_seconds, "How long a claim holds unless renewed.", range(5, 86400)),
    (max_attempts, "Failed or expired claims before a card is exhausted.", range(1, 100)),
    (backoff_seconds,
     "Pause after the first failure; doubles with every further one.",
     range(0, 86400)),
    (backoff_max_seconds, "The pause never exceeds this.", range(0, 86400)),
    (paused, "Whether claims are given no card; leases go on."),
    (max_in_flight,
     "How many of its cards may be worked on at a time; null: any number. Leases beyond it go on.",
     range(1, 1000)),
    (order, "Which card is next; under `fifo` cards that were here before go by their age."),
    (on_complete_column_id,
     "Where completed cards go; null: the next column to the right. Never this column."),
    (on_exhausted_column_id,
     "Where cards go when their attempts are used up; null: they stay. Never this column.")
);

/// The columns that a queue sends its cards to by name.
std::vector<Uuid> targets_of(const ColumnQueue& queue);

/// Where a column may stand among the others of its board.
struct ColumnGap {
    OrderKey below, above;
    std::int64_t position = 0;  ///< the rank it would have
    bool anchored = false;      ///< the column named is one of the board's
    std::int64_t targets = 0;   ///< how many of the targets are
    std::int64_t total = 0;     ///< columns of the board
};
SVC_SHARED_RECORD(ColumnGap, (below), (above), (position), (anchored), (targets), (total));

struct ColumnAnchors {
    std::optional<Uuid> before, after;
};

/// Queues the look-up of the gap beside those named, or behind the last; `self` is left out of
/// account.
DeferredRows<ColumnGap> find_gap(
    Tx& tx,
    const Uuid& org,
    const Uuid& board,
    const ColumnAnchors& anchors,
    const std::vector<Uuid>& targets,
    const std::optional<Uuid>& self
);
/// More room around a column that has just been given a long key.
void make_room_for_columns(Tx& tx, const Uuid& org, const Uuid& board, const OrderKey& key);
/// 422 when both are named.
void require_one_anchor(const Call& call, const ColumnAnchors& anchors);
/// 422 when the board has no column of the name given.
void require_anchored(const Call& call, const ColumnGap& gap, const ColumnAnchors& anchors);
/// 422 when a target is not a column of the board, or is `self`.
void require_targets(
    const Call& call, const ColumnQueue& queue, std::int64_t found, const std::optional<Uuid>& self
);

/// Queues the column as it is from now on, but for its place.
void store(Call& call, const Column& column);
/// Gives it the caller's name and another version.
void sign(Column& column, const Call& call, const Timestamp& now);

}  // namespace svc::boards
