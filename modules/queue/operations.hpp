#pragma once

#include "svc/operation.hpp"

/// The operations of this module.
namespace svc::queue {

extern const Operation claim_next_card;
extern const Operation renew_lease, complete_lease, fail_lease, release_lease;
extern const Operation get_lease;

}  // namespace svc::queue
