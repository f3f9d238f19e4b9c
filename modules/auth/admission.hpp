#pragma once

#include "modules/auth/settings.hpp"
#include "svc/kernel.hpp"

/// Who may have a new account (`auth.sign_up`). Accounts that are there already are not concerned.
namespace svc::auth {

SignUpPolicy sign_up_policy(const Kernel& kernel);

/// Guard of what begins a sign-up: Failure 403 while none is taken. It is the same for every
/// address.
void refuse_when_closed(Call& call);

/// Queues the question whether an account may be made for this address; the function returned reads
/// the answer. The address has to be the presented credential (docs/tenancy.md). An address that
/// somebody has been added with may always be confirmed.
std::function<bool()> check_admission(Call& call, const Email& email);

/// Failure 403, reason `sign_up_closed`: for whoever has proved that an address is theirs, and may
/// not have an account.
Failure sign_up_closed();

/// Failure 403, reason `account_disabled`: for whoever has proved that an account is theirs, which
/// the operator has disabled.
Failure account_disabled();

/// Puts the operation into the kernel that says which ways in are open.
void add_sign_in_options(Kernel& kernel);

}  // namespace svc::auth
