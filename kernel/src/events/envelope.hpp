#pragma once

#include "events/outbox.hpp"
#include "svc/envelope.hpp"

namespace svc::events {

/// A delivered event is never larger (contract section 6.27).
inline constexpr std::size_t envelope_limit = 256 << 10;

EventActor actor_of(const Caller* caller, Surface surface);

/// The values of an event as they are kept: as they came, or, when they would make the envelope
/// too large, with `{"truncated":true}` in place of the largest.
struct Values {
    std::string changes, previous;
    std::vector<std::string> truncated_fields;
};
Values bounded(const std::string& changes, const std::string& previous);

}  // namespace svc::events
