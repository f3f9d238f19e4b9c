#pragma once

#include "svc/kernel.hpp"

#include <mutex>
#include <set>

/// The end of a right to work ends the leases that were held by it
/// (docs/decisions/0026-a-lease-ends-with-the-right-to-work.md).
namespace svc::queue {

/// Queues that this transaction claims: whoever ends leases of the workspace waits for it. Before
/// the statement that claims.
void hold_claims(Tx& tx, const Uuid& org);

/// Ends the leases of whoever may no longer work on their cards, and frees the cards. Waits for the
/// claims that are under way, so that none of them is missed.
void end_leases_without_right(Kernel& kernel, const Uuid& org);

/// Workspaces whose events say that somebody's right is less. Any thread.
class NarrowedRights {
public:
    void note(std::span<const StoredEvent> events);
    /// Ends the leases there that are without a right now. A timer's work: what narrows a right by
    /// another server's request, or without one.
    void end_leases(Kernel& kernel);

private:
    std::mutex mutex_;
    std::set<Uuid> orgs_;  // under mutex_
};

/// While the module opens: whatever narrows a right here ends such leases before it is answered,
/// and what narrowed it elsewhere is noted.
void watch_rights(Kernel& kernel, NarrowedRights& rights);

}  // namespace svc::queue
