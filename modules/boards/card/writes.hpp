#pragma once

#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/card/requests.hpp"
#include "modules/boards/link/dependencies.hpp"

/// What the operations that change cards do.
namespace svc::boards {

/// A card before and after a write. A new one was nothing before.
struct Written {
    std::optional<Card> before;
    Card after;
};

// What the operations do, without what their answers have besides. Those other cards have ids by
// then (find_ids).
/// With `like`, a copy of that card in all that the request does not say.
Written make_card(Call& call, const CreateCardRequest& in, const Card* like = nullptr);
Written change_card(
    Call& call, const UpdateCardRequest& in, std::int64_t most_waiting = most_waiting_at_once
);
Written move_card_to(Call& call, const MoveCardRequest& in);
Written archive_card_of(Call& call, const CardOnly& in);
Written restore_card_of(Call& call, const CardOnly& in);
Written delete_card_of(Call& call, const CardOnly& in);

/// As answers show it.
inline Card shown(Call& call, Card card) {
    show(call.kernel(), card);
    return card;
}

}  // namespace svc::boards
