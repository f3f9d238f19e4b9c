#pragma once

#include "modules/boards/api.hpp"
#include "modules/content/shapes.hpp"
#include "svc/kernel.hpp"

/// What content offers to other modules: its shapes and its events.
namespace svc::content {

// ------------------------------------------------------------------------------------- events

/// What `block.created` tells: everything that one append made.
struct BlocksCreated {
    BlocksText blocks;
};
SVC_RECORD(
    BlocksCreated,
    (blocks, "The new blocks in their order, each with what is below it in `children`.")
);

inline constexpr EventKind block_created{
    "block.created",
    "block",
    "Blocks were added to a card; `id` is the first of them.",
    &record_of<BlocksCreated>};
inline constexpr EventKind block_updated{
    "block.updated",
    "block",
    "A block says something else, or stands elsewhere.",
    &record_of<Block>};
inline constexpr EventKind block_deleted{
    "block.deleted", "block", "A block went to the trash, with all below it.", &record_of<Block>};
inline constexpr EventKind block_restored{
    "block.restored", "block", "A block came back from the trash.", &record_of<Block>};
inline constexpr EventKind comment_created{
    "comment.created", "comment", "Somebody commented on a card.", &record_of<Comment>};
inline constexpr EventKind comment_updated{
    "comment.updated",
    "comment",
    "A comment says something else, or its discussion was resolved or taken up again.",
    &record_of<Comment>};
inline constexpr EventKind comment_deleted{
    "comment.deleted", "comment", "A comment was taken back.", &record_of<Comment>};

}  // namespace svc::content
