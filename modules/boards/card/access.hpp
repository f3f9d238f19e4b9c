#pragma once

#include "modules/boards/api/access.hpp"
#include "modules/boards/api/shapes.hpp"

/// A card as those who act on it find it.
namespace svc::boards {

/// A card, and what the caller may do with it.
struct CardAccess {
    Card card;
    std::optional<BoardRole> role;
    bool board_is_archived = false;
    bool board_in_trash = false;
};
SVC_SHARED_RECORD(CardAccess, (card, "", flatten), (role), (board_is_archived), (board_in_trash));

/// Cards, and what the caller may do with them. One is the hot read: one look-up by key in each of
/// cards, boards, grants and the queue.
inline constexpr std::string_view card_seen = R"(
    SELECT v.*,
        )" SVC_BOARD_ROLE("v.visibility", "v.maker") R"( AS role
    FROM card_view v
    )" SVC_BOARD_GRANT("v.board_id") R"(
    WHERE v.org_id = $1 AND v.id = )";
inline constexpr std::string_view that_one = "$5";
inline constexpr Sql see_card{"boards.see_card", SqlText<card_seen, that_one>::view};

/// Queues the lock of a card that the caller may change, so that what is read next is the newest,
/// and stays. Statements of a pipeline that come after a lock see what was committed while it was
/// waited for.
void lock_card(Call& call, const Uuid& card);

/// 404 for strangers, 403 for lower roles, 409 when its board is archived.
void require_changeable(const std::optional<CardAccess>& seen, BoardRole least);

/// 409 for a card in the trash.
void require_out_of_trash(const Card& card);
/// 404 for whoever may not see the card. What is on a board in the trash can be read as before, by
/// whoever has its id; nothing can be done with it.
void require_visible(const std::optional<CardAccess>& seen);

}  // namespace svc::boards
