#pragma once

#include "svc/events.hpp"
#include "svc/tx.hpp"

#include <vector>

/// Reading a workspace's events in their order.
namespace svc {

/// Which events of the transaction's workspace to read.
struct EventRange {
    std::int64_t after = 0;  ///< the sequence of the last that is known
    std::optional<Uuid> board;
    std::vector<std::string> kinds{};  ///< filters as kind_matches() takes them; none: all
    std::int64_t count = 100;          ///< of events at most
    std::int64_t look_at = 1'000;      ///< of events, whether they are wanted or not
    std::int64_t bytes = 1 << 20;      ///< of their values; one event always comes
};

/// Some events, in their order, without subjects.
struct EventPage {
    std::vector<StoredEvent> events;
    std::int64_t to = 0;      ///< there is nothing else in the range up to this sequence
    std::int64_t last = 0;    ///< the workspace's last sequence
    std::int64_t oldest = 1;  ///< the first sequence that is still kept

    bool is_last() const { return to >= last; }
    /// Whether a reader of what is after `after` has missed events that are no longer kept.
    bool is_gap(std::int64_t after) const { return after + 1 < oldest; }
};

/// Queues the question; the function returned reads the answer. The transaction acts for `org`.
std::function<EventPage()> read_events(Tx& tx, const Uuid& org, const EventRange& range);

}  // namespace svc
