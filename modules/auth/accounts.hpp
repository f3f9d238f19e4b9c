#pragma once

#include "svc/kernel.hpp"

/// Making accounts and signing in to them.
namespace svc::auth {

void add_sign_up_operations(Kernel& kernel);
void add_log_in_operations(Kernel& kernel);
void add_password_operations(Kernel& kernel);
void add_password_reset_operations(Kernel& kernel);
void add_resend_operation(Kernel& kernel);

/// Queues the deletion of sign-ups that nobody verified in time.
void sweep_sign_ups(Tx& tx);
/// Queues the deletion of resets that nobody made use of.
void sweep_resets(Tx& tx);
/// Queues the end of every link to a new password that went to this address.
void forget_resets(Tx& tx, const Email& email);

}  // namespace svc::auth
