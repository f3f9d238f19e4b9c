#pragma once

#include "svc/kernel.hpp"
#include "svc/operator/upkeep.hpp"

namespace svc::mail {

/// How many mails wait, and how many nobody will send any more. One round trip.
std::vector<Metric> mail_metrics(Kernel& kernel);

}  // namespace svc::mail
