#pragma once

#include "modules/boards/api/access.hpp"

#include <algorithm>
#include <utility>

/// What several files of this module read, and how.
namespace svc::boards {

/// Lists whose rows can be large are cut by the database, too. Whatever takes more than that there
/// takes more than a page as JSON, which has no spaces; so Call::page cuts it and goes on behind.
inline constexpr std::int64_t most_bytes_shaped = 2 * std::int64_t{page_bytes};

/// A board as far as those who act on it need it.
struct BoardSeen {
    std::optional<BoardRole> role;
    std::string key;
    bool is_archived = false;
    bool in_trash = false;
    Timestamp now;
};
SVC_SHARED_RECORD(BoardSeen, (role), (key), (is_archived), (in_trash), (now));

inline constexpr Sql see_board{"boards.see_board", R"(
    SELECT b.key, b.is_archived, b.in_trash, now() AS now,
        )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role
    FROM boards b
    )" SVC_BOARD_GRANT("b.id") R"(
    WHERE b.org_id = $1 AND b.id = $5)"};

/// A card, and what the caller may do with it.
struct CardSeen {
    Card card;
    std::optional<BoardRole> role;
    bool board_is_archived = false;
    bool board_in_trash = false;
};
SVC_SHARED_RECORD(CardSeen, (card, "", spread), (role), (board_is_archived), (board_in_trash));

/// The hot read: one look-up by key in each of cards, boards, grants and the queue.
inline constexpr Sql see_card{"boards.see_card", R"(
    SELECT v.*,
        )" SVC_BOARD_ROLE("v.visibility", "v.maker") R"( AS role
    FROM card_view v
    )" SVC_BOARD_GRANT("v.board_id") R"(
    WHERE v.org_id = $1 AND v.id = $5)"};

/// Queues the lock of a card that the caller may change, so that what is read next is the newest,
/// and stays. Statements of a pipeline that come after a lock see what was committed while it was
/// waited for.
void lock_card(Call& call, const Uuid& card);

/// Queues the lock for what a board defines once for all its cards: names that are unique on it,
/// and what cards show of it. Whoever copies from that to a card locks the same row FOR KEY SHARE.
void lock_definitions(Call& call, const Uuid& board);

/// 404 for strangers and for what is in the trash, 403 for lower roles, 409 when `board` is
/// archived and so cannot be changed.
void require_changeable(const std::optional<BoardSeen>& board, BoardRole least);
/// The same for a card on its board.
void require_changeable(const std::optional<CardSeen>& seen, BoardRole least);

/// 409 for a card in the trash.
void require_out_of_trash(const Card& card);
/// 404 for whoever may not see the card. What is on a board in the trash can be read as before, by
/// whoever has its id; nothing can be done with it.
void require_visible(const std::optional<CardSeen>& seen);

/// A 422 about one field of the input, addressed as the caller sent it.
Failure wrong_field(const Call& call, std::string_view field, std::string_view message);
/// The same of an operation whose fields travel in the query.
Failure wrong_in_query(const Call& call, std::string_view field, std::string_view message);
Failure wrong_item(
    const Call& call, std::string_view field, std::size_t index, std::string_view message
);

/// An event about what is gone for good: `previous` holds all that it was.
template <Described T>
Event removed(const EventKind& kind, const T& record) {
    Event event = created(kind, record);
    event.version += 1;
    event.previous = std::exchange(event.changes, R"({"in_trash":true})");
    return event;
}

template <class T>
std::optional<T> if_given(const Patch<T>& patch) {
    return patch.given() ? std::optional(patch.value()) : std::nullopt;
}

/// `more` behind `present`, each once, told apart by id: a list as sent, or, with
/// Prefer: merge-properties, joined to what is there.
template <class Ref>
std::vector<Ref> joined(std::vector<Ref> present, const std::vector<Ref>& more) {
    for (const Ref& each : more) {
        const auto same = [&](const Ref& other) { return other.id == each.id; };
        if (std::ranges::none_of(present, same)) present.push_back(each);
    }
    return present;
}

}  // namespace svc::boards
