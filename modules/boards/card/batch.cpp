// Many changes of cards in one call.

#include "modules/boards/api/shapes.hpp"
#include "modules/boards/api/urls.hpp"
#include "modules/boards/card/batch_item.hpp"
#include "modules/boards/card/writes.hpp"
#include "modules/boards/column/pages.hpp"
#include "modules/boards/operations.hpp"
#include "svc/attempt.hpp"

namespace svc::boards {

namespace {

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

// ----------------------------------------------------------------------------- all of them

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
        lock_for_batch(call_, items_);
        if (dry_run_) tx.queue(begin_batch);
        for (std::size_t i = 0; i < items_.size(); ++i) {
            const BatchedCard& done = batch_.results.emplace_back(run_one(i));
            ++(done.error ? batch_.failed_count : batch_.succeeded_count);
        }
        if (dry_run_) tx.roll_back_to(undo_batch);
        return std::move(batch_);
    }

private:
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
    .refuses = {412},
    .destructive = true,
    .under_lease = true,
    .body_limit = 2 << 20,
    .handler = batch,
};

}  // namespace svc::boards
