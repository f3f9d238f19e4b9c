// Columns: removing one, and where its cards go.

#include "modules/boards/api/column.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/column/columns.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/placement/column_cards.hpp"

namespace svc::boards {

namespace {

// In front of everything: cards first, whether they stand there or only come back there.
constexpr std::string_view all_cards = R"(
    WITH inside AS MATERIALIZED (
        SELECT c.id FROM cards c
        WHERE c.org_id = $1 AND c.board_id = $5 AND c.column_id = $6 AND)";
constexpr Sql lock_all_cards{
    "boards.lock_all_cards_in_column", SqlText<all_cards, if_editor, locked_with_waiting>::view
};

// The other columns may name the one that goes.
constexpr std::string_view all_columns = R"(
    SELECT k.id FROM columns k WHERE k.org_id = $1 AND k.board_id = $5 AND)";
constexpr std::string_view columns_in_order = "$5) ORDER BY k.id FOR NO KEY UPDATE OF k";
constexpr Sql lock_all_columns{
    "boards.lock_columns_of_board", SqlText<all_columns, if_editor, columns_in_order>::view};

constexpr Sql see_columns{"boards.see_columns", R"(
    SELECT v.* FROM column_view v
    WHERE v.org_id = $1 AND v.board_id = $2 AND NOT v.in_trash
    ORDER BY v.order_key, v.id)"};

constexpr Sql count_hidden{"boards.count_hidden_cards", R"(
    SELECT count(*) AS hidden FROM cards
    WHERE org_id = $1 AND board_id = $2 AND column_id = $3 AND (is_archived OR in_trash))"};

struct Hidden {
    std::int64_t hidden = 0;
};
SVC_RECORD(Hidden, (hidden));

constexpr Sql find_last_place{"boards.last_place", R"(
    SELECT max(position) AS below FROM cards
    WHERE org_id = $1 AND column_id = $2 AND NOT is_archived AND NOT in_trash)"};

struct LastPlace {
    OrderKey below;
};
SVC_RECORD(LastPlace, (below));

// They stand nowhere; should they come back, then there.
constexpr Sql take_hidden_along{"boards.move_hidden_cards", R"(
    UPDATE cards
    SET column_id = $3, version = version + 1
    WHERE org_id = $1 AND column_id = $2 AND (is_archived OR in_trash)
    RETURNING id, title, version)"};

struct HiddenCard {
    Uuid id;
    std::string title;
    std::int64_t version = 0;
};
SVC_RECORD(HiddenCard, (id), (title), (version));

constexpr Sql drop_column{"boards.delete_column", R"(
    DELETE FROM columns WHERE org_id = $1 AND board_id = $2 AND id = $3)"};

struct DeleteColumnRequest {
    Uuid board_id;
    Uuid column_id;
    std::optional<Uuid> move_cards_to;
};
SVC_RECORD(
    DeleteColumnRequest,
    (board_id),
    (column_id),
    (move_cards_to,
     "The column of the same board that its cards go to, behind those there. A column with cards "
     "in it is not deleted without.")
);

class Removal {
public:
    Removal(Call& call, const DeleteColumnRequest& in)
        : call_(call),
          in_(in),
          column_cards_(locked(call, in), in.board_id, in.column_id, others(in)),
          seen_(BoardCaller::of(call).later<BoardAccess>(call.tx(), see_board, in.board_id)),
          columns_([&] {
              BoardCaller::of(call).queue(call.tx(), lock_all_columns, in.board_id);
              return call.tx().later<ColumnAccess>(see_columns, call.org(), in.board_id);
          }()),
          hidden_(call.tx().later<Hidden>(count_hidden, call.org(), in.board_id, in.column_id)),
          last_(call.tx().later<LastPlace>(find_last_place, call.org(), in.move_cards_to)),
          keys_(find_keys_twice(call.tx(), call.org(), in.board_id, in.column_id)) {}

    void run() {
        const auto board = seen_.one();
        require_changeable(board, BoardRole::editor);
        now_ = board->now;
        all_ = columns_.all();
        const Column column = find(in_.column_id);
        call_.require_version(column.version);
        const std::optional<Column> target = target_of();
        require_room(column, target);
        const Event event =
            removed(column_deleted, column).on_board(column.board_id).in_column(column.id);
        call_.check(event);
        if (column_cards_.count() > 0) move_cards(column, *target);
        send_elsewhere(target);
        take_along(target);
        call_.tx().queue(drop_column, call_.org(), in_.board_id, in_.column_id);
        call_.emit(event);
    }

private:
    static Call& locked(Call& call, const DeleteColumnRequest& in) {
        BoardCaller::of(call).queue(call.tx(), lock_all_cards, in.board_id, in.column_id);
        return call;
    }

    static std::vector<Uuid> others(const DeleteColumnRequest& in) {
        return in.move_cards_to ? std::vector{*in.move_cards_to} : std::vector<Uuid>{};
    }

    Column find(const Uuid& id) const {
        const auto found = std::ranges::find_if(all_, [&](const ColumnAccess& each) {
            return each.column.id == id;
        });
        if (found == all_.end()) not_found("column");
        return found->column;
    }

    std::optional<Column> target_of() const {
        if (!in_.move_cards_to) return std::nullopt;
        const auto found = std::ranges::find_if(all_, [&](const ColumnAccess& each) {
            return each.column.id == *in_.move_cards_to && each.column.id != in_.column_id;
        });
        if (found == all_.end())
            throw wrong_field(
                call_, "move_cards_to", "the board has no other such column", FieldPlace::query
            );
        return found->column;
    }

    void require_room(const Column& column, const std::optional<Column>& target) {
        const auto count = static_cast<std::int64_t>(column_cards_.count());
        if (count > 0 && !target)
            throw Failure(
                Fault::conflict, "The column has cards; say by move_cards_to where they go."
            )
                .with("reason", "column_not_empty")
                .with("count", std::to_string(column.card_count));
        // A caller who became an editor only after the locks were taken has locked nothing; the
        // column goes with all that stands in it.
        if (count <= static_cast<std::int64_t>(most_column_cards) && count != column.card_count)
            throw RetryTransaction("cards that were not locked");
        const std::int64_t hidden = hidden_.one_or_retry().hidden;
        column_cards_.require_at_most(most_rewritten, static_cast<std::size_t>(hidden));
        if (hidden > 0 && all_.size() == 1)
            throw Failure(
                Fault::conflict,
                "The board's archived and trashed cards have no other column to come back to."
            )
                .with("reason", "last_column");
        if (count == 0) return;
        if (target->wip_policy == WipPolicy::hard && target->wip_limit &&
            target->card_count + count > *target->wip_limit)
            throw wip_limit_reached(*target->wip_limit, target->card_count);
        if (column.kind == ColumnKind::done && target->kind != ColumnKind::done)
            require_keys_once(keys_);
    }

    static EventPlace place_of(const Column& column) {
        return {column.board_id, column.id, column.name, std::string(name_of(column.kind))};
    }

    void move_cards(const Column& column, const Column& target) {
        column_cards_.go(place_of(column), place_of(target));
        const ColumnRules rules = rules_of(target);
        OrderKey place = last_.one_or_retry().below;
        std::vector<Card> after;
        for (Card card : column_cards_.cards()) {
            place = OrderKey::last_by_time(random_bits(), place);
            card.column_id = target.id;
            card.position = place;
            if (target.kind != ColumnKind::done) card.completed_at.reset();
            else if (!card.completed_at) card.completed_at = now_;
            enter(card, &rules);
            card.last_edited_time = now_;
            card.last_edited_by = AsJson(ref_of(call_.caller()));
            card.version += 1;
            after.push_back(std::move(card));
        }
        column_cards_.check(card_moved, after);
        column_cards_.store(card_moved, after);
        column_cards_.placed(after, rules, now_);
    }

    /// Columns that sent cards here send them to where those that were here have gone.
    void send_elsewhere(const std::optional<Column>& target) {
        for (const ColumnAccess& each : all_) {
            const Column& before = each.column;
            if (before.id == in_.column_id) continue;
            Column after = before;
            const std::optional<Uuid> there =
                target && target->id != before.id ? std::optional(target->id) : std::nullopt;
            if (after.queue.on_complete_column_id == in_.column_id)
                after.queue.on_complete_column_id = there;
            if (after.queue.on_exhausted_column_id == in_.column_id)
                after.queue.on_exhausted_column_id = there;
            if (to_json(after) == to_json(before)) continue;
            sign(after, call_, now_);
            store(call_, after);
            call_.emit(
                changed(column_updated, before, after).on_board(after.board_id).in_column(after.id)
            );
        }
    }

    /// To the same column, or else to the neighbour.
    void take_along(const std::optional<Column>& target) {
        if (all_.size() == 1) return;
        const auto self = std::ranges::find_if(all_, [&](const ColumnAccess& each) {
            return each.column.id == in_.column_id;
        });
        const auto neighbour = self == all_.begin() ? self + 1 : self - 1;
        const Uuid to = target ? target->id : neighbour->column.id;
        const auto moved =
            call_.tx().all<HiddenCard>(take_hidden_along, call_.org(), in_.column_id, to);
        std::vector<Event> events;
        for (const HiddenCard& each : moved) events.push_back(event_of(each, to));
        call_.emit_all(events);
    }

    Event event_of(const HiddenCard& card, const Uuid& to) const {
        Event event;
        event.kind = &card_moved;
        event.id = card.id;
        event.version = card.version;
        event.name = card.title;
        event.changes =
            R"({"column_id":")" + to.str() + R"(","version":)" + std::to_string(card.version) + '}';
        event.previous = R"({"column_id":")" + in_.column_id.str() + R"(","version":)" +
                         std::to_string(card.version - 1) + '}';
        return std::move(event)
            .on_board(in_.board_id)
            .in_column(to)
            .moved(place_of(column(in_.column_id)), place_of(column(to)));
    }

    const Column& column(const Uuid& id) const {
        return std::ranges::find(
                   all_, id, [](const ColumnAccess& each) { return each.column.id; }
        )->column;
    }

    Call& call_;
    const DeleteColumnRequest& in_;
    ColumnCards column_cards_;
    DeferredRows<BoardAccess> seen_;
    DeferredRows<ColumnAccess> columns_;
    DeferredRows<Hidden> hidden_;
    DeferredRows<LastPlace> last_;
    DeferredRows<KeyTwice> keys_;
    Timestamp now_;
    std::vector<ColumnAccess> all_;
};

void remove(Call& call, const DeleteColumnRequest& in) { Removal(call, in).run(); }

}  // namespace

const Operation delete_column{
    .name = "delete_column",
    .route = "DELETE /v1/boards/{board_id}/columns/{column_id}",
    .summary = "Remove a column; `move_cards_to` says where its cards go.",
    .description =
        "Without `move_cards_to` a column that has cards is refused with 409, reason "
        "`column_not_empty`, and their count. Its cards go behind those of the other column, in "
        "their order, and lose "
        "their workers; a hard limit there refuses them all. At most 2,500 cards, archived and "
        "trashed ones included, else it is 409, reason `too_many_cards`. Archived and trashed "
        "cards come back there, or else in the neighbouring column. Columns that sent their cards "
        "here send them there.",
    .access = Access::board_editor,
    .status = 204,
    .destructive = true,
    .versioned = true,
    .handler = remove,
};

void add_column_changes(Kernel& kernel) {
    for (const EventKind* each : {&column_updated, &column_deleted}) kernel.add(*each);
    for (const Operation* each : {&update_column, &delete_column, &move_column}) kernel.add(*each);
}

}  // namespace svc::boards
