#pragma once

#include "svc/events.hpp"
#include "svc/tx.hpp"

#include <vector>

namespace svc {

/// The events at these positions (StoredEvent::position), with their envelopes and without subjects,
/// in no order; those that are no longer kept are missing. The transaction acts for all workspaces.
/// One round trip.
std::vector<StoredEvent> events_at(Tx& tx, const std::vector<std::int64_t>& positions);

}  // namespace svc
