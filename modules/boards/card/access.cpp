#include "modules/boards/card/access.hpp"
#include "modules/boards/api/shapes.hpp"

namespace svc::boards {

namespace {

constexpr std::string_view that_card = R"(
    SELECT c.id FROM cards c
    WHERE c.org_id = $1 AND c.id = $5 AND)";
constexpr std::string_view card_for_update = "c.board_id) FOR UPDATE OF c";
constexpr Sql lock_to_change{
    "boards.lock_card", SqlText<that_card, if_editor, card_for_update>::view};

}  // namespace

void lock_card(Call& call, const Uuid& card) {
    BoardCaller::of(call).lock(call.tx(), lock_to_change, card);
}

void require_changeable(const std::optional<CardAccess>& seen, BoardRole least) {
    if (!seen || seen->board_in_trash) not_found("card");
    require(seen->role, least, "card");
    if (seen->board_is_archived) throw board_archived();
}

void require_out_of_trash(const Card& card) {
    if (card.in_trash) throw card_in_trash();
}

void require_visible(const std::optional<CardAccess>& seen) {
    if (!seen) not_found("card");
    require(seen->role, BoardRole::viewer, "card");
}

}  // namespace svc::boards
