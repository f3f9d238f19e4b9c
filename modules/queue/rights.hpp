#pragma once

#include "svc/kernel.hpp"

/// The end of a right to work ends the leases that were held by it
/// (docs/decisions/0026-a-lease-ends-with-the-right-to-work.md).
namespace svc::queue {

/// Queues that this transaction claims: whoever ends leases of the workspace waits for it. Before
/// the statement that claims.
void hold_claims(Tx& tx, const Uuid& org);

/// Ends the leases of whoever may no longer work on their cards, and frees the cards. Waits for the
/// claims that are under way, so that none of them is missed.
void end_leases_without_right(Kernel& kernel, const Uuid& org);

/// While the module opens: whatever narrows a right here ends such leases before it is answered,
/// and what narrowed it elsewhere within moments.
void watch_rights(Kernel& kernel);

/// A job: what the events told of that came by another way.
void look_at_rights(Kernel& kernel);

}  // namespace svc::queue
