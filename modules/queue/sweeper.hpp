#pragma once

#include "svc/kernel.hpp"

/// What time does to the queues. Any server may run these at any time; rows that another one is
/// just at are passed over.
namespace svc::queue {

/// Ends leases whose holders were not heard of in time: as a failure, with the same pause.
void expire_leases(Kernel& kernel);

/// Makes cards ready whose pause is over.
void end_pauses(Kernel& kernel);

/// Adds the jobs that forget how leases ended that were claimed more than `kept` ago.
void add_forgetting(Kernel& kernel, std::chrono::hours kept);

/// Adds the jobs that note how many cards each queue holds, and forget it after a day.
void add_sampling(Kernel& kernel);

}  // namespace svc::queue
