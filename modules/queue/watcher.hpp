#pragma once

#include "modules/boards/api/moves.hpp"
#include "modules/queue/lib/rows.hpp"

namespace svc::queue {

/// Keeps the rows of `queue` in step with where cards stand.
std::unique_ptr<boards::CardWatcher> make_watcher(Kernel& kernel);
/// The one that the module has.
struct OwnWatcher {
    static constexpr std::string_view name = "queue.OwnWatcher";
    std::unique_ptr<boards::CardWatcher> watcher;
};

/// Puts a card whose lease is over where `standing` says: back to its place, or, exhausted, to
/// where its column sends such cards. The card as it is then.
boards::Card finish_lease(
    Kernel& kernel,
    Tx& tx,
    Actor& actor,
    boards::Move& move,
    const QueueRow& held,
    const boards::CardQueue& standing
);

/// Wakes those who wait for a card that another server has made ready. This server's own changes
/// come by as well, and find them awake.
void wake_for_others(Kernel& kernel, std::span<const StoredEvent> batch);

/// Whether the call says by which lease it works (X-Svc-Lease).
bool names_lease(const Call& call);
/// Refuses a write that names a lease (X-Svc-Lease) which is over.
Verdict check_named_lease(Call& call, const Event& event);

}  // namespace svc::queue
