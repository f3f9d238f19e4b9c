#pragma once

#include "svc/events.hpp"
#include "svc/tx.hpp"

namespace svc::events {

/// What one batch of outbox rows became.
struct Moved {
    std::size_t rows = 0;             ///< taken from the outbox, notes for the audit included
    std::vector<StoredEvent> events;  ///< in the order of their positions
    double oldest_seconds = 0;        ///< how long the first row had waited
};

/// Moves the rows with the lowest ids, as many as are visible and fit, into events and
/// audit_events. Two round trips, the caller's commit included; none changes a thing when the
/// outbox is empty. Whoever calls it holds the sequencer's lock.
Moved move_batch(Tx& tx, int rows, std::int64_t bytes);

}  // namespace svc::events
