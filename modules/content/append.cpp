// Adding blocks.

#include "modules/boards/api/named_cards.hpp"
#include "modules/content/changes.hpp"
#include "modules/content/file_urls.hpp"
#include "modules/content/operations.hpp"

namespace svc::content {

namespace {

struct AppendChildrenRequest {
    boards::CardRef parent_id;
    std::vector<BlockInput> children;
    std::optional<Position> position;
    std::optional<Uuid> after;
};
SVC_RECORD(
    AppendChildrenRequest,
    (parent_id,
     "A block, or a card, by its id or its key such as ENG-42, for the blocks directly on it."),
    (children, "The new blocks in their order.", length(1, most_in_list)),
    (position, "Where they go; left out, behind all others."),
    (after, "The block to stand behind; an older way to say `position`.")
);

Page<Block> append(Call& call, const AppendChildrenRequest& in) {
    if (count_blocks(in.children) > most_in_request)
        throw wrong_at(call, "\"children\"", "a request brings 1000 blocks at most");
    const Uuid parent = boards::id_of(call, in.parent_id);
    const Place place = Place::of(call, parent, in.position, in.after);
    auto seen = lock_card(call, CardKey(parent, IdOf::card_or_block));
    auto gap = find_gap(call, place, std::nullopt);
    CardTree tree(call);
    tree.queue_ancestors({parent});
    tree.queue_taken(in.children);
    NameLookup names(call, naming_parts("children", in.children));

    tree.take(require_changeable(seen.one(), BoardRole::editor));
    auto blocks = in.children;
    resolve(blocks, names.names());
    const auto ids = tree.insert(place, gap.one_or_retry(), std::move(blocks));
    BlockEvents events(call, tree);
    events.made(ids);
    tree.write();
    events.emit();

    Page<Block> made;
    std::vector<StoredBlock> rows;
    for (const Uuid& each : ids) rows.push_back(tree.block(each));
    made.results = linked(call, std::move(rows));
    return made;
}

}  // namespace

const Operation append_block_children{
    .name = "append_block_children",
    .route = "PATCH /v1/blocks/{parent_id}/children",
    .summary = "Add blocks to a card, or below a block.",
    .description =
        "Adds up to 1000 blocks in up to ten levels, all or none, and answers the new blocks of "
        "the first level. Each block names its type by the member that holds its content: "
        "`{\"paragraph\": {\"rich_text\": [{\"text\": {\"content\": \"Hello\"}}]}}`. What is below "
        "it comes in `children`, beside that member or within it.",
    .access = Access::board_editor,
    .under_lease = true,
    .body_limit = 2 << 20,
    .handler = append,
};

}  // namespace svc::content
