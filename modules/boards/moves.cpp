// Moving cards, for requests and for other modules.

#include "modules/boards/moves.hpp"

#include "modules/boards/card.hpp"
#include "modules/boards/operations.hpp"

#include <algorithm>

namespace svc::boards {

MovesHere& moves() {
    static MovesHere here;
    return here;
}

// -------------------------------------------------------------------------------- one move

namespace {

// The card, its board where a key may be taken anew, the column where the limit is hard: in this
// order everywhere. What the following statements read is then the newest.
constexpr Sql lock_for_move{"boards.lock_for_move", R"(
    WITH card AS (
        SELECT id, board_id, column_id, external_key, completed_at, is_archived
        FROM cards WHERE org_id = $1 AND id = $2
        FOR UPDATE
    ), board AS (
        SELECT board_id FROM board_counters
        WHERE org_id = $1 AND board_id = (
            SELECT board_id FROM card
            WHERE external_key IS NOT NULL AND (completed_at IS NOT NULL OR is_archived))
        FOR UPDATE
    ), target AS (
        SELECT id FROM columns
        WHERE org_id = $1 AND wip_policy = 'hard' AND wip_limit IS NOT NULL
            AND id = coalesce($3::uuid, (
                SELECT CASE $4::text WHEN 'completed' THEN t.completed_id
                    WHEN 'exhausted' THEN t.exhausted_id ELSE c.column_id END
                FROM card c JOIN column_turns t ON t.org_id = $1 AND t.id = c.column_id))
        FOR NO KEY UPDATE
    )
    SELECT now() AS now, (SELECT count(*) FROM card) AS cards,
        (SELECT count(*) FROM board) AS boards, (SELECT count(*) FROM target) AS columns)"};

struct Locked {
    Timestamp now;
};
SVC_RECORD(Locked, (now, ""));

constexpr Sql find_destination{"boards.destination_of_move", R"(
    SELECT k.id AS column_id, k.kind, k.wip_limit, k.wip_policy, k.queue_enabled, k.queue_order,
        CASE WHEN k.wip_policy = 'hard' AND k.wip_limit IS NOT NULL THEN (
            SELECT count(*) FROM cards o
            WHERE o.org_id = $1 AND o.column_id = k.id AND o.id <> $2
                AND NOT o.is_archived AND NOT o.in_trash)
        END AS standing,
        (SELECT max(o.position) FROM cards o
         WHERE o.org_id = $1 AND o.column_id = k.id AND o.id <> $2
             AND NOT o.is_archived AND NOT o.in_trash) AS below,
        CASE WHEN c.external_key IS NOT NULL AND (c.completed_at IS NOT NULL OR c.is_archived)
        THEN (
            SELECT o.id FROM cards o
            WHERE o.org_id = $1 AND o.board_id = c.board_id AND o.external_key = c.external_key
                AND o.id <> $2 AND o.completed_at IS NULL
                AND NOT o.is_archived AND NOT o.in_trash)
        END AS rival
    FROM cards c
    JOIN column_turns t ON t.org_id = $1 AND t.id = c.column_id
    JOIN columns k
        ON k.org_id = $1 AND k.board_id = c.board_id AND NOT k.in_trash
        AND k.id = coalesce($3::uuid, CASE $4::text WHEN 'completed' THEN t.completed_id
            WHEN 'exhausted' THEN t.exhausted_id ELSE c.column_id END)
    WHERE c.org_id = $1 AND c.id = $2)"};

constexpr Sql place_card{"boards.place_card", R"(
    UPDATE cards
    SET column_id = $3, position = $4, completed_at = $5, is_archived = $6,
        last_edited_time = now(), last_edited_by = $7, version = version + 1
    WHERE org_id = $1 AND id = $2)"};

// A card that is put away no longer counts.
constexpr Sql count_card{"boards.count_card", R"(
    UPDATE board_counters SET card_count = card_count + $3
    WHERE org_id = $1 AND board_id = $2)"};

/// What is asked of a card: a column by name, or the one that the present one names at `turn`.
struct Wish {
    Seat seat;
    Uuid card;
    std::optional<Uuid> column;
    std::string_view turn;
    Anchors anchors{};
    const CardWatcher* asker = nullptr;
};

constexpr std::string_view back_to_column = "back";  // a turn of this module's own

class OneMove final : public Move {
public:
    OneMove(Tx& tx, Wish wish)
        : tx_(tx),
          wish_(std::move(wish)),
          locked_(
              tx.later<Locked>(lock_for_move, wish_.seat.org, wish_.card, wish_.column, wish_.turn)
          ),
          seen_later_(wish_.seat.later<CardSeen>(tx, see_card, wish_.card)),
          destination_later_(tx.later<Destination>(
              find_destination, wish_.seat.org, wish_.card, wish_.column, wish_.turn
          )),
          settles_(about_to_place(tx, wish_.seat.org, wish_.card, wish_.asker)) {
        if (wish_.column && wish_.anchors.any())
            spot_later_ = find_spot(tx, wish_.seat.org, *wish_.column, wish_.card, wish_.anchors);
    }

    const std::optional<CardSeen>& seen() {
        read();
        return seen_;
    }
    const Card* card() override { return seen() ? &seen_->card : nullptr; }
    const ColumnRules* to() override {
        read();
        return destination_ ? &destination_->column : nullptr;
    }
    bool full() override {
        read();
        return destination_ && !stays() && destination_->full();
    }
    Timestamp now() { return locked_.must().now; }

    Card carry_out(Doer& doer) override { return carry_out_at(doer, end_of_column(), card_moved); }

    Card carry_out_beside(Call& call) {
        CallDoer doer(call);
        const OrderKey key =
            spot_later_ ? key_at(call, *spot_later_, wish_.anchors) : end_of_column();
        return carry_out_at(doer, key, card_moved);
    }

    /// Back to life where it was.
    Card restore(Doer& doer) {
        read();
        Card card = carry_out_at(doer, seen_->card.position, card_restored);
        tx_.queue(count_card, card.org_id, card.board_id, 1);
        return card;
    }

    /// Off the board.
    Card archive(Doer& doer) {
        read();
        Card after = seen_->card;
        after.is_archived = true;
        enter(after, nullptr);
        place(doer, after, card_archived, nullptr);
        tx_.queue(count_card, after.org_id, after.board_id, -1);
        return after;
    }

private:
    void read() {
        if (has_read_) return;
        has_read_ = true;
        seen_ = seen_later_.one();
        destination_ = destination_later_.one();
    }

    bool stays() const {
        return seen_ && !seen_->card.is_archived &&
               seen_->card.column_id == destination_->column.column_id;
    }

    OrderKey end_of_column() {
        read();
        return OrderKey::last(destination_->below, chance());
    }

    Card carry_out_at(Doer& doer, OrderKey key, const EventKind& kind) {
        if (full()) destination_->require_room();
        Card after = seen_->card;
        if (!stays()) enter(after, &destination_->column);
        after.column_id = destination_->column.column_id;
        after.position = std::move(key);
        after.is_archived = false;
        if (destination_->column.kind != ColumnKind::done) {
            if (destination_->rival) throw external_key_taken(*destination_->rival);
            after.completed_at.reset();
        } else if (!after.completed_at) {
            after.completed_at = now();
        }
        place(doer, after, kind, &destination_->column);
        return after;
    }

    void place(Doer& doer, Card& after, const EventKind& kind, const ColumnRules* column) {
        const Card& before = seen_->card;
        after.last_edited_time = now();
        after.last_edited_by = AsJson(doer.who());
        after.version = before.version + 1;
        const Event event =
            changed(kind, before, after).on_board(after.board_id).in_column(after.column_id);
        doer.ask(event);
        tx_.queue(
            place_card,
            after.org_id,
            after.id,
            after.column_id,
            after.position.str(),
            after.completed_at,
            after.is_archived,
            after.last_edited_by.text
        );
        doer.tell(event);
        Placing placing{&before, after, column, now(), doer};
        for (const CardWatcher::Settle& settle : settles_) settle(placing);
    }

    Tx& tx_;
    const Wish wish_;
    Later<Locked> locked_;
    Later<CardSeen> seen_later_;
    Later<Destination> destination_later_;
    std::optional<Later<Spot>> spot_later_;
    std::vector<CardWatcher::Settle> settles_;
    bool has_read_ = false;
    std::optional<CardSeen> seen_;
    std::optional<Destination> destination_;
};

}  // namespace

std::vector<CardWatcher::Settle> about_to_place(
    Tx& tx, const Uuid& org, const Uuid& card, const CardWatcher* asker
) {
    std::vector<CardWatcher::Settle> settles;
    for (CardWatcher* watcher : moves().watchers())
        if (watcher != asker) settles.push_back(watcher->about_to_place(tx, org, card));
    return settles;
}

std::unique_ptr<Move> MovesHere::begin(
    Tx& tx,
    const Uuid& org,
    const Uuid& card,
    const std::optional<Uuid>& column,
    Turn turn,
    const CardWatcher* asker
) {
    return std::make_unique<OneMove>(
        tx,
        Wish{
            .seat = Seat::of_system(org),
            .card = card,
            .column = column,
            .turn = name_of(turn),
            .asker = asker}
    );
}

// -------------------------------------------------------------------------------- operations

namespace {

struct MoveCardRequest {
    CardRef card_id;
    Uuid column_id;
    std::optional<Uuid> before_id;
    std::optional<Uuid> after_id;
};
SVC_RECORD(
    MoveCardRequest,
    (card_id, "Its id, or its key such as ENG-42."),
    (column_id, "A column of the same board."),
    (before_id, "The card to stand above."),
    (after_id, "The card to stand below; at the end of the column if neither is given.")
);

struct CardOnly {
    CardRef card_id;
};
SVC_RECORD(CardOnly, (card_id, "Its id, or its key such as ENG-42."));

void require_movable(Call& call, OneMove& move) {
    require_changeable(move.seen(), BoardRole::editor);
    const Card& card = move.seen()->card;
    call.require_version(card.version);
    if (card.in_trash)
        throw Failure(Fault::conflict, "The card is in the trash; restore it first.")
            .with("reason", "card_in_trash");
}

Card shown(Call& call, Card card) {
    card.url = url_of(call.kernel(), card);
    return card;
}

Card move(Call& call, const MoveCardRequest& in) {
    const Uuid id = id_of(call, in.card_id);
    OneMove move(
        call.tx(),
        {.seat = Seat::of(call),
         .card = id,
         .column = in.column_id,
         .turn = {},
         .anchors = {in.before_id, in.after_id}}
    );
    require_movable(call, move);
    if (move.card()->is_archived)
        throw Failure(Fault::conflict, "The card is archived; restore it first.")
            .with("reason", "card_archived");
    if (!move.to()) throw wrong_field(call, "column_id", "the card's board has no such column");
    return shown(call, move.carry_out_beside(call));
}

Card archive(Call& call, const CardOnly& in) {
    const Uuid id = id_of(call, in.card_id);
    OneMove move(
        call.tx(),
        {.seat = Seat::of(call), .card = id, .column = std::nullopt, .turn = back_to_column}
    );
    require_movable(call, move);
    if (move.card()->is_archived) return shown(call, *move.card());
    CallDoer doer(call);
    return shown(call, move.archive(doer));
}

Card restore(Call& call, const CardOnly& in) {
    const Uuid id = id_of(call, in.card_id);
    OneMove move(
        call.tx(),
        {.seat = Seat::of(call), .card = id, .column = std::nullopt, .turn = back_to_column}
    );
    require_movable(call, move);
    if (!move.card()->is_archived) return shown(call, *move.card());
    if (!move.to())
        throw Failure(Fault::conflict, "The card's column is in the trash; move it elsewhere.")
            .with("reason", "column_in_trash");
    CallDoer doer(call);
    return shown(call, move.restore(doer));
}

}  // namespace

const Operation move_card{
    .name = "move_card",
    .route = "POST /v1/cards/{card_id}:move",
    .summary = "Move a card to another column or place.",
    .description =
        "Moves a card within its board: to the end of a column, or beside another card. "
        "A full column with a hard limit refuses with 409 `wip_limit_reached`. Moving a "
        "claimed card to another column takes it from its worker.",
    .access = Access::board_editor,
    .idempotent = true,
    .handler = move,
};

const Operation archive_card{
    .name = "archive_card",
    .route = "POST /v1/cards/{card_id}:archive",
    .summary = "Put a card away; restore_card brings it back.",
    .access = Access::board_editor,
    .idempotent = true,
    .handler = archive,
};

const Operation restore_card{
    .name = "restore_card",
    .route = "POST /v1/cards/{card_id}:restore",
    .summary = "Bring an archived card back to its column.",
    .access = Access::board_editor,
    .idempotent = true,
    .handler = restore,
};

}  // namespace svc::boards
