// Moving cards, for requests and for other modules.

#include "modules/boards/placement/moves.hpp"
#include "modules/boards/api/named_cards.hpp"

#include "modules/boards/api/shapes.hpp"
#include "modules/boards/card/access.hpp"
#include "modules/boards/card/writes.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/placement/card_move.hpp"

namespace svc::boards {

const MovesImpl& MovesImpl::of(const Kernel& kernel) {
    return static_cast<const MovesImpl&>(kernel.use<Moves>());
}

std::vector<CardWatcher::Placed> MovesImpl::about_to_place(
    Tx& tx, const BoardCaller& caller, const Uuid& card, const CardWatcher* asker
) const {
    std::vector<CardWatcher::Placed> after_placing;
    for (CardWatcher* watcher : watchers_)
        if (watcher != asker) after_placing.push_back(watcher->about_to_place(tx, caller, card));
    return after_placing;
}

void MovesImpl::blockers_changed(
    Tx& tx, Actor& actor, const Uuid& org, const std::vector<CardPlace>& cards
) const {
    if (cards.empty()) return;
    for (CardWatcher* watcher : watchers_) watcher->blockers_changed(tx, actor, org, cards);
}

std::vector<std::unique_ptr<Move>> MovesImpl::begin(
    Tx& tx,
    const BoardCaller& caller,
    const std::vector<MoveWish>& cards,
    MoveReason turn,
    const CardWatcher* asker
) {
    const auto set = std::make_shared<MoveSet>(
        tx,
        *this,
        MoveRequest{.caller = caller, .cards = cards, .turn = name_of(turn), .asker = asker}
    );
    std::vector<std::unique_ptr<Move>> moves;
    for (std::size_t i = 0; i < cards.size(); ++i)
        moves.push_back(std::make_unique<CardMove>(set, i));
    return moves;
}

// -------------------------------------------------------------------------------- operations

namespace {

void require_changeable(Call& call, CardMove& move) {
    boards::require_changeable(move.seen(), BoardRole::editor);
    call.require_version(move.card()->version);
}

CardMove beginning(Call& call, const CardOnly& in) {
    const Uuid id = id_of(call, in.card_id);
    return {
        call.tx(),
        MovesImpl::of(call.kernel()),
        BoardCaller::of(call),
        {id, std::nullopt},
        back_to_column
    };
}

}  // namespace

std::vector<CardRef*> others_in(MoveCardRequest& in) {
    std::vector<CardRef*> others;
    for (auto* each : {&in.before_id, &in.after_id})
        if (*each) others.push_back(&**each);
    return others;
}

Written move_card_to(Call& call, const MoveCardRequest& in) {
    const Uuid id = id_of(call, in.card_id);
    CardMove move(
        call.tx(),
        MovesImpl::of(call.kernel()),
        BoardCaller::of(call),
        {id, in.column_id},
        {},
        {id_in(in.before_id), id_in(in.after_id)}
    );
    require_changeable(call, move);
    require_out_of_trash(*move.card());
    if (move.card()->is_archived)
        throw Failure(Fault::conflict, "The card is archived; restore it first.")
            .with("reason", "card_archived");
    if (!move.to()) throw wrong_field(call, "column_id", "the card's board has no such column");
    return {*move.card(), move.carry_out_beside(call)};
}

Written archive_card_of(Call& call, const CardOnly& in) {
    CardMove move = beginning(call, in);
    require_changeable(call, move);
    require_out_of_trash(*move.card());
    const Card before = *move.card();
    if (before.is_archived) return {before, before};
    CallActor actor(call);
    return {before, move.archive(actor)};
}

Written restore_card_of(Call& call, const CardOnly& in) {
    CardMove move = beginning(call, in);
    require_changeable(call, move);
    const Card before = *move.card();
    if (!before.is_archived && !before.in_trash) return {before, before};
    if (!move.to())
        throw Failure(Fault::conflict, "The card's column is in the trash; move it elsewhere.")
            .with("reason", "column_in_trash");
    CallActor actor(call);
    return {before, move.restore(actor)};
}

Written delete_card_of(Call& call, const CardOnly& in) {
    CardMove move = beginning(call, in);
    require_changeable(call, move);
    const Card before = *move.card();
    if (before.in_trash) return {before, before};
    CallActor actor(call);
    return {before, move.remove(actor)};
}

namespace {

Card move(Call& call, const MoveCardRequest& in) {
    MoveCardRequest wanted = in;
    find_ids(call, others_in(wanted));
    return shown(call, move_card_to(call, wanted).after);
}
Card archive(Call& call, const CardOnly& in) {
    return shown(call, archive_card_of(call, in).after);
}
Card restore(Call& call, const CardOnly& in) {
    return shown(call, restore_card_of(call, in).after);
}
void remove(Call& call, const CardOnly& in) { delete_card_of(call, in); }

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
    .worker = true,
    .versioned = true,
    .under_lease = true,
    .handler = move,
};

const Operation delete_card{
    .name = "delete_card",
    .route = "DELETE /v1/cards/{card_id}",
    .summary = "Delete a card: it goes to the trash, and restore_card brings it back.",
    .description =
        "Takes the card off its board and from its worker, if somebody has claimed it. Cards that "
        "wait for it no longer do.",
    .access = Access::board_editor,
    .status = 204,
    .destructive = true,
    .idempotent = true,
    .versioned = true,
    .under_lease = true,
    .handler = remove,
};

const Operation archive_card{
    .name = "archive_card",
    .route = "POST /v1/cards/{card_id}:archive",
    .summary = "Archive a card; restore_card brings it back.",
    .access = Access::board_editor,
    .idempotent = true,
    .versioned = true,
    .under_lease = true,
    .handler = archive,
};

const Operation restore_card{
    .name = "restore_card",
    .route = "POST /v1/cards/{card_id}:restore",
    .summary = "Restore a card to its column from the archive or the trash.",
    .access = Access::board_editor,
    .idempotent = true,
    .versioned = true,
    .under_lease = true,
    .handler = restore,
};

}  // namespace svc::boards
