#pragma once

#include "modules/boards/api/moves.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/queue/lib/rows.hpp"

#include <set>

namespace svc::queue {

/// Keeps the rows of `queue` in step with where cards stand.
std::unique_ptr<boards::CardWatcher> make_watcher(Kernel& kernel);
/// The one that the module has.
struct OwnWatcher {
    static constexpr std::string_view name = "queue.OwnWatcher";
    std::unique_ptr<boards::CardWatcher> watcher;
};

/// A card whose lease ends: as it is then, and what its row is to say.
struct Settled {
    boards::Card card;
    Standing standing;
};
/// Finds where a card goes whose attempt did not succeed: back to its place, or, exhausted, to
/// where its column sends such cards. Moves it there; the row is the caller's to write.
Settled settle(
    Actor& actor, boards::Move& move, const QueueRow& held, const boards::CardQueue& standing
);
/// The card has come to a column; with `last_error` to be read where that is no queue.
Settled settled_in(
    boards::Card card,
    const boards::ColumnRules* column,
    const Timestamp& now,
    const std::optional<std::string>& last_error
);

/// Wakes those who wait for a card that another server has made ready. This server's own changes
/// come by as well, and find them awake.
void wake_for_others(Kernel& kernel, std::span<const StoredEvent> batch);

/// The tokens of the leases that a call has ended itself.
struct EndedHere {
    static constexpr std::string_view name = "queue.EndedHere";
    std::set<std::string, std::less<>> tokens;
};

/// Refuses a write that names a lease (Call::named_lease) which is over, unless the call itself has
/// just ended it.
Verdict check_named_lease(Call& call, const Event& event);

}  // namespace svc::queue
