#pragma once

#include "svc/events.hpp"
#include "svc/tx.hpp"

/// Reading the log of events across workspaces, in the order of delivery.
namespace svc::events {

/// The position of the last event that was stored.
std::int64_t last_position(Tx& tx);
/// The events after `position`, the first `count` of them. The transaction acts for all orgs.
DeferredRows<StoredEvent> events_after(Tx& tx, std::int64_t position, int count);

/// The same without envelopes and subjects.
DeferredRows<StoredEvent> heads_after(Tx& tx, std::int64_t position, int count);

}  // namespace svc::events
