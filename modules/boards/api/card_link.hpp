#pragma once

#include "modules/boards/api/kinds.hpp"
#include "svc/caller.hpp"

/// What is between two cards (contract 6.19).
namespace svc::boards {

struct CardLink {
    Object<"card_link"> object;
    Uuid id;
    LinkType type{};
    Uuid card_id;
    Uuid target_id;
    Timestamp created_time;
    AsJson<PrincipalRef> created_by;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    CardLink,
    (object),
    (id),
    (type,
     "`blocks`: the target has to wait for the card. `relates`: the two are related. "
     "`duplicates`: the card is a duplicate of the target."),
    (card_id),
    (target_id, "The other card."),
    (created_time),
    (created_by),
    (version, "Always 1: links are created and deleted, not changed.")
);

}  // namespace svc::boards
