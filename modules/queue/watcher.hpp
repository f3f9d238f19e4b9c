#pragma once

#include "modules/boards/api/moves.hpp"
#include "modules/queue/lib/rows.hpp"

namespace svc::queue {

/// Keeps the rows of `queue` in step with where cards stand (boards::CardWatcher).
boards::CardWatcher& watcher();

/// Hands the watcher to boards; while the module opens.
void set_up_watcher(Kernel& kernel);

/// Puts a card whose lease is over where `standing` says: back to its place, or, exhausted, to
/// where its column sends such cards. The card as it is then.
boards::Card stand(
    Kernel& kernel,
    Tx& tx,
    Actor& actor,
    boards::Move& move,
    const Held& held,
    const boards::CardQueue& standing
);

/// Wakes those who wait for a card that another server has made ready. This server's own changes
/// come by as well, and find them awake.
void wake_for_others(Kernel& kernel, std::span<const StoredEvent> batch);

/// Refuses a write that names a lease (X-Svc-Lease) which is over.
Verdict check_named_lease(Call& call, const Event& event);

}  // namespace svc::queue
