#pragma once

#include "svc/kernel.hpp"
#include "svc/operator/upkeep.hpp"

namespace svc::queue {

/// Of all workspaces: how many cards are in which state. One round trip.
std::vector<Metric> queue_metrics(Kernel& kernel);

}  // namespace svc::queue
