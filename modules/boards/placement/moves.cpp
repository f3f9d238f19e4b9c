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

std::unique_ptr<Move> MovesImpl::begin(
    Tx& tx,
    const BoardCaller& caller,
    const Uuid& card,
    const std::optional<Uuid>& column,
    MoveReason turn,
    const CardWatcher* asker
) {
    return std::make_unique<CardMove>(
        tx,
        *this,
        MoveRequest{
            .caller = caller, .card = card, .column = column, .turn = name_of(turn), .asker = asker}
    );
}

namespace {

constexpr std::string_view cards_of_caller = R"(
    WITH mine AS (
        SELECT c.id, c.column_id FROM cards c
        WHERE c.org_id = $1 AND c.id = ANY ($5::uuid[]) AND)";
constexpr std::string_view and_those_that_wait = R"(c.board_id)
    )
    SELECT c.id FROM cards c
    WHERE c.org_id = $1 AND c.id = ANY (ARRAY(
        SELECT id FROM mine
        UNION
        SELECT l.target_id FROM card_links l
        WHERE l.org_id = $1 AND l.kind = 'blocks' AND l.card_id = ANY (ARRAY(SELECT id FROM mine))))
    ORDER BY c.id
    FOR UPDATE OF c)";
constexpr Sql lock_cards{
    "boards.lock_cards_to_complete",
    SqlText<cards_of_caller, if_editor, and_those_that_wait>::view};

constexpr std::string_view their_columns = R"(c.board_id)
    )
    SELECT k.id FROM columns k
    WHERE k.org_id = $1 AND k.wip_policy = 'hard' AND k.wip_limit IS NOT NULL
        AND k.id = ANY (ARRAY(
            SELECT t.completed_id FROM column_turns t
            WHERE t.org_id = $1 AND t.id = ANY (ARRAY(SELECT column_id FROM mine))
            UNION
            SELECT w.id FROM unnest($6::uuid[]) w (id)))
        AND)";
constexpr std::string_view in_order = R"(k.board_id)
    ORDER BY k.id
    FOR NO KEY UPDATE OF k)";
constexpr Sql lock_columns{
    "boards.lock_columns_to_complete",
    SqlText<cards_of_caller, if_editor, their_columns, if_editor, in_order>::view};

}  // namespace

void MovesImpl::lock_to_complete(
    Tx& tx,
    const BoardCaller& caller,
    const std::vector<Uuid>& cards,
    const std::vector<Uuid>& columns
) {
    caller.queue(tx, lock_cards, cards);
    caller.queue(tx, lock_columns, cards, columns);
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
        {.caller = BoardCaller::of(call),
         .card = id,
         .column = std::nullopt,
         .turn = back_to_column}};
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
        {.caller = BoardCaller::of(call),
         .card = id,
         .column = in.column_id,
         .turn = {},
         .anchors = {id_in(in.before_id), id_in(in.after_id)}}
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
