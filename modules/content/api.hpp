#pragma once

#include "modules/content/shapes.hpp"
#include "svc/kernel.hpp"

/// What content offers to other modules: its shapes and its events.
namespace svc::content {

// ------------------------------------------------------------------------------------- events

/// What `block.created` has: everything that one append made.
struct BlocksCreated {
    BlocksText blocks;
};
SVC_SHARED_RECORD(
    BlocksCreated,
    (blocks, "The new blocks in their order, each with what is below it in `children`.")
);

/// What `block.updated` and `block.deleted` have: of one block its fields, or where it stands now;
/// of many which they are.
struct BlockChange {
    Block block;
    std::optional<JsonText> position;
    std::optional<std::vector<Uuid>> blocks;
};
SVC_SHARED_RECORD(
    BlockChange,
    (block, "", flatten),
    (position, "Where a moved block was asked to be.", omit_empty),
    (blocks,
     "Where more than 100 changes were made to a card at once: all blocks that changed in this "
     "way, in place of an event for each. Their other fields are to be read from the card.",
     omit_empty)
);

inline constexpr EventKind block_created{
    "block.created",
    "block",
    "Blocks were added to a card; `id` is the first of them.",
    &record_of<BlocksCreated>,
    at::board | at::column | at::card | at::parent,
    Subject::read,
    &record_of<Block>};
inline constexpr EventKind block_updated{
    "block.updated",
    "block",
    "A block has other content or another place; of a large change `id` is the first block, and "
    "`blocks` names all.",
    &record_of<BlockChange>,
    at::board | at::column | at::card | at::parent,
    Subject::read,
    &record_of<Block>};
inline constexpr EventKind block_deleted{
    "block.deleted",
    "block",
    "A block went to the trash, with all below it; of a large change `id` is the first block, and "
    "`blocks` names all.",
    &record_of<BlockChange>,
    at::board | at::column | at::card | at::parent,
    Subject::read,
    &record_of<Block>};
inline constexpr EventKind block_restored{
    "block.restored",
    "block",
    "A block came back from the trash.",
    &record_of<Block>,
    at::board | at::column | at::card | at::parent,
    Subject::read};
inline constexpr EventKind comment_created{
    "comment.created",
    "comment",
    "Somebody commented on a card.",
    &record_of<Comment>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind comment_updated{
    "comment.updated",
    "comment",
    "A comment says something else, or its discussion was resolved or taken up again.",
    &record_of<Comment>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind comment_deleted{
    "comment.deleted",
    "comment",
    "A comment was deleted.",
    &record_of<Comment>,
    at::board | at::column | at::card};

}  // namespace svc::content
