#pragma once

#include "modules/boards/api/card_fields.hpp"
#include "modules/boards/api/card_queue.hpp"
#include "modules/boards/api/definitions.hpp"
#include "modules/boards/api/kinds.hpp"
#include "svc/caller.hpp"
#include "svc/moment.hpp"
#include "svc/order_key.hpp"

/// Cards as they are shown (contract 6.19).
namespace svc::boards {

struct Card {
    Object<"card"> object;
    Uuid id;
    Uuid org_id;
    Uuid board_id;
    Uuid column_id;
    std::string key;
    std::string title;
    OrderKey position;
    AsJson<std::vector<LabelRef>> labels;
    AsJson<std::vector<PrincipalRef>> assignees;
    SVC_CARD_MEMBERS;
    AsJson<std::map<std::string, JsonText>> properties;
    std::optional<Uuid> parent_card_id;
    AsJson<std::vector<Uuid>> blocked_by;
    bool blocked = false;
    std::optional<std::string> external_key;
    bool has_children = false;
    std::int64_t block_count = 0;
    std::int64_t comment_count = 0;
    CardQueue queue;
    std::optional<CardLease> lease;
    bool is_archived = false;
    bool in_trash = false;
    std::optional<Timestamp> completed_at;
    std::string url;
    Timestamp created_time;
    AsJson<PrincipalRef> created_by;
    Timestamp last_edited_time;
    AsJson<PrincipalRef> last_edited_by;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    Card,
    (object),
    (id),
    (org_id, "The workspace."),
    (board_id),
    (column_id),
    (key, "Its name for people, such as ENG-42; calls that take a card's id take it as well."),
    (title, "One line of text."),
    (position,
     "Rises from top to bottom of a column. Cards crowded into one spot may share it; they are "
     "given more room at times, which is no new version of theirs."),
    (labels, "Of those the board has, by name and color."),
    (assignees, "People and agents."),
    SVC_CARD_SHOWN,
    (properties, "Values of the board's own properties, by name; at most 32 KiB together."),
    (parent_card_id, "The card that this one is a part of; null when it is part of none."),
    (blocked_by, "Cards that have to be done first."),
    (blocked, "One of them is not done yet."),
    (external_key, "Your own name for it; unique among the board's open cards."),
    (has_children, "It has a body of blocks."),
    (block_count, "Blocks in its body, at any depth, that are not in the trash."),
    (comment_count, "Comments on it and on its blocks that are not in the trash."),
    (queue, "Queue state of the card."),
    (lease, "Who holds its lease; null when it is not leased."),
    (is_archived, "It is archived: off its column, and out of lists unless they ask for it."),
    (in_trash),
    (completed_at, "When it reached a column of kind `done`."),
    (url, "Where people see it."),
    (created_time),
    (created_by),
    (last_edited_time),
    (last_edited_by),
    (version, "Rises with every change; send it as If-Match to refuse to overwrite others.")
);

}  // namespace svc::boards
