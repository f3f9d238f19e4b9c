#pragma once

#include "svc/kernel.hpp"

/// Making accounts and signing in to them.
namespace svc::auth {

void add_sign_up_operations(Kernel& kernel);
void add_log_in_operations(Kernel& kernel);

/// Queues the deletion of sign-ups that nobody verified in time.
void sweep_sign_ups(Tx& tx);

}  // namespace svc::auth
