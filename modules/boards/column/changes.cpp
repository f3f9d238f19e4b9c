// Columns: changing one, moving one among the others.

#include "modules/boards/api/column.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/column/columns.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/placement/column_cards.hpp"

namespace svc::boards {

namespace {

constexpr std::string_view that_column = R"(
    SELECT k.id FROM columns k
    WHERE k.org_id = $1 AND k.board_id = $5 AND k.id = $6 AND)";
constexpr std::string_view for_update = "$5) FOR NO KEY UPDATE OF k";
constexpr Sql lock_column{"boards.lock_column", SqlText<that_column, if_editor, for_update>::view};

constexpr Sql write_column{"boards.update_column", R"(
    UPDATE columns
    SET name = $3, color = $4, kind = $5, wip_limit = $6, wip_policy = $7, queue_enabled = $8,
        lease_ttl_seconds = $9, max_attempts = $10, backoff_seconds = $11,
        backoff_max_seconds = $12, queue_order = $13, on_complete_column_id = $14,
        on_exhausted_column_id = $15, queue_paused = $17, max_in_flight = $18,
        last_edited_time = now(), last_edited_by = $16, version = version + 1
    WHERE org_id = $1 AND id = $2)"};

constexpr Sql place_column{"boards.place_column", R"(
    UPDATE columns
    SET position = $3, last_edited_time = now(), last_edited_by = $4, version = version + 1
    WHERE org_id = $1 AND id = $2)"};

}  // namespace

void store(Call& call, const Column& column) {
    call.tx().queue(
        write_column,
        column.org_id,
        column.id,
        column.name,
        column.color,
        column.kind,
        column.wip_limit,
        column.wip_policy,
        column.queue.enabled,
        column.queue.lease_ttl_seconds,
        column.queue.max_attempts,
        column.queue.backoff_seconds,
        column.queue.backoff_max_seconds,
        column.queue.order,
        column.queue.on_complete_column_id,
        column.queue.on_exhausted_column_id,
        call.caller().id,
        column.queue.paused,
        column.queue.max_in_flight
    );
}

void sign(Column& column, const Call& call, const Timestamp& now) {
    column.last_edited_time = now;
    column.last_edited_by = AsJson(ref_of(call.caller()));
    column.version += 1;
}

namespace {

// ------------------------------------------------------------------------------ changing one

struct UpdateColumnRequest {
    Uuid board_id;
    Uuid column_id;
    Patch<std::string> name;
    Patch<Color> color;
    Patch<ColumnKind> kind;
    Patch<std::optional<std::int64_t>> wip_limit;
    Patch<WipPolicy> wip_policy;
    Patch<ColumnQueueChange> queue;
};
SVC_RECORD(
    UpdateColumnRequest,
    (board_id),
    (column_id),
    (name, "What people call it.", length(1, 120), trimmed),
    (color, "As people see it."),
    (kind,
     "What being here means. Its cards are complete once it is `done`, and open again once it is "
     "not."),
    (wip_limit,
     "How many cards may stand here at once; null: any number. Those that are here stay.",
     range(1, 1000)),
    (wip_policy, "`hard` refuses cards beyond the limit, `soft` only shows it."),
    (queue, "The column as a work queue; the members that are left out stay as they are.")
);

Column changed_by(const UpdateColumnRequest& in, Column column) {
    in.name.apply_to(column.name);
    in.color.apply_to(column.color);
    in.kind.apply_to(column.kind);
    in.wip_limit.apply_to(column.wip_limit);
    in.wip_policy.apply_to(column.wip_policy);
    if (!in.queue.given()) return column;
    in.queue.value().apply_to(column.queue);
    return column;
}

/// The targets that a request names anew.
ColumnQueue named_targets(const UpdateColumnRequest& in) {
    ColumnQueue queue;
    if (!in.queue.given()) return queue;
    in.queue.value().on_complete_column_id.apply_to(queue.on_complete_column_id);
    in.queue.value().on_exhausted_column_id.apply_to(queue.on_exhausted_column_id);
    return queue;
}

/// Reaching done completes, also where the column comes to the card.
std::vector<Card> completed_or_opened(
    const std::vector<Card>& cards, const Column& column, const Call& call
) {
    std::vector<Card> after;
    for (Card card : cards) {
        if (column.kind != ColumnKind::done) card.completed_at.reset();
        else if (!card.completed_at) card.completed_at = column.last_edited_time;
        card.last_edited_time = column.last_edited_time;
        card.last_edited_by = AsJson(ref_of(call.caller()));
        card.version += 1;
        after.push_back(std::move(card));
    }
    return after;
}

/// Writes what `after` says, where it concerns the cards that stand in the column.
class ColumnUpdate {
public:
    ColumnUpdate(Call& call, const UpdateColumnRequest& in) : call_(call), in_(in) {
        Tx& tx = call.tx();
        const Uuid& org = call.org();
        if (in.kind.given() || (in.queue.given() && in.queue.value().concerns_cards()))
            column_cards_.emplace(call, in.board_id, in.column_id, std::vector<Uuid>{});
        else BoardCaller::of(call).lock(tx, lock_column, in.board_id, in.column_id);
        seen_ = BoardCaller::of(call).later<BoardAccess>(tx, see_board, in.board_id);
        found_ = tx.later<Column>(see_column, org, in.board_id, in.column_id);
        targets_ = named_targets(in);
        gap_ = find_gap(tx, org, in.board_id, {}, targets_of(targets_), std::nullopt);
        if (in.kind.given() && in.kind.value() != ColumnKind::done)
            keys_ = find_keys_twice(tx, org, in.board_id, in.column_id);
    }

    Column run() {
        const auto board = seen_->one();
        require_changeable(board, BoardRole::editor);
        const auto before = found_->one();
        if (!before) not_found("column");
        call_.require_version(before->version);
        require_targets(call_, targets_, gap_->one_or_retry().targets, before->id);
        Column after = changed_by(in_, *before);
        if (to_json(after) == to_json(*before)) return after;
        sign(after, call_, board->now);
        write(*before, after);
        return after;
    }

private:
    void write(const Column& before, const Column& after) {
        const bool done = after.kind == ColumnKind::done;
        const bool turns = done != (before.kind == ColumnKind::done);
        const bool switched = after.queue.enabled != before.queue.enabled;
        const Event event =
            changed(column_updated, before, after).on_board(after.board_id).in_column(after.id);
        call_.check(event);
        std::vector<Card> cards;
        if (turns) {
            column_cards_->require_at_most(most_rewritten);
            if (!done) require_keys_once(*keys_);
            cards = completed_or_opened(column_cards_->cards(), after, call_);
            column_cards_->check(card_updated, cards);
        }
        if (switched) column_cards_->cards();
        else if (after.queue.order != before.queue.order)
            column_cards_->require_at_most(most_column_cards);
        store(call_, after);
        call_.emit(event);
        if (turns) column_cards_->store(card_updated, cards);
        if (switched) column_cards_->placed_again(rules_of(after), after.last_edited_time);
        else if (after.queue.order != before.queue.order && after.queue.enabled)
            for (CardWatcher* watcher : MovesImpl::of(call_.kernel()).watchers())
                watcher->reordered(call_.tx(), after);
    }

    Call& call_;
    const UpdateColumnRequest& in_;
    ColumnQueue targets_;
    std::optional<ColumnCards> column_cards_;
    std::optional<DeferredRows<BoardAccess>> seen_;
    std::optional<DeferredRows<Column>> found_;
    std::optional<DeferredRows<ColumnGap>> gap_;
    std::optional<DeferredRows<KeyTwice>> keys_;
};

Column update(Call& call, const UpdateColumnRequest& in) { return ColumnUpdate(call, in).run(); }

// -------------------------------------------------------------------------------- moving one

struct MoveColumnRequest {
    Uuid board_id;
    Uuid column_id;
    std::optional<Uuid> before_id;
    std::optional<Uuid> after_id;
};
SVC_RECORD(
    MoveColumnRequest,
    (board_id),
    (column_id),
    (before_id, "The column to stand to the left of; not together with `after_id`."),
    (after_id, "The column to stand to the right of; rightmost if neither is given.")
);

Column move(Call& call, const MoveColumnRequest& in) {
    Tx& tx = call.tx();
    const ColumnAnchors anchors{in.before_id, in.after_id};
    require_one_anchor(call, anchors);
    BoardCaller::of(call).lock(tx, lock_column, in.board_id, in.column_id);
    auto seen = BoardCaller::of(call).later<BoardAccess>(tx, see_board, in.board_id);
    auto found = tx.later<Column>(see_column, call.org(), in.board_id, in.column_id);
    auto gaps = find_gap(tx, call.org(), in.board_id, anchors, {}, in.column_id);
    const auto board = seen.one();
    require_changeable(board, BoardRole::editor);
    const auto before = found.one();
    if (!before) not_found("column");
    call.require_version(before->version);
    const ColumnGap gap = gaps.one_or_retry();
    require_anchored(call, gap, anchors);
    Column after = *before;
    after.position = gap.position;
    if (after.position == before->position) return after;

    sign(after, call, board->now);
    const Event event =
        changed(column_updated, *before, after).on_board(after.board_id).in_column(after.id);
    call.check(event);
    const OrderKey key = OrderKey::between(gap.below, gap.above, random_bits());
    tx.queue(place_column, call.org(), after.id, key.str(), call.caller().id);
    make_room_for_columns(tx, call.org(), after.board_id, key);
    call.emit(event);
    return after;
}

}  // namespace

const Operation update_column{
    .name = "update_column",
    .route = "PATCH /v1/boards/{board_id}/columns/{column_id}",
    .summary = "Change a column: its name, kind, limit or queue.",
    .description =
        "Changes only the fields that are sent, also within `queue`. A limit below the number of "
        "cards that are here refuses more and keeps those. A kind that completes the cards here or "
        "opens them again takes at most 2,500 cards, switching the queue 10,000; beyond that it is "
        "409, reason `too_many_cards`.",
    .access = Access::board_editor,
    .idempotent = true,
    .versioned = true,
    .handler = update,
};

const Operation move_column{
    .name = "move_column",
    .route = "POST /v1/boards/{board_id}/columns/{column_id}:move",
    .summary = "Move a column to the left or right.",
    .access = Access::board_editor,
    .idempotent = true,
    .versioned = true,
    .handler = move,
};

}  // namespace svc::boards
