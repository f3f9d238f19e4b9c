#pragma once

#include "modules/boards/api/shapes.hpp"
#include "svc/events.hpp"

/// What the queue emits about cards.
namespace svc::queue {

inline constexpr EventKind card_exhausted{
    "card.exhausted",
    "card",
    "A card's attempts are used up; somebody has to look.",
    &record_of<boards::Card>,
    at::board | at::column | at::card,
    Subject::read};

}  // namespace svc::queue
