#pragma once

#include "svc/kernel.hpp"

/// What becomes of webhooks whose endpoints do not answer.
namespace svc::webhooks {

/// Disables an active webhook, emits that and tells the admins by mail. What is due to it is held.
/// Nothing, when its endpoint is in another epoch by then (Line::epoch).
void disable(
    Kernel& kernel,
    const Uuid& org,
    const Uuid& webhook,
    std::int64_t epoch,
    const std::string& reason
);

/// Tells the admins that a webhook's endpoint keeps failing: the `alert`th mail of this failing. In
/// the same epoch alone.
void tell_of_failing(
    Kernel& kernel,
    const Uuid& org,
    const Uuid& webhook,
    std::int64_t epoch,
    int alert,
    std::int64_t disable_days
);

}  // namespace svc::webhooks
