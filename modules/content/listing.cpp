// Everything that somebody may see, by when it was last changed.

#include "modules/content/found.hpp"

#include <charconv>

namespace svc::content {

namespace {

// $5 board, $6 sort of thing, $7 and $8 where the last page ended. Each sort of thing is read along
// an index of its own, as far as one page goes.
constexpr Sql list_latest{"content.list_latest", R"(
    WITH open AS MATERIALIZED (
        SELECT b.id
        FROM boards b
        LEFT JOIN board_grants g
            ON g.org_id = $1 AND g.principal_id = $2 AND g.board_id = b.id
        WHERE b.org_id = $1 AND NOT b.in_trash AND ($5::uuid IS NULL OR b.id = $5)
            AND board_role($2, $3, $4, b.visibility, b.created_by, g.role,
                $3 = 'agent' AND EXISTS (
                    SELECT FROM board_grants x WHERE x.org_id = $1 AND x.principal_id = $2))
                IS NOT NULL
    ), page AS (
        (SELECT 'board' AS object, b.id, b.last_edited_time
         FROM boards b
         WHERE b.org_id = $1 AND b.id = ANY (ARRAY(SELECT o.id FROM open o))
             AND coalesce($6, 'board') = 'board'
             AND (b.last_edited_time, b.id) < ((SELECT coalesce($7::timestamptz, 'infinity')), $8::uuid)
         ORDER BY b.last_edited_time DESC, b.id DESC
         LIMIT $9)
        UNION ALL
        (SELECT 'card', c.id, c.last_edited_time
         FROM cards c
         WHERE c.org_id = $1 AND NOT c.in_trash
             AND c.board_id = ANY (ARRAY(SELECT o.id FROM open o))
             AND coalesce($6, 'card') = 'card'
             AND (c.last_edited_time, c.id) < ((SELECT coalesce($7::timestamptz, 'infinity')), $8::uuid)
         ORDER BY c.last_edited_time DESC, c.id DESC
         LIMIT $9)
        UNION ALL
        (SELECT 'block', k.id, k.last_edited_time
         FROM blocks k
         JOIN cards c ON c.org_id = $1 AND c.id = k.card_id AND NOT c.in_trash
         WHERE k.org_id = $1 AND k.trashed_by IS NULL
             AND c.board_id = ANY (ARRAY(SELECT o.id FROM open o))
             AND coalesce($6, 'block') = 'block'
             AND (k.last_edited_time, k.id) < ((SELECT coalesce($7::timestamptz, 'infinity')), $8::uuid)
         ORDER BY k.last_edited_time DESC, k.id DESC
         LIMIT $9)
        UNION ALL
        (SELECT 'comment', m.id, m.last_edited_time
         FROM comments m
         JOIN cards c ON c.org_id = $1 AND c.id = m.card_id AND NOT c.in_trash
         WHERE m.org_id = $1 AND NOT m.in_trash
             AND c.board_id = ANY (ARRAY(SELECT o.id FROM open o))
             AND coalesce($6, 'comment') = 'comment'
             AND (m.last_edited_time, m.id) < ((SELECT coalesce($7::timestamptz, 'infinity')), $8::uuid)
         ORDER BY m.last_edited_time DESC, m.id DESC
         LIMIT $9)
        ORDER BY last_edited_time DESC, id DESC
        LIMIT $9
    )
    SELECT f.object, f.id, f.board_id, f.card_id,
        (extract(epoch FROM f.last_edited_time) * 1000000)::bigint AS sort_key, f.key, f.title,
        f.type, translate(left(f.says, 200), chr(1) || chr(2), '') AS headline,
        f.created_time, f.last_edited_time
    FROM page p
    CROSS JOIN LATERAL (
        SELECT * FROM found_view v
        WHERE v.org_id = $1 AND v.object = p.object AND v.id = p.id OFFSET 0
    ) f
    ORDER BY p.last_edited_time DESC, p.id DESC)"};

constexpr Sql list_oldest{"content.list_oldest", R"(
    WITH open AS MATERIALIZED (
        SELECT b.id
        FROM boards b
        LEFT JOIN board_grants g
            ON g.org_id = $1 AND g.principal_id = $2 AND g.board_id = b.id
        WHERE b.org_id = $1 AND NOT b.in_trash AND ($5::uuid IS NULL OR b.id = $5)
            AND board_role($2, $3, $4, b.visibility, b.created_by, g.role,
                $3 = 'agent' AND EXISTS (
                    SELECT FROM board_grants x WHERE x.org_id = $1 AND x.principal_id = $2))
                IS NOT NULL
    ), page AS (
        (SELECT 'board' AS object, b.id, b.last_edited_time
         FROM boards b
         WHERE b.org_id = $1 AND b.id = ANY (ARRAY(SELECT o.id FROM open o))
             AND coalesce($6, 'board') = 'board'
             AND (b.last_edited_time, b.id) > ((SELECT coalesce($7::timestamptz, '-infinity')), $8::uuid)
         ORDER BY b.last_edited_time, b.id
         LIMIT $9)
        UNION ALL
        (SELECT 'card', c.id, c.last_edited_time
         FROM cards c
         WHERE c.org_id = $1 AND NOT c.in_trash
             AND c.board_id = ANY (ARRAY(SELECT o.id FROM open o))
             AND coalesce($6, 'card') = 'card'
             AND (c.last_edited_time, c.id) > ((SELECT coalesce($7::timestamptz, '-infinity')), $8::uuid)
         ORDER BY c.last_edited_time, c.id
         LIMIT $9)
        UNION ALL
        (SELECT 'block', k.id, k.last_edited_time
         FROM blocks k
         JOIN cards c ON c.org_id = $1 AND c.id = k.card_id AND NOT c.in_trash
         WHERE k.org_id = $1 AND k.trashed_by IS NULL
             AND c.board_id = ANY (ARRAY(SELECT o.id FROM open o))
             AND coalesce($6, 'block') = 'block'
             AND (k.last_edited_time, k.id) > ((SELECT coalesce($7::timestamptz, '-infinity')), $8::uuid)
         ORDER BY k.last_edited_time, k.id
         LIMIT $9)
        UNION ALL
        (SELECT 'comment', m.id, m.last_edited_time
         FROM comments m
         JOIN cards c ON c.org_id = $1 AND c.id = m.card_id AND NOT c.in_trash
         WHERE m.org_id = $1 AND NOT m.in_trash
             AND c.board_id = ANY (ARRAY(SELECT o.id FROM open o))
             AND coalesce($6, 'comment') = 'comment'
             AND (m.last_edited_time, m.id) > ((SELECT coalesce($7::timestamptz, '-infinity')), $8::uuid)
         ORDER BY m.last_edited_time, m.id
         LIMIT $9)
        ORDER BY last_edited_time, id
        LIMIT $9
    )
    SELECT f.object, f.id, f.board_id, f.card_id,
        (extract(epoch FROM f.last_edited_time) * 1000000)::bigint AS sort_key, f.key, f.title,
        f.type, translate(left(f.says, 200), chr(1) || chr(2), '') AS headline,
        f.created_time, f.last_edited_time
    FROM page p
    CROSS JOIN LATERAL (
        SELECT * FROM found_view v
        WHERE v.org_id = $1 AND v.object = p.object AND v.id = p.id OFFSET 0
    ) f
    ORDER BY p.last_edited_time, p.id)"};

Timestamp time_of(const std::string& key) {
    Timestamp time;
    std::from_chars(key.data(), key.data() + key.size(), time.micros);
    return time;
}

}  // namespace

Later<Hit> list_by_time(
    Call& call,
    ByTime order,
    const std::optional<Uuid>& board,
    const std::optional<std::string_view>& thing,
    const Paging& paging
) {
    const auto after = call.after(paging);
    return Seat::of(call).later<Hit>(
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
