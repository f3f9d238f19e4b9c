#pragma once

#include "svc/operation.hpp"

/// The operations of this module, each beside what it is about.
namespace svc::boards {

extern const Operation create_board, list_boards, get_board;
extern const Operation create_column, list_columns, get_column;
extern const Operation create_label;
extern const Operation create_card, get_card, list_cards, update_card;
extern const Operation move_card, archive_card, restore_card;

}  // namespace svc::boards
