// Many changes of cards in one call.

#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/api/urls.hpp"
#include "modules/boards/card/writes.hpp"
#include "modules/boards/column/pages.hpp"
#include "modules/boards/link/dependencies.hpp"
#include "modules/boards/operations.hpp"
#include "svc/attempt.hpp"

namespace svc::boards {

namespace {

struct BatchItem {
    std::optional<CreateCardRequest> create;
    std::optional<UpdateCardRequest> update;
    std::optional<MoveCardRequest> move;
    std::optional<CardOnly> archive;
    std::optional<CardOnly> delete_;
    std::optional<std::int64_t> version;
};
SVC_RECORD(
    BatchItem,
    (create, "A card to create, as create_card takes it."),
    (update, "A card to change, as update_card takes it."),
    (move, "A card to move, as move_card takes it."),
    (archive, "A card to archive."),
    (delete_, "A card to delete."),
    (version,
     "The version that the card must have before the batch; 412 for this item otherwise.",
     range(1, std::numeric_limits<std::int64_t>::max()))
);

struct BatchCardsRequest {
    std::vector<BatchItem> operations;
    bool atomic = true;
    bool dry_run = false;
};
SVC_RECORD(
    BatchCardsRequest,
    (operations,
     "Carried out in this order. Each is exactly one of `create`, `update`, `move`, `archive` and "
     "`delete`.",
     length(1, 100)),
    (atomic,
     "All or nothing: the first refusal is the answer, with the item's `index` in "
     "`additional_data`. Otherwise each item succeeds or fails by itself.",
     defaulted),
    (dry_run,
     "Change nothing, and say of each item how it would go and what it would change.",
     defaulted)
);

struct BatchedCard {
    std::int64_t index = 0;
    std::string operation;
    std::int64_t status = 200;
    std::optional<CompactCard> card;
    JsonText changes{"{}"}, previous{"{}"};
    std::optional<JsonText> error;
};
SVC_RECORD(
    BatchedCard,
    (index, "Its place among the operations, beginning with 0."),
    (operation, "What was asked: `create`, `update`, `move`, `archive` or `delete`."),
    (status, "What the operation would have answered by itself."),
    (card, "As it is afterwards; null when it was refused."),
    (changes,
     "The fields that differ, as they are afterwards; of a new card, all. `{\"truncated\":true}` "
     "stands for `properties` of more than 4 KiB."),
    (previous, "The same fields as they were before."),
    (error, "The body of the refusal; null when it went well.")
);

struct CardBatch {
    Object<"card_batch"> object;
    bool dry_run = false;
    Uuid cause_id;
    std::int64_t succeeded_count = 0;
    std::int64_t failed_count = 0;
    std::vector<BatchedCard> results;
};
SVC_RECORD(
    CardBatch,
    (object),
    (dry_run, "Nothing was changed."),
    (cause_id,
     "In `cause.event_id` of every event of the batch, unless an automation's call is the cause."),
    (succeeded_count, "How many of the items were carried out."),
    (failed_count, "None of an atomic batch, unless it is a dry run."),
    (results, "One for each operation, in the same order.")
);

// ------------------------------------------------------------------------------ one of them

std::string_view name_of_operation(const BatchItem& item) {
    if (item.create) return "create";
    if (item.update) return "update";
    if (item.move) return "move";
    if (item.archive) return "archive";
    return "delete";
}

Written carry_out(Call& call, const BatchItem& item) {
    if (item.create) return make_card(call, *item.create);
    if (item.update) return change_card(call, *item.update, most_waiting_in_batch);
    if (item.move) return move_card_to(call, *item.move);
    if (item.archive) return archive_card_of(call, *item.archive);
    return delete_card_of(call, *item.delete_);
}

/// The card that an item is about; null when it makes one.
CardRef* card_in(BatchItem& item) {
    if (item.update) return &item.update->card_id;
    if (item.move) return &item.move->card_id;
    if (item.archive) return &item.archive->card_id;
    if (item.delete_) return &item.delete_->card_id;
    return nullptr;
}

void require_one_operation(const Call& call, const std::vector<BatchItem>& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
        const BatchItem& item = items[i];
        const int count = item.create.has_value() + item.update.has_value() +
                          item.move.has_value() + item.archive.has_value() +
                          item.delete_.has_value();
        if (count != 1)
            throw wrong_item(
                call,
                "operations",
                i,
                "exactly one of create, update, move, archive and delete should be given"
            );
    }
}

BatchedCard result_of(Call& call, std::size_t index, const BatchItem& item, Written written) {
    BatchedCard result;
    result.index = static_cast<std::int64_t>(index);
    result.operation = name_of_operation(item);
    result.status = item.create ? 201 : item.delete_ ? 204 : 200;
    written.after.url = url_of(call.kernel(), written.after);
    if (written.before) written.before->url = written.after.url;
    CompactCard card{shown(call, written.after)};
    const auto is_long = [](const std::string& values) {
        return values.size() > static_cast<std::size_t>(most_compact_values);
    };
    std::string& after = written.after.properties.text;
    std::string* before = written.before ? &written.before->properties.text : nullptr;
    if (is_long(after) || (before && is_long(*before))) {
        const bool same = before && *before == after;
        after = R"({"truncated":true})";
        if (before) *before = same ? after : R"({"truncated": true})";  // another text: it differs
    }
    write_difference(
        record_of<Card>(),
        written.before ? &*written.before : nullptr,
        &written.after,
        result.changes.text,
        result.previous.text
    );
    if (is_long(card.card.properties.text)) {
        card.properties_omitted = true;
        card.card.properties.text = "{}";
    }
    result.card = std::move(card);
    return result;
}

BatchedCard result_of(
    Call& call, std::size_t index, const BatchItem& item, const Failure& failure
) {
    BatchedCard result;
    result.index = static_cast<std::int64_t>(index);
    result.operation = name_of_operation(item);
    result.status = failure.status();
    result.error = JsonText{failure.body(call.request_id())};
    return result;
}

// ---------------------------------------------------------------------- what they have in common

// All at once and in one order, so that two batches do not wait for each other's cards.
constexpr std::string_view requested_cards = R"(
    WITH wanted AS (
        SELECT w.id FROM unnest($5::uuid[]) w (id)
        UNION
        SELECT c.id FROM unnest($6::text[], $7::text[]) w (board_key, number)
        JOIN boards b ON b.org_id = $1 AND b.key = w.board_key
        JOIN cards c
            ON c.org_id = $1 AND c.board_id = b.id AND c.number = w.number::bigint
    ), changed AS (
        SELECT c.id FROM cards c
        WHERE c.org_id = $1 AND c.id = ANY (ARRAY(SELECT id FROM wanted)) AND)";
constexpr std::string_view and_waited_for = R"(c.board_id)
    ), waiting AS (
        SELECT l.target_id AS id FROM card_links l
        WHERE l.org_id = $1 AND l.kind = 'blocks' AND l.card_id = ANY (ARRAY(TABLE changed))
    ), waited_for AS (
        SELECT c.id FROM cards c
        WHERE c.org_id = $1 AND c.id = ANY ($8::uuid[]) AND)";
constexpr std::string_view all_in_order = R"(c.board_id)
    )
    SELECT c.id, c.board_id, c.number,
        (SELECT b.key FROM boards b WHERE b.org_id = $1 AND b.id = c.board_id) AS board_key,
        c.external_key IS NOT NULL
            AND NOT card_is_open(c.completed_at, c.is_archived, c.in_trash) AS may_take_key
    FROM cards c
    WHERE c.org_id = $1
        AND c.id = ANY (ARRAY(
            SELECT id FROM changed UNION SELECT id FROM waiting UNION SELECT id FROM waited_for))
    ORDER BY c.id
    FOR UPDATE OF c)";
constexpr Sql lock_cards{
    "boards.lock_cards_of_batch",
    SqlText<requested_cards, if_editor, and_waited_for, if_seen, all_in_order>::view};

struct LockedCard {
    Uuid id;
    Uuid board_id;
    std::int64_t number = 0;
    std::string board_key;
    bool may_take_key = false;  ///< by being open again
};
SVC_RECORD(LockedCard, (id), (board_id), (number), (board_key), (may_take_key));

// An item that shares a board's lock in front of one that wants it alone would hold up another
// such batch, and be held up by it, for good.
constexpr std::string_view boards_of_batch = R"(
    SELECT n.board_id FROM board_counters n
    WHERE n.org_id = $1 AND n.board_id = ANY ($5::uuid[]) AND)";
constexpr std::string_view in_order = "n.board_id) ORDER BY n.board_id FOR UPDATE OF n";
constexpr Sql lock_boards{
    "boards.lock_boards_of_batch", SqlText<boards_of_batch, if_editor, in_order>::view};

/// Whether update_card would want the lock of the card's board alone: for new names, for an
/// external key, or because it would share it twice.
bool wants_board_alone(const UpdateCardRequest& in) {
    const auto is_name = [](const std::string& label) { return !Uuid::parse(label); };
    return (in.labels.given() && std::ranges::any_of(in.labels.value(), is_name)) ||
           (in.labels.given() && in.properties.given()) ||
           (in.external_key.given() && in.external_key.value());
}

constexpr Sql begin_batch{"boards.begin_batch", "SAVEPOINT batch"};
constexpr Sql undo_batch{"boards.undo_batch", "ROLLBACK TO SAVEPOINT batch"};

class Batch {
public:
    Batch(Call& call, const BatchCardsRequest& in)
        : call_(call),
          items_(in.operations),
          dry_run_(in.dry_run),
          one_by_one_(in.dry_run || !in.atomic) {
        require_one_operation(call, items_);
        batch_.dry_run = in.dry_run;
        batch_.cause_id = new_uuid();
        call.set_cause(batch_.cause_id);
    }

    CardBatch run() {
        Tx& tx = call_.tx();
        lock_all();
        if (dry_run_) tx.queue(begin_batch);
        for (std::size_t i = 0; i < items_.size(); ++i) {
            const BatchedCard& done = batch_.results.emplace_back(run_one(i));
            ++(done.error ? batch_.failed_count : batch_.succeeded_count);
        }
        if (dry_run_) tx.roll_back_to(undo_batch);
        return std::move(batch_);
    }

private:
    /// Whatever any item locks, in the order in which all lock: ties, cards, boards.
    void lock_all() {
        std::vector<Uuid> ids, waited_for;  // to be changed; to be looked at
        std::vector<std::string> keys, numbers;
        bool ties = false;
        const auto wait_for = [&](const std::vector<CardRef>& blockers) {
            for (const CardRef& each : blockers) waited_for.push_back(*each.id);
        };
        find_ids_of_others();
        for (BatchItem& item : items_) {
            if (item.create && item.create->blocked_by) wait_for(*item.create->blocked_by);
            if (item.update && item.update->blocked_by.given())
                wait_for(item.update->blocked_by.value());
            if (item.update)
                ties |= item.update->parent_card_id.given() || item.update->blocked_by.given();
            const CardRef* card = card_in(item);
            if (!card) continue;
            if (card->id) ids.push_back(*card->id);
            else keys.push_back(card->board_key), numbers.push_back(std::to_string(card->number));
        }
        if (ties) lock_ties(call_, ids, keys);
        if (!ids.empty() || !keys.empty() || !waited_for.empty())
            locked_ = BoardCaller::of(call_)
                          .later<LockedCard>(call_.tx(), lock_cards, ids, keys, numbers, waited_for)
                          .all();
        for (BatchItem& item : items_)
            if (CardRef* card = card_in(item)) name_by_id(*card);
        lock_boards_if_wanted();
    }

    /// Of the cards that items name besides the one they are about.
    void find_ids_of_others() {
        std::vector<CardRef*> others;
        const auto add = [&](const std::vector<CardRef*>& refs) {
            others.insert(others.end(), refs.begin(), refs.end());
        };
        for (BatchItem& item : items_) {
            if (item.create) add(others_in(*item.create));
            if (item.update) add(others_in(*item.update));
            if (item.move) add(others_in(*item.move));
        }
        find_ids(call_, others);
    }

    /// What is created, archived or moved to the trash is counted on its board.
    void lock_boards_if_wanted() {
        std::vector<Uuid> boards;
        bool wanted = false;
        for (BatchItem& item : items_) {
            const CardRef* ref = card_in(item);
            const LockedCard* card = ref ? find(*ref) : nullptr;
            if (item.create) boards.push_back(item.create->board_id);
            if (card) boards.push_back(card->board_id);
            if (item.update) wanted |= wants_board_alone(*item.update);
            else if (item.move) wanted |= card && card->may_take_key;
            else wanted = true;
        }
        if (wanted && !boards.empty())
            BoardCaller::of(call_).queue(call_.tx(), lock_boards, boards);
    }

    const LockedCard* find(const CardRef& card) const {
        const auto same = [&](const LockedCard& each) {
            return card.id ? each.id == *card.id
                           : each.board_key == card.board_key && each.number == card.number;
        };
        const auto found = std::ranges::find_if(locked_, same);
        return found == locked_.end() ? nullptr : &*found;
    }

    void name_by_id(CardRef& card) const {
        if (const LockedCard* found = find(card)) card = CardRef(found->id);
    }

    struct Carried {
        BatchedCard result;
        Uuid card;
        std::int64_t rise = 0;  ///< of the card's version
    };

    BatchedCard run_one(std::size_t index) {
        Carried done;
        const auto run = [&] { done = carried_out(index); };
        if (one_by_one_) {
            if (const auto failure = attempt(call_.tx(), run))
                return result_of(call_, index, items_[index], *failure);
        } else {
            try {
                run();
            } catch (const Failure& failure) {
                throw Failure(failure).with("index", std::to_string(index));
            }
        }
        if (done.rise != 0) raised_[done.card] += done.rise;
        return std::move(done.result);
    }

    Carried carried_out(std::size_t index) {
        BatchItem& item = items_[index];
        const InputPart part(
            call_,
            "\"operations\"," + std::to_string(index) + ",\"" +
                std::string(name_of_operation(item)) + '"'
        );
        // Versions are those before the batch; who may know them is for the operation to say.
        const CardRef* card = card_in(item);
        const auto raised = card && card->id ? raised_[*card->id] : 0;
        call_.expect_version(item.version ? std::optional(*item.version + raised) : std::nullopt);
        Written written = carry_out(call_, item);
        Carried done;
        done.card = written.after.id;
        done.rise = written.before ? written.after.version - written.before->version : 0;
        done.result = result_of(call_, index, item, std::move(written));
        return done;
    }

    Call& call_;
    std::vector<BatchItem> items_;
    const bool dry_run_;
    const bool one_by_one_;
    std::vector<LockedCard> locked_;
    std::map<Uuid, std::int64_t> raised_;  ///< how far earlier items raised a card's version
    CardBatch batch_;
};

CardBatch batch(Call& call, const BatchCardsRequest& in) { return Batch(call, in).run(); }

}  // namespace

const Operation batch_cards{
    .name = "batch_cards",
    .route = "POST /v1/cards:batch",
    .summary = "Create, update, move, archive and delete up to 100 cards in one call.",
    .description =
        "All in one transaction, in the order given: what one item does the next finds. All "
        "or nothing, unless `atomic` is false. `dry_run` shows the differences alone. 409, "
        "reason `too_many_links`, for `blocked_by` of a card for which over 500 others wait.",
    .access = Access::board_editor,
    .destructive = true,
    .under_lease = true,
    .body_limit = 2 << 20,
    .handler = batch,
};

}  // namespace svc::boards
