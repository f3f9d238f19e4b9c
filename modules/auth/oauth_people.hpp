#pragma once

#include "modules/auth/api.hpp"
#include "svc/kernel.hpp"

/// Whose account an outside identity is.
namespace svc::auth {

/// Begins a session for the person whom the provider vouches for, whose account is found, taken
/// over or made. Failure with the code `email_unverified` or `account_conflict` when that would
/// give one person the account of another.
void sign_in_by(Call& call, const Identity& identity);

}  // namespace svc::auth
