// Several changes of one card's blocks at once.

#include "modules/boards/api/named_cards.hpp"
#include "modules/content/changes.hpp"
#include "modules/content/file_urls.hpp"
#include "modules/content/operations.hpp"

#include "svc/json.hpp"

#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <algorithm>

namespace svc::content {

namespace {

enum class BlockOp { create, update, move, delete_ };
BOOST_DESCRIBE_ENUM(BlockOp, create, update, move, delete_)

struct BlockOperation {
    BlockOp op{};
    std::optional<Uuid> id;
    std::optional<boards::CardRef> parent_id;
    std::optional<Position> position;
    std::optional<JsonText> block;
    std::optional<std::int64_t> version;
};
SVC_RECORD(
    BlockOperation,
    (op, "What is to be done."),
    (id, "Which block; of a new one, the id that it shall have."),
    (parent_id,
     "With `create` and `move`: what it is to stand below, a block or the card itself, by its id "
     "or its key. The card, if left out."),
    (position, "With `create` and `move`: where among its siblings; left out, behind all others."),
    (block,
     "With `create` a block as append_block_children takes it, with `update` as update_block "
     "does, but for `in_trash`."),
    (version, "The version that the block is expected to have.")
);

struct BatchBlocksRequest {
    boards::CardRef card_id;
    std::vector<BlockOperation> operations;
};
SVC_RECORD(
    BatchBlocksRequest,
    (card_id, "Its id, or its key such as ENG-42."),
    (operations,
     "One after the other; what an earlier one makes, later ones may name.",
     length(1, 200))
);

struct BatchResult {
    Object<"block_batch"> object;
    Uuid card_id;
    std::vector<Block> results;
    std::int64_t card_version = 0;
};
SVC_RECORD(
    BatchResult,
    (object),
    (card_id),
    (results, "For each operation its block, as it is after the last of them."),
    (card_version, "The card's version afterwards.")
);

/// An operation that has been looked through before anything is loaded.
struct Step {
    std::string where;                ///< its address within the input
    std::optional<BlockInput> fresh;  ///< with `create`
    std::optional<BlockType> type;    ///< with `update`
    JsonText changes;
    References references;
};

class Batch {
public:
    Batch(Call& call, const BatchBlocksRequest& in)
        : call_(call),
          in_(with_ids(call, in)),
          seen_(lock_card(call, CardKey(in.card_id))),
          tree_(call) {
        tree_.queue_whole(CardKey(in.card_id));
        for (std::size_t i = 0; i < in.operations.size(); ++i) look_through(i);
        queue_those_named();
        std::vector<BlockInput> fresh;
        std::vector<NamingPart> parts;
        for (const Step& each : steps_) {
            parts.push_back({each.where + ",\"block\"", each.references});
            if (each.fresh) fresh.push_back(*each.fresh);
        }
        if (content::count_blocks(fresh) > most_in_request)
            throw wrong_at(call, "\"operations\"", "a request brings 1000 blocks at most");
        tree_.queue_taken(fresh);
        names_.emplace(call, std::move(parts));
    }

    BatchResult run() {
        CardAccess card = require_changeable(seen_.one(), BoardRole::editor);
        card_id_ = card.card_id;
        tree_.take(card);
        take_names();
        BlockEvents events(call_, tree_);
        for (std::size_t i = 0; i < steps_.size(); ++i) carry_out(i);
        for (const auto& emit : emits_) emit(events);
        BatchResult result;
        result.card_id = card.card_id;
        result.card_version = card.version;
        if (tree_.write()) {
            events.emit();
            ++result.card_version;
        }
        show(result);
        return result;
    }

private:
    static BatchBlocksRequest with_ids(Call& call, BatchBlocksRequest in) {
        std::vector<boards::CardRef*> parents;
        for (BlockOperation& each : in.operations)
            if (each.parent_id) parents.push_back(&*each.parent_id);
        boards::find_ids(call, parents);
        return in;
    }

    /// Some of them may be in the trash.
    void queue_those_named() {
        std::vector<Uuid> ids;
        for (const BlockOperation& each : in_.operations)
            for (const auto& id : {each.id, boards::id_in(each.parent_id)})
                if (id) ids.push_back(*id);
        if (!ids.empty()) tree_.queue_named_in_trash(CardKey(in_.card_id), ids);
    }

    void look_through(std::size_t index) {
        const BlockOperation& operation = in_.operations[index];
        Step step;
        step.where = "\"operations\"," + std::to_string(index);
        const auto refuse = [&](std::string_view field, std::string_view why) {
            throw wrong_at(call_, step.where + ",\"" + std::string(field) + '"', why);
        };
        if (operation.op != BlockOp::create && !operation.id) refuse("id", "it names no block");
        const bool holds = operation.op == BlockOp::create || operation.op == BlockOp::update;
        if (holds != operation.block.has_value())
            refuse("block", "it goes with create and update, and they need it");
        if (operation.op == BlockOp::update) read_changes(operation, step);
        if (operation.op == BlockOp::create) read_fresh(operation, step, index);
        steps_.push_back(std::move(step));
    }

    void read_fresh(const BlockOperation& operation, Step& step, std::size_t index) {
        Reader reader;
        auto root = reader.at(root_of(call_));
        auto list = reader.at("operations");
        auto item = reader.at(index);
        auto block = reader.at("block");
        Json<BlockInput>::read(reader, {}, parse_json(operation.block->text), step.fresh.emplace());
        if (!reader.clean()) throw Failure::invalid_input(reader.issues());
        if (operation.id) step.fresh->id = operation.id;
        step.references = references_in(*step.fresh);
    }

    void read_changes(const BlockOperation& operation, Step& step) {
        const json::value whole = parse_json(operation.block->text);
        const auto* block = whole.if_object();
        const auto names = Json<BlockType>::names();
        for (std::size_t i = 0; block && i < names.size(); ++i) {
            const auto* payload = block->if_contains(names[i]);
            if (!payload) continue;
            if (step.type) throw wrong_at(call_, step.where + ",\"block\"", "a block has one type");
            step.type = static_cast<BlockType>(i);
            step.references = references_of(*payload);
            Reader reader;
            Json<JsonText>::read(reader, {}, *payload, step.changes);
        }
        if (!step.type)
            throw wrong_at(call_, step.where + ",\"block\"", "it names no type of block");
    }

    void take_names() {
        ReferenceNames kept;
        for (std::size_t i = 0; i < steps_.size(); ++i)
            if (steps_[i].type && tree_.has(*in_.operations[i].id))
                keep_names(tree_.block(*in_.operations[i].id).payload.text, kept);
        known_ = names_->names(std::move(kept));
    }

    void carry_out(std::size_t index) {
        const BlockOperation& operation = in_.operations[index];
        Step& step = steps_[index];
        tree_.set_location(step.where);
        if (operation.id && operation.op != BlockOp::create)
            tree_.require_version(*operation.id, operation.version);
        const Place place = Place::of(
            call_,
            boards::id_in(operation.parent_id).value_or(card_id_),
            operation.position,
            {},
            step.where
        );
        switch (operation.op) {
            case BlockOp::create: return create(step, place);
            case BlockOp::update: return update(*operation.id, step, index);
            case BlockOp::move: return move(*operation.id, place);
            case BlockOp::delete_: return remove(*operation.id);
        }
    }

    void create(Step& step, const Place& place) {
        std::vector<BlockInput> blocks{std::move(*step.fresh)};
        resolve(blocks, known_);
        const auto made = tree_.insert(place, tree_.gap(place), std::move(blocks));
        touch(made.front());
        emits_.push_back([made](BlockEvents& events) { events.made(made); });
    }

    void update(const Uuid& id, const Step& step, std::size_t index) {
        const StoredBlock& row = tree_.block(id);
        if (row.type != *step.type)
            throw wrong_at(call_, step.where + ",\"block\"", "the type of a block never changes");
        Reader reader;
        auto root = reader.at(root_of(call_));
        auto list = reader.at("operations");
        auto item = reader.at(index);
        auto block = reader.at("block");
        auto payload = reader.at(name_of(row.type));
        References references;
        const std::string changed =
            changed_payload(reader, row.type, row.payload.text, step.changes, references);
        if (!reader.clean()) throw Failure::invalid_input(reader.issues());
        tree_.change(id, kind_of(row.type).resolve(changed, known_));
        touch(id);
        if (reworded_.insert(id).second)
            emits_.push_back([this, id](BlockEvents& events) {
                if (tree_.is_reworded(id)) events.changed(id);
            });
    }

    void move(const Uuid& id, const Place& place) {
        const StoredBlock was = tree_.block(id);
        tree_.move(id, place, tree_.gap(place, id));
        touch(id);
        emits_.push_back([was, place](BlockEvents& events) { events.moved(was, place); });
    }

    void remove(const Uuid& id) {
        touch(id);
        if (tree_.trash(id)) emits_.push_back([id](BlockEvents& events) { events.deleted(id); });
    }

    /// Each operation is answered with its block, and emitted with all that it holds: what many
    /// operations on large blocks hold together is bounded before it is copied.
    void touch(const Uuid& id) {
        const std::string& payload = tree_.block(id).payload.text;
        bytes_ += static_cast<std::int64_t>(payload.size());
        if (bytes_ > most_bytes_shown || payload == "null")
            throw Failure(
                Fault::too_large,
                "The blocks that the operations name hold more than 8 MiB together; send fewer "
                "operations at a time."
            )
                .with("reason", "answer_too_large");
        touched_.push_back(id);
    }

    void show(BatchResult& result) {
        std::vector<StoredBlock> rows;
        for (const Uuid& each : touched_) rows.push_back(tree_.block(each));
        result.results = linked(call_, std::move(rows));
    }

    Call& call_;
    const BatchBlocksRequest in_;
    DeferredRows<CardAccess> seen_;
    CardTree tree_;
    std::optional<NameLookup> names_;
    ReferenceNames known_;
    Uuid card_id_;
    std::vector<Step> steps_;
    std::vector<Uuid> touched_;  ///< the block of each operation
    std::int64_t bytes_ = 0;     ///< that these hold
    std::set<Uuid> reworded_;
    std::vector<std::function<void(BlockEvents&)>> emits_;
};

BatchResult batch(Call& call, const BatchBlocksRequest& in) { return Batch(call, in).run(); }

}  // namespace

const Operation batch_blocks{
    .name = "batch_blocks",
    .route = "POST /v1/cards/{card_id}/blocks:batch",
    .summary = "Create, update, move and delete several blocks of a card at once.",
    .description =
        "Carries out up to 200 operations one after the other, all or none. An operation that "
        "names a `version` which is not the block's is refused with 412, and so all are.",
    .access = Access::board_editor,
    .refuses = {412},
    .destructive = true,
    .under_lease = true,
    .body_limit = 2 << 20,
    .handler = batch,
};

}  // namespace svc::content
