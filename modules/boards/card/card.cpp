// Reading a card.

#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/card/access.hpp"
#include "modules/boards/card/writes.hpp"
#include "modules/boards/operations.hpp"

namespace svc::boards {

namespace {

constexpr Sql see_card_by_key{"boards.see_card_by_key", R"(
    SELECT v.*,
        )" SVC_BOARD_ROLE("v.visibility", "v.maker") R"( AS role
    FROM card_view v
    )" SVC_BOARD_GRANT("v.board_id") R"(
    WHERE v.org_id = $1 AND v.id = (
        SELECT c.id FROM boards b
        JOIN cards c ON c.org_id = $1 AND c.board_id = b.id AND c.number = $6
        WHERE b.org_id = $1 AND b.key = $5))"};

Card get(Call& call, const CardOnly& in) {
    const BoardCaller caller = BoardCaller::of(call);
    const CardRef& ref = in.card_id;
    auto seen =
        ref.id ? caller.later<CardAccess>(call.tx(), see_card, *ref.id)
               : caller.later<CardAccess>(call.tx(), see_card_by_key, ref.board_key, ref.number);
    auto found = seen.one();
    if (!found) not_found("card");
    require(found->role, BoardRole::viewer, "card");
    return shown(call, std::move(found->card));
}

}  // namespace

const Operation get_card{
    .name = "get_card",
    .route = "GET /v1/cards/{card_id}",
    .summary = "Read a card.",
    .description = "Takes the card's id or its key, such as ENG-42.",
    .access = Access::board_viewer,
    .worker = true,
    .handler = get,
};

}  // namespace svc::boards
