// Copies of cards.

#include "modules/boards/api/shapes.hpp"
#include "modules/boards/card/access.hpp"
#include "modules/boards/card/rewrites.hpp"
#include "modules/boards/card/writes.hpp"
#include "modules/boards/operations.hpp"

namespace svc::boards {

namespace {

struct DuplicateCardRequest {
    CardRef card_id;
    std::optional<Uuid> column_id;
    std::optional<std::string> title;
};
SVC_RECORD(
    DuplicateCardRequest,
    (card_id, "Its id, or its key such as ENG-42."),
    (column_id, "A column of the same board; below the card itself if left out."),
    (title, "The card's own title if left out.", length(1, 500), trimmed)
);

// Labels, properties and options keep their names until the copy has them. As a card that is made
// takes it: whoever shared the lock first would stand in the way of others who do.
constexpr std::string_view board_of_card = R"(
    SELECT n.board_id FROM board_counters n
    WHERE n.org_id = $1
        AND n.board_id = (SELECT board_id FROM cards WHERE org_id = $1 AND id = $5)
        AND)";
constexpr std::string_view held = "n.board_id) FOR NO KEY UPDATE OF n";
constexpr Sql hold_board{
    "boards.hold_board_of_copy", SqlText<board_of_card, if_editor, held>::view};

Card duplicate(Call& call, const DuplicateCardRequest& in) {
    const Uuid id = id_of(call, in.card_id);
    BoardCaller::of(call).queue(call.tx(), hold_board, id);
    CatchUp catch_up(call, id);
    const auto seen = BoardCaller::of(call).later<CardAccess>(call.tx(), see_card, id).one();
    require_changeable(seen, BoardRole::editor);
    require_out_of_trash(seen->card);
    Card card = seen->card;
    catch_up.apply_to(card);

    CreateCardRequest copy;
    copy.board_id = card.board_id;
    copy.column_id = in.column_id.value_or(card.column_id);
    if (copy.column_id == card.column_id && !card.is_archived) copy.after_id = card.id;
    copy.title = in.title.value_or(card.title);
    SVC_COPY_CARD_FIELDS(copy, card);
    return shown(call, make_card(call, copy, &card).after);
}

}  // namespace

const Operation duplicate_card{
    .name = "duplicate_card",
    .route = "POST /v1/cards/{card_id}:duplicate",
    .summary = "Duplicate a card.",
    .description =
        "The copy has the same body and all that the card was given but its external key. Its "
        "comments, links, watchers and history stay with the original alone.",
    .access = Access::board_editor,
    .status = 201,
    .under_lease = true,
    .handler = duplicate,
};

}  // namespace svc::boards
