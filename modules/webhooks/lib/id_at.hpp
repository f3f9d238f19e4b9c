#pragma once

#include "svc/types.hpp"

/// UUIDv7 are in the order of time; what was made in a span of time has an id between two others.
namespace svc::webhooks {

/// Not above any id that was made at or after this time.
Uuid first_id_at(Timestamp time);
/// Not below any id.
Uuid last_id();

}  // namespace svc::webhooks
