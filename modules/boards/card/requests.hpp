#pragma once

#include "modules/boards/api/card_fields.hpp"
#include "modules/boards/api/card_ref.hpp"
#include "modules/boards/api/kinds.hpp"
#include "modules/boards/property/values.hpp"

/// What the operations that change cards take, by themselves and in batches.
namespace svc::boards {

struct CreateCardRequest {
    Uuid board_id;
    Uuid column_id;
    std::string title;
    std::optional<CardRef> before_id;
    std::optional<CardRef> after_id;
    std::optional<std::vector<std::string>> labels;
    std::optional<std::vector<Uuid>> assignees;
    SVC_CARD_MEMBERS;
    std::optional<PropertyInput> properties;
    std::optional<CardRef> parent_card_id;
    std::optional<std::vector<CardRef>> blocked_by;
    std::optional<std::string> external_key;
    std::optional<std::vector<JsonText>> children;
    std::optional<std::string> markdown;
};
SVC_SHARED_RECORD(
    CreateCardRequest,
    (board_id),
    (column_id, "The column to stand in."),
    (title, "What is to be done, in one line.", length(1, 500), trimmed),
    (before_id, "The card to stand above."),
    (after_id, "The card to stand below; at the end of the column if neither is given."),
    (labels,
     "Ids or names; names the board does not know yet are added to it.",
     length(0, 50),
     items_up_to(60),
     trimmed),
    (assignees, "Ids of people and agents.", length(0, 20)),
    SVC_CARD_CREATED,
    (properties,
     "Values of the board's properties, by name or id of the property: as a card shows them, or "
     "bare. Options are named by id or name; names that a property does not have yet are added to "
     "it.",
     length(0, 100)),
    (parent_card_id, "The card that it is a part of; one that you can see, on any board."),
    (blocked_by, "Cards that have to be done first; those that you can see.", length(0, 50)),
    (external_key,
     "Your own name for it. Refused with 409 while another open card of the board has it, so that "
     "a repeat makes no double.",
     length(1, 200)),
    (children,
     "Its body as blocks, as append_block_children takes them; instead of `markdown`.",
     length(0, 100)),
    (markdown, "Its body as Markdown; instead of `children`.", length(0, 200'000))
);

struct UpdateCardRequest {
    CardRef card_id;
    Patch<std::string> title;
    Patch<std::vector<std::string>> labels;
    Patch<std::vector<Uuid>> assignees;
    SVC_CARD_PATCHES;
    Patch<PropertyInput> properties;
    Patch<std::optional<CardRef>> parent_card_id;
    Patch<std::vector<CardRef>> blocked_by;
    Patch<std::optional<std::string>> external_key;
    bool merge_properties = false;
};
SVC_SHARED_RECORD(
    UpdateCardRequest,
    (card_id, "Its id, or its key such as ENG-42."),
    (title, "What is to be done, in one line.", length(1, 500), trimmed),
    (labels,
     "Ids or names, in place of those it has; names the board does not know yet are added to it.",
     length(0, 50),
     items_up_to(60),
     trimmed),
    (assignees, "Ids of people and agents, in place of those it has.", length(0, 20)),
    SVC_CARD_PATCHED,
    (properties,
     "Values of the board's properties, by name or id of the property: as a card shows them, or "
     "bare; null clears one, and those that are not named stay. Options are named by id or name; "
     "names that a property does not have yet are added to it.",
     length(0, 100)),
    (parent_card_id,
     "The card that it is a part of, none of its own parts; null takes it out of the one it is in."
    ),
    (blocked_by,
     "Cards that have to be done first, in place of those it has; none that waits for this one.",
     length(0, 50)),
    (external_key,
     "Your own name for it, unique among the board's open cards; null clears it.",
     length(1, 200)),
    (merge_properties,
     "Adds labels, assignees and what is in lists among the properties to those it has.",
     defaulted)
);

struct MoveCardRequest {
    CardRef card_id;
    Uuid column_id;
    std::optional<CardRef> before_id;
    std::optional<CardRef> after_id;
};
SVC_SHARED_RECORD(
    MoveCardRequest,
    (card_id, "Its id, or its key such as ENG-42."),
    (column_id, "A column of the same board."),
    (before_id, "The card to stand above."),
    (after_id, "The card to stand below; at the end of the column if neither is given.")
);

struct CardOnly {
    CardRef card_id;
};
SVC_SHARED_RECORD(CardOnly, (card_id, "Its id, or its key such as ENG-42."));

/// The cards that a request names besides the one it is about.
std::vector<CardRef*> others_in(CreateCardRequest& in);
std::vector<CardRef*> others_in(UpdateCardRequest& in);
std::vector<CardRef*> others_in(MoveCardRequest& in);

}  // namespace svc::boards
