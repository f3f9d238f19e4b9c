#pragma once

#include "modules/webhooks/sender.hpp"
#include "svc/operator/upkeep.hpp"

namespace svc::webhooks {

/// What of webhooks is due, of all servers, and what this one has sent.
std::vector<Metric> webhook_metrics(Kernel& kernel, const Sender& sender);

}  // namespace svc::webhooks
