#pragma once

#include "modules/webhooks/settings.hpp"
#include "svc/kernel.hpp"

/// What is held for webhooks that take nothing: paused, disabled or failing ones.
namespace svc::webhooks {

/// The kind of job that does it, and its name as the audit record has it.
inline constexpr std::string_view dropping = "webhooks.drop";

/// After so many new deliveries of a workspace it is looked at what is held there.
std::int64_t look_after(const Settings& settings);

/// Drops what waits beyond what a webhook and a workspace may hold, that first which has been due
/// for longest, and says so in the log and on the webhook.
JobOutcome drop_overflow(Kernel& kernel, const JobRun& run, const Settings& settings);

}  // namespace svc::webhooks
