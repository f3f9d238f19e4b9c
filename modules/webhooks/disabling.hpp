#pragma once

#include "svc/kernel.hpp"

/// What becomes of webhooks whose endpoints do not answer.
namespace svc::webhooks {

/// Disables an active webhook, emits that and tells the admins by mail. What is due to it is held.
void disable(Kernel& kernel, const Uuid& org, const Uuid& webhook, const std::string& reason);

/// Tells the admins that a webhook's endpoint keeps failing: the `alert`th mail of this failing.
void tell_of_failing(
    Kernel& kernel, const Uuid& org, const Uuid& webhook, int alert, std::int64_t disable_days
);

}  // namespace svc::webhooks
