#pragma once

#include "svc/events.hpp"
#include "svc/tx.hpp"

/// Reading events across workspaces, in the order of delivery.
namespace svc::events {

/// The position of the last event that was sequenced.
std::int64_t last_position(Tx& tx);
/// The events after `position`, the first `count` of them, without subjects. The transaction acts
/// for all orgs.
std::vector<StoredEvent> events_after(Tx& tx, std::int64_t position, int count);

/// The same without envelopes.
std::vector<StoredEvent> heads_after(Tx& tx, std::int64_t position, int count);

}  // namespace svc::events
