#pragma once

#include "modules/boards/bodies.hpp"
#include "svc/operation.hpp"

/// The operations of this module, each beside what it is about.
namespace svc::boards {

extern const Operation create_board, list_boards, get_board;
extern const Operation create_column, list_columns, get_column;
extern const Operation create_label;
extern const Operation create_card, get_card, list_cards, update_card;
extern const Operation move_card, archive_card, restore_card, delete_card;
extern const Operation duplicate_card, batch_cards, get_card_context;
extern const Operation link_cards, unlink_cards, watch_card, unwatch_card;
extern const Operation list_card_activity, list_card_versions, revert_card;

/// Where other modules say that they know something for work briefs.
Briefs& briefs();

}  // namespace svc::boards
