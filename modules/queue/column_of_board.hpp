#pragma once

#include "modules/boards/api/access.hpp"
#include "modules/queue/lib/rows.hpp"

#include <optional>

/// The queue of one column, for those who only look.
namespace svc::queue {

struct ColumnOfBoard {
    Uuid board_id;
    Uuid column_id;
};
SVC_SHARED_RECORD(ColumnOfBoard, (board_id), (column_id, "A column whose queue is enabled."));

/// What a statement found of the column: its `role` is the caller's on the board. Failure 404 for
/// whom it is not there, not_a_queue() where it is none.
template <class Seen>
const Seen& require_queue_of(const std::optional<Seen>& seen) {
    if (!seen || !seen->role) not_found("column");
    if (!seen->queue_enabled) throw not_a_queue();
    return *seen;
}

}  // namespace svc::queue
