#pragma once

#include "modules/queue/api.hpp"
#include "svc/operation.hpp"

/// The operations of this module.
namespace svc::queue {

extern const Operation claim_next_card, claim_from_board;
extern const Operation renew_lease, complete_lease, fail_lease, release_lease;
extern const Operation complete_leases;
extern const Operation hold_card, requeue_card, revoke_lease;
extern const Operation get_lease, list_leases, get_agent_work;
extern const Operation list_queues, get_queue, get_queue_depths, explain_claim;

/// A lease, live or over, that the caller may look at; nothing where there is none.
std::optional<Lease> find_lease(Call& call, const Uuid& id);

}  // namespace svc::queue
