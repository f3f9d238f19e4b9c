#pragma once

#include "modules/queue/lib/alarms.hpp"
#include "svc/kernel.hpp"

/// What time does to the queues. Any server may run these at any time; rows that another one is
/// just at are passed over.
namespace svc::queue {

/// Ends leases whose holders were not heard of in time: as a failure, with the same pause. Of those
/// whose time is over within `ahead`, the next of each workspace gets an alarm.
void expire_leases(Kernel& kernel, Alarms& alarms, std::chrono::milliseconds ahead);
/// The same in one workspace, when its alarm rings.
void expire_leases_of(
    Kernel& kernel, const Uuid& org, Alarms& alarms, std::chrono::milliseconds ahead
);

/// Makes cards ready whose pause is over.
void end_pauses(Kernel& kernel);
/// The same in one column, and has one of those look again who wait there.
void end_pauses_of(Kernel& kernel, const Uuid& org, const Uuid& column);

/// Adds the jobs that forget how leases ended that were claimed more than `kept` ago.
void add_forgetting(Kernel& kernel, std::chrono::hours kept);

/// Adds the jobs that note how many cards each queue holds, and forget it after a day.
void add_sampling(Kernel& kernel);

}  // namespace svc::queue
