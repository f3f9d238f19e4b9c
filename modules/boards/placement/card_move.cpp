// One card on its way.

#include "modules/boards/placement/card_move.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/card/access.hpp"

namespace svc::boards {

namespace {

// An archived card no longer counts.
constexpr Sql count_card{"boards.count_card", R"(
    INSERT INTO card_count_changes (org_id, board_id, id, change) VALUES ($1, $2, $3, $4))"};

}  // namespace

CardMove::CardMove(
    Tx& tx,
    const MovesImpl& moves,
    const BoardCaller& caller,
    const MoveWish& card,
    std::string_view turn,
    const Anchors& anchors
)
    : CardMove(
          std::make_shared<MoveSet>(
              tx, moves, MoveRequest{.caller = caller, .cards = {card}, .turn = turn}
          ),
          0
      ) {
    if (card.column && anchors.any())
        gap_later_.emplace(anchors, find_gap(tx, caller.org, *card.column, card.card, anchors));
}

const std::optional<CardAccess>& CardMove::seen() {
    read();
    return seen_;
}

std::optional<CardRights> CardMove::rights() {
    if (!seen() || seen_->board_in_trash) return std::nullopt;
    return CardRights{seen_->role, seen_->board_is_archived};
}

const ColumnRules* CardMove::to() {
    read();
    return destination_ ? &destination_->column : nullptr;
}

bool CardMove::full() {
    read();
    return destination_ && !stays() && destination().full();
}

void CardMove::read() {
    if (has_read_) return;
    has_read_ = true;
    auto found = set_->seen(number_);
    if (!found) return;
    if (found->to_id) destination_ = found->to.as(*found->to_id);
    links_ = found->links.parsed();
    const Card& card = found->access.card;
    from_ = {card.board_id, card.column_id, found->from_name, found->from_kind};
    if (destination_)
        to_ = {
            card.board_id,
            destination_->column.column_id,
            found->to_name.value(),
            std::string(name_of(destination_->column.kind))
        };
    seen_ = std::move(found->access);
}

bool CardMove::stays() const {
    return seen_ && on_board() && seen_->card.column_id == destination_->column.column_id;
}

OrderKey CardMove::end_of_column() {
    read();
    return OrderKey::last_by_time(random_bits(), destination().below);
}

// ------------------------------------------------------------------------------- where it goes

Card CardMove::decide(Actor& actor) { return decide_at(actor, end_of_column(), card_moved); }

Card CardMove::carry_out(Actor& actor) { return carry_out_at(actor, end_of_column(), card_moved); }

Card CardMove::carry_out_beside(Call& call) {
    CallActor actor(call);
    const MoveWish& wish = set_->request().cards.front();
    const OrderKey key =
        gap_later_ ? key_at(call, gap_later_->second, *wish.column, wish.card, gap_later_->first)
                   : end_of_column();
    Card card = carry_out_at(actor, key, card_moved);
    set_->moves().make_room(set_->tx(), card.org_id, card.column_id, key);
    return card;
}

Card CardMove::restore(Actor& actor) {
    read();
    Card card = carry_out_at(actor, seen_->card.position, card_restored);
    set_->tx().queue(count_card, card.org_id, card.board_id, new_uuid(), 1);
    return card;
}

Card CardMove::archive(Actor& actor) {
    read();
    Card after = seen_->card;
    after.is_archived = true;
    return leave(actor, std::move(after), card_archived);
}

Card CardMove::remove(Actor& actor) {
    read();
    Card after = seen_->card;
    after.in_trash = true;
    return leave(actor, std::move(after), card_deleted);
}

Card CardMove::leave(Actor& actor, Card after, const EventKind& kind) {
    enter(after, nullptr);
    place(actor, after, kind, nullptr);
    write(actor);
    if (on_board()) set_->tx().queue(count_card, after.org_id, after.board_id, new_uuid(), -1);
    return after;
}

Card CardMove::carry_out_at(Actor& actor, OrderKey key, const EventKind& kind) {
    Card after = decide_at(actor, std::move(key), kind);
    write(actor);
    return after;
}

Card CardMove::decide_at(Actor& actor, OrderKey key, const EventKind& kind) {
    if (full()) destination().require_room();
    Card after = seen_->card;
    if (!stays()) enter(after, &destination_->column);
    after.column_id = destination_->column.column_id;
    after.position = std::move(key);
    after.is_archived = after.in_trash = false;
    if (destination_->column.kind != ColumnKind::done) {
        if (const auto taken = destination().key_conflict) throw external_key_taken(*taken);
        after.completed_at.reset();
    } else if (!after.completed_at) {
        after.completed_at = set_->now();
    }
    place(actor, after, kind, &destination_->column);
    return after;
}

void CardMove::place(Actor& actor, Card& after, const EventKind& kind, const ColumnRules* column) {
    const Card& before = seen_->card;
    after.last_edited_time = set_->now();
    after.last_edited_by = AsJson(actor.who());
    after.version = before.version + 1;
    Event event = changed(kind, before, after).on_board(after.board_id).in_column(after.column_id);
    if (&kind == &card_moved) {
        event.from = from_;
        event.to = to_;
    }
    actor.check(event);
    set_->decided(
        {.number = number_,
         .before = before,
         .after = after,
         .column = column ? std::optional(*column) : std::nullopt,
         .links = links_,
         .event = std::move(event)}
    );
}

}  // namespace svc::boards
