// Everything that somebody may see, by when it was last changed.

#include "modules/content/found.hpp"

#include <charconv>

namespace svc::content {

namespace {

// Behind what open_boards takes: $6 sort of thing, $7 and $8 where the last page ended. Each sort
// of thing is read along an index of its own, as far as one page goes.
constexpr std::string_view of_boards = R"(, page AS (
        (SELECT 'board' AS object, t.id, t.last_edited_time
         FROM boards t
         WHERE t.org_id = $1 AND coalesce($6, 'board') = 'board'
             AND t.id = ANY (ARRAY(SELECT o.id FROM open o)))";
constexpr std::string_view of_cards = R"(
        UNION ALL
        (SELECT 'card', t.id, t.last_edited_time
         FROM cards t
         WHERE t.org_id = $1 AND NOT t.in_trash AND coalesce($6, 'card') = 'card'
             AND t.board_id = ANY (ARRAY(SELECT o.id FROM open o)))";
constexpr std::string_view of_blocks = R"(
        UNION ALL
        (SELECT 'block', t.id, t.last_edited_time
         FROM blocks t
         JOIN cards c ON c.org_id = $1 AND c.id = t.card_id AND NOT c.in_trash
         WHERE t.org_id = $1 AND t.trashed_by IS NULL AND coalesce($6, 'block') = 'block'
             AND c.board_id = ANY (ARRAY(SELECT o.id FROM open o)))";
constexpr std::string_view of_comments = R"(
        UNION ALL
        (SELECT 'comment', t.id, t.last_edited_time
         FROM comments t
         JOIN cards c ON c.org_id = $1 AND c.id = t.card_id AND NOT c.in_trash
         WHERE t.org_id = $1 AND NOT t.in_trash AND coalesce($6, 'comment') = 'comment'
             AND c.board_id = ANY (ARRAY(SELECT o.id FROM open o)))";
constexpr std::string_view shapes = R"(
    )
    SELECT f.object, f.id, f.board_id, f.card_id,
        (extract(epoch FROM f.last_edited_time) * 1000000)::bigint AS sort_key, f.key, f.title,
        f.type, translate(left(f.says, 200), chr(1) || chr(2), '') AS headline,
        f.created_time, f.last_edited_time
    FROM page p
    CROSS JOIN LATERAL (
        SELECT * FROM found_view v
        WHERE v.org_id = $1 AND v.object = p.object AND v.id = p.id OFFSET 0
    ) f)";

constexpr std::string_view older = R"(
             AND (t.last_edited_time, t.id)
                 < ((SELECT coalesce($7::timestamptz, 'infinity')), $8::uuid)
         ORDER BY t.last_edited_time DESC, t.id DESC
         LIMIT $9))";
constexpr std::string_view newest_page = " ORDER BY last_edited_time DESC, id DESC LIMIT $9";
constexpr std::string_view newest_first = " ORDER BY p.last_edited_time DESC, p.id DESC";

constexpr std::string_view newer = R"(
             AND (t.last_edited_time, t.id)
                 > ((SELECT coalesce($7::timestamptz, '-infinity')), $8::uuid)
         ORDER BY t.last_edited_time, t.id
         LIMIT $9))";
constexpr std::string_view oldest_page = " ORDER BY last_edited_time, id LIMIT $9";
constexpr std::string_view oldest_first = " ORDER BY p.last_edited_time, p.id";

template <const std::string_view& Cut, const std::string_view& Page, const std::string_view& Order>
using ListSql = SqlText<
    open_boards,
    of_boards,
    Cut,
    of_cards,
    Cut,
    of_blocks,
    Cut,
    of_comments,
    Cut,
    Page,
    shapes,
    Order>;

constexpr Sql list_latest{"content.list_latest", ListSql<older, newest_page, newest_first>::view};
constexpr Sql list_oldest{"content.list_oldest", ListSql<newer, oldest_page, oldest_first>::view};

Timestamp time_of(const std::string& key) {
    Timestamp time;
    std::from_chars(key.data(), key.data() + key.size(), time.micros);
    return time;
}

}  // namespace

DeferredRows<Hit> list_by_time(
    Call& call,
    ByTime order,
    const std::optional<Uuid>& board,
    const std::optional<std::string_view>& thing,
    const Paging& paging
) {
    const auto after = call.after(paging);
    return BoardCaller::of(call).later<Hit>(
        call.tx(),
        order == ByTime::latest ? list_latest : list_oldest,
        board,
        thing,
        after ? std::optional(time_of(after->at(0))) : std::nullopt,
        after ? after->at(1) : Uuid().str(),
        paging.page_size + 1
    );
}

}  // namespace svc::content
