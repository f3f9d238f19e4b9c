#pragma once

#include "svc/events.hpp"
#include "svc/tx.hpp"

/// Reading the log of events across workspaces, in the order of delivery.
namespace svc::events {

/// The position of the last event that was stored.
std::int64_t last_position(Tx& tx);
/// The events after `position`, the first `count` of them. The transaction acts for all orgs.
Later<StoredEvent> events_after(Tx& tx, std::int64_t position, int count);

/// An event and whose it is, without what it says.
struct Whose {
    std::int64_t position = 0;
    Uuid org_id;
    std::int64_t sequence = 0;
};
SVC_SHARED_RECORD(Whose, (position), (org_id), (sequence));
Later<Whose> whose_events_after(Tx& tx, std::int64_t position, int count);
/// The first `count` events of a workspace after `sequence`, up to `until`, with their subjects.
Later<StoredEvent> events_of(
    Tx& tx, const Uuid& org, std::int64_t sequence, std::int64_t until, int count
);

}  // namespace svc::events
