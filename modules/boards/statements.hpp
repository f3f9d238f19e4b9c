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
struct BoardAccess {
    std::optional<BoardRole> role;
    std::string key;
    bool is_archived = false;
    bool in_trash = false;
    Timestamp now;
};
SVC_SHARED_RECORD(BoardAccess, (role), (key), (is_archived), (in_trash), (now));

inline constexpr Sql see_board{"boards.see_board", R"(
    SELECT b.key, b.is_archived, b.in_trash, now() AS now,
        )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role
    FROM boards b
    )" SVC_BOARD_GRANT("b.id") R"(
    WHERE b.org_id = $1 AND b.id = $5)"};

/// Queues the lock for what a board defines once for all its cards: names that are unique on it,
/// and what cards show of it. Whoever copies from that to a card locks the same row FOR KEY SHARE.
void lock_definitions(Call& call, const Uuid& board);

/// 404 for strangers and for what is in the trash, 403 for lower roles, 409 when `board` is
/// archived and so cannot be changed.
void require_changeable(const std::optional<BoardAccess>& board, BoardRole least);

/// A 422 about one item of a list in the input.
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
