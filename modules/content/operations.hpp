#pragma once

#include "svc/operation.hpp"

/// The operations of this module, each beside what it is about.
namespace svc::content {

extern const Operation list_block_children, get_block;
extern const Operation append_block_children;
extern const Operation update_block, delete_block, move_block;
extern const Operation batch_blocks;
extern const Operation get_card_markdown, update_card_markdown;
extern const Operation list_comments, get_comment, create_comment;
extern const Operation update_comment, delete_comment, resolve_comment;
extern const Operation search;

}  // namespace svc::content
