#pragma once

#include "svc/events.hpp"

namespace svc::boards {
struct Card;
const Record& svc_describe(const Card*);
}  // namespace svc::boards

/// What the queue emits about cards.
namespace svc::queue {

inline constexpr EventKind card_exhausted{
    "card.exhausted",
    "card",
    "A card's attempts are used up; somebody has to look.",
    &record_of<boards::Card>,
    at::board | at::column | at::card,
    Subject::read};

inline constexpr EventKind card_held{
    "card.held",
    "card",
    "A person holds a card in its queue: nobody is given it.",
    &record_of<boards::Card>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind card_requeued{
    "card.requeued",
    "card",
    "A person made a card ready to be claimed again.",
    &record_of<boards::Card>,
    at::board | at::column | at::card,
    Subject::read};

}  // namespace svc::queue
