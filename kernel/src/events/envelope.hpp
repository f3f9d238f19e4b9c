#pragma once

#include "events/log.hpp"
#include "svc/envelope.hpp"

namespace svc::events {

/// A delivered event is never larger (contract section 6.27).
inline constexpr std::size_t envelope_limit = 256 << 10;

/// The ids of an event's place, its own among them: of a card's event, `card_id` is the card's.
struct PlaceIds {
    std::optional<Uuid> board_id, column_id, card_id, parent_id;
};
/// Throws std::logic_error when the event is not as its kind declares it: an event that readers
/// cannot rely on is a mistake in the module that makes it.
PlaceIds place_of(const Event& event);

std::optional<JsonText> json_of(const std::optional<EventPlace>& place);

EventActor actor_of(const Caller* caller, Surface surface);

/// The values of an event as they are kept: as they came, or, when they would make the envelope
/// too large, with `{"truncated":true}` in place of the largest.
struct Values {
    std::string changes, previous;
    std::vector<std::string> truncated_fields;
};
Values bounded(const std::string& changes, const std::string& previous);
/// Likewise of one record.
std::string bounded(const std::string& record);

}  // namespace svc::events
