// Reading a card.

#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/card/access.hpp"
#include "modules/boards/card/writes.hpp"
#include "modules/boards/operations.hpp"
#include "svc/joint.hpp"

namespace svc::boards {

namespace {

constexpr std::string_view of_that_key = R"((
        SELECT c.id FROM boards b
        JOIN cards c ON c.org_id = $1 AND c.board_id = b.id AND c.number = $6
        WHERE b.org_id = $1 AND b.key = $5))";
constexpr Sql see_card_by_key{"boards.see_card_by_key", SqlText<card_seen, of_that_key>::view};

constexpr std::string_view any_of_those = "ANY ($5::uuid[])";
constexpr Sql see_cards{"boards.see_cards", SqlText<card_seen, any_of_those>::view};

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

// -------------------------------------------------------------------- several calls, each for one

/// So many are read at the same moment, each by itself, before any wait: few at once would gain
/// less than they wait.
constexpr std::size_t turns = 4;

/// Keys are looked up one by one.
std::optional<std::string> reads_alike(Call&, const CardOnly& in) {
    if (!in.card_id.id) return std::nullopt;
    return "";
}

/// A request for a card that the caller may not see is refused by itself.
std::vector<std::optional<Card>> get_each(
    Call& call, std::span<const JointRequest<CardOnly>> requests
) {
    std::vector<Uuid> ids;
    for (const auto& each : requests) ids.push_back(*each.in.card_id.id);
    auto rows = BoardCaller::of(call).later<CardAccess>(call.tx(), see_cards, ids);
    std::vector<std::optional<Card>> cards(ids.size());
    for (CardAccess& each : rows.all()) {
        if (!each.role) continue;
        const Card card = shown(call, std::move(each.card));
        for (std::size_t i = 0; i < ids.size(); ++i)
            if (ids[i] == card.id) cards[i] = card;
    }
    return cards;
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
    .joint_handler = {reads_alike, get_each, turns},
};

}  // namespace svc::boards
