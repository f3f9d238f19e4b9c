// Changing, deleting, restoring and moving one block.

#include "modules/boards/api/named_cards.hpp"
#include "modules/content/changes.hpp"
#include "modules/content/file_urls.hpp"
#include "modules/content/operations.hpp"

#include "svc/json.hpp"

#include <boost/json/value.hpp>

namespace svc::content {

namespace {

// ----------------------------------------------------------------------------------- changing

struct UpdateBlockRequest {
    Uuid block_id;
#define SVC_MEMBER(name, Payload, below) std::optional<Changes<Payload>> name;
    SVC_BLOCK_TYPES(SVC_MEMBER)
#undef SVC_MEMBER
    std::optional<bool> in_trash;
    std::optional<bool> archived;
    std::optional<BlockType> type;
    JsonText object, id, parent, card_id, has_children, created_time, created_by, last_edited_time,
        last_edited_by, version, children, children_truncated, request_id;
};
#define SVC_SENT(name, Payload, below) (name, "For a block of this type: the fields to change.")
#define SVC_ECHO(name) (name, "As answers show it; ignored.", read_only)
SVC_RECORD(
    UpdateBlockRequest,
    (block_id, "A block."),
    SVC_BLOCK_LIST(SVC_SENT, BOOST_PP_COMMA),
    (in_trash, "true moves it and all below it to the trash, false restores it."),
    (archived, "An older name of in_trash."),
    (type, "The block's own type, if at all; it never changes."),
    SVC_ECHO(object),
    SVC_ECHO(id),
    SVC_ECHO(parent),
    SVC_ECHO(card_id),
    SVC_ECHO(has_children),
    SVC_ECHO(created_time),
    SVC_ECHO(created_by),
    SVC_ECHO(last_edited_time),
    SVC_ECHO(last_edited_by),
    SVC_ECHO(version),
    SVC_ECHO(children),
    SVC_ECHO(children_truncated),
    SVC_ECHO(request_id)
);
#undef SVC_SENT
#undef SVC_ECHO

/// What an update says, taken out of its record.
struct BlockChange {
    std::optional<BlockType> type;
    JsonText payload;
    std::optional<bool> in_trash;
    References references;  ///< by what is sent
};

template <class T>
void take(
    const Call& call, BlockChange& change, BlockType type, const std::optional<Changes<T>>& sent
) {
    if (!sent) return;
    if (change.type)
        throw wrong_at(
            call, '"' + std::string(name_of(type)) + '"', "a block has one type; send its own"
        );
    change.type = type;
    change.payload.text = sent->text;
}

BlockChange change_of(const Call& call, const UpdateBlockRequest& in) {
    BlockChange change;
#define SVC_TAKE(name, Payload, below) take(call, change, BlockType::name, in.name);
    SVC_BLOCK_TYPES(SVC_TAKE)
#undef SVC_TAKE
    if (in.type && change.type && *in.type != *change.type)
        throw wrong_at(call, "\"type\"", "it does not name the member that is given");
    if (in.in_trash && in.archived && *in.in_trash != *in.archived)
        throw wrong_at(call, "\"archived\"", "it contradicts in_trash");
    change.in_trash = in.in_trash ? in.in_trash : in.archived;
    if (change.type) change.references = references_of(parse_json(change.payload.text));
    return change;
}

/// What the block holds once the change is made.
Worded reworded(
    Call& call, const StoredBlock& row, const BlockChange& change, const ReferenceNames& names
) {
    if (*change.type != row.type)
        throw wrong_at(
            call,
            '"' + std::string(name_of(*change.type)) + '"',
            "the block is a " + std::string(name_of(row.type)) + ", and a type never changes"
        );
    Reader reader;
    auto root = reader.at(root_of(call));
    auto step = reader.at(name_of(row.type));
    References references;
    const std::string payload =
        changed_payload(reader, row.type, row.payload.text, change.payload, references);
    if (!reader.clean()) throw Failure::invalid_input(reader.issues());
    return kind_of(row.type).resolve(payload, names);
}

/// One block, locked with its card, with what is above and below it.
class Edit {
public:
    /// `beside`: another block that matters, with what is above it.
    Edit(Call& call, const Uuid& id, const std::optional<Uuid>& beside = std::nullopt)
        : call_(call),
          id_(id),
          seen_(lock_card(call, CardKey(id, IdOf::card_or_block))),
          tree_(call) {
        tree_.queue_ancestors(beside ? std::vector{id, *beside} : std::vector{id});
        tree_.queue_below(id);
    }

    CardTree& begin() {
        tree_.take(require_changeable(seen_.one(), BoardRole::editor));
        call_.require_version(tree_.block(id_).version);
        return tree_;
    }

    Block finish(BlockEvents& events) {
        if (tree_.write()) events.emit();
        return linked(call_, tree_.block(id_));
    }

private:
    Call& call_;
    Uuid id_;
    DeferredRows<CardAccess> seen_;
    CardTree tree_;
};

Block update(Call& call, const UpdateBlockRequest& in) {
    const BlockChange change = change_of(call, in);
    Edit edit(call, in.block_id);
    const bool comes_back = change.in_trash == false;
    std::optional<DeferredRows<OwnPlace>> own;
    if (comes_back) own = find_own_place(call, in.block_id);
    std::vector<NamingPart> naming;
    if (change.type) naming.push_back(naming_part(name_of(*change.type), change.references));
    NameLookup wanted(call, std::move(naming));
    CardTree& tree = edit.begin();
    BlockEvents events(call, tree);
    if (in.type && *in.type != tree.block(in.block_id).type)
        throw wrong_at(call, "\"type\"", "the type of a block never changes");
    const bool back = comes_back && tree.restore(in.block_id, own->one_or_retry());
    if (change.type) {
        ReferenceNames kept;
        keep_names(tree.block(in.block_id).payload.text, kept);
        const ReferenceNames names = wanted.names(std::move(kept));
        tree.change(in.block_id, reworded(call, tree.block(in.block_id), change, names));
    }
    const bool gone = change.in_trash == true && tree.trash(in.block_id);
    if (back) events.restored(in.block_id);
    if (gone) events.deleted(in.block_id);
    if (tree.is_reworded(in.block_id)) events.changed(in.block_id);
    return edit.finish(events);
}

// ------------------------------------------------------------------------- deleting and moving

struct BlockId {
    Uuid block_id;
};
SVC_RECORD(BlockId, (block_id, "A block."));

Block remove(Call& call, const BlockId& in) {
    Edit edit(call, in.block_id);
    CardTree& tree = edit.begin();
    BlockEvents events(call, tree);
    if (tree.trash(in.block_id)) events.deleted(in.block_id);
    return edit.finish(events);
}

struct MoveBlockRequest {
    Uuid block_id;
    boards::CardRef parent_id;
    std::optional<Position> position;
};
SVC_RECORD(
    MoveBlockRequest,
    (block_id, "A block."),
    (parent_id,
     "Its new parent: another block of the same card, or the card, by its id or its key "
     "such as ENG-42."),
    (position, "Where among its new siblings; left out, behind all others.")
);

Block move(Call& call, const MoveBlockRequest& in) {
    const Uuid parent = boards::id_of(call, in.parent_id);
    const Place place = Place::of(call, parent, in.position);
    Edit edit(call, in.block_id, parent);
    auto gap = find_gap(call, place, in.block_id);
    CardTree& tree = edit.begin();
    const StoredBlock was = tree.block(in.block_id);
    tree.move(in.block_id, place, gap.one_or_retry());
    BlockEvents events(call, tree);
    events.moved(was, place);
    return edit.finish(events);
}

}  // namespace

const Operation update_block{
    .name = "update_block",
    .route = "PATCH /v1/blocks/{block_id}",
    .summary = "Update a block, or restore it from the trash.",
    .description =
        "Under the name of the block's type send the members that are to be changed: those that "
        "are not sent stay, lists are replaced whole. A block that was read may be sent back as it "
        "is. `in_trash` deletes and restores.",
    .access = Access::board_editor,
    .destructive = true,
    .idempotent = true,
    .versioned = true,
    .under_lease = true,
    .body_limit = 2 << 20,
    .handler = update,
};

const Operation delete_block{
    .name = "delete_block",
    .route = "DELETE /v1/blocks/{block_id}",
    .summary = "Delete a block, with all below it: it goes to the trash.",
    .description =
        "Answers the block. update_block with `in_trash` false brings it back to its "
        "place. A repeat changes nothing.",
    .access = Access::board_editor,
    .destructive = true,
    .idempotent = true,
    .versioned = true,
    .under_lease = true,
    .handler = remove,
};

const Operation move_block{
    .name = "move_block",
    .route = "POST /v1/blocks/{block_id}:move",
    .summary = "Move a block within its card.",
    .description = "What is below the block goes with it.",
    .access = Access::board_editor,
    .versioned = true,
    .under_lease = true,
    .handler = move,
};

}  // namespace svc::content
