#pragma once

#include "modules/content/statements.hpp"

/// What a search finds, as the database says it.
namespace svc::content {

enum class Found { board, card, block, comment };
BOOST_DESCRIBE_ENUM(Found, board, card, block, comment)

struct Hit {
    Found object{};
    Uuid id;
    Uuid board_id;
    std::optional<Uuid> card_id;
    std::int64_t sort_key = 0;  ///< of the cursor, with the id
    std::string key;
    std::string title;
    std::optional<BlockType> type;
    std::string headline;
    Timestamp created_time;
    Timestamp last_edited_time;
};
SVC_SHARED_RECORD(
    Hit,
    (object),
    (id),
    (board_id),
    (card_id),
    (sort_key),
    (key),
    (title),
    (type),
    (headline),
    (created_time),
    (last_edited_time)
);

enum class ByTime { latest, oldest };
BOOST_DESCRIBE_ENUM(ByTime, latest, oldest)

/// How the statements begin: `open` are the boards that the caller may see, $5 alone if given.
inline constexpr std::string_view open_boards = R"(
    WITH open AS MATERIALIZED (
        SELECT b.id
        FROM boards b
        )" SVC_BOARD_GRANT("b.id") R"(
        WHERE b.org_id = $1 AND NOT b.in_trash AND ($5::uuid IS NULL OR b.id = $5)
            AND )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"(
                IS NOT NULL
    ))";

/// Queues a page of everything that the caller may see: on one board, or of one sort, if given.
DeferredRows<Hit> list_by_time(
    Call& call,
    ByTime order,
    const std::optional<Uuid>& board,
    const std::optional<std::string_view>& thing,
    const Paging& paging
);

}  // namespace svc::content
