#pragma once

#include "modules/boards/card/requests.hpp"

/// What a batch of changes consists of.
namespace svc::boards {

struct BatchItem {
    std::optional<CreateCardRequest> create;
    std::optional<UpdateCardRequest> update;
    std::optional<MoveCardRequest> move;
    std::optional<CardOnly> archive;
    std::optional<CardOnly> delete_;
    std::optional<std::int64_t> version;
};
SVC_SHARED_RECORD(
    BatchItem,
    (create, "A card to create, as create_card takes it."),
    (update, "A card to change, as update_card takes it."),
    (move, "A card to move, as move_card takes it."),
    (archive, "A card to archive."),
    (delete_, "A card to delete."),
    (version,
     "The version that the card must have before the batch; 412 for this item otherwise.",
     range(1, std::numeric_limits<std::int64_t>::max()))
);

/// The card that an item is about; null when it makes one.
CardRef* card_in(BatchItem& item);

/// Locks whatever any item will lock, all at once and in the order in which all lock: ties, cards,
/// boards. Cards that items name by their key are named by their id from then on.
void lock_for_batch(Call& call, std::vector<BatchItem>& items);

}  // namespace svc::boards
