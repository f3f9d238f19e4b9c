#pragma once

#include "svc/kernel.hpp"

namespace svc::orgs {

/// Makes the keys of addresses anew that were kept by another rule, once for a database.
///
/// Of several accounts that come to one key, the first keeps the address: a confirmed one before
/// one that is not, then the oldest. The others get a key that no address comes to: their sessions,
/// tokens and identities go on, and nobody logs in to them by address. The log names them.
void renew_address_keys(Kernel& kernel);

}  // namespace svc::orgs
