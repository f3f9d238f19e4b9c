#pragma once

#include "modules/boards/board/board.hpp"
#include "modules/boards/lib/new_ids.hpp"
#include "svc/actor.hpp"
#include "svc/jobs.hpp"

/// Cards of boards that are copied: they follow the board batch by batch, each batch in a
/// transaction of its own that holds little and is resumed where the last one ended
/// (docs/decisions/0023-cards-of-a-copied-board-follow.md).
namespace svc::boards {

inline constexpr std::int64_t most_copied = 10'000;  ///< cards of one board

/// Queues which cards of `source` the new board gets: those that are neither archived nor in the
/// trash. `ids` are those of columns, labels, properties and options. The answer: how many; more
/// than `most_copied` when they are too many.
Result plan_copies(Call& call, const Uuid& source, const Uuid& board, const NewIds& ids);

/// Copies the next cards, about 1 MiB of them at most; how many are still to come. The caller is
/// the one who asked, or a job.
std::int64_t copy_next_cards(
    Kernel& kernel, Tx& tx, Actor& actor, const Uuid& org, const Uuid& board
);

/// The job that goes on with a copy; its key is the board that is made.
JobKind copy_job(Kernel& kernel);

}  // namespace svc::boards
