#pragma once

#include "modules/content/found.hpp"

/// The statement that finds boards, cards, blocks and comments by their words. Its cost is bounded,
/// however many have the words (docs/content.md, "Search").
///
/// Of each sort of thing the index of words gives up to 20,000 that have them, and of those that
/// the caller may see up to 1,000 are weighed, the latest first. Where there were more, up to 1,000
/// of the latest 5,000 things are weighed besides, and of a board that was named up to 1,000 of its
/// latest 5,000. Highlights are made of 2,000 characters of what one page shows.
namespace svc::content {

namespace words_found {

// Behind what open_boards takes: $6 sort of thing, $7 query, $8 order: relevance, latest or oldest;
// $9 and $10 where the last page ended; $11 how many. The words stand in a condition of their own,
// which an index can answer. `edge`: between which times a list by time goes on.
inline constexpr std::string_view asked = R"(, asked AS (
        SELECT websearch_to_tsquery('simple', search_escaped($7)) AS words
    ), wanted AS MATERIALIZED (
        SELECT CASE WHEN a.words::text LIKE '%''' THEN (a.words::text || ':*')::tsquery
            ELSE a.words END AS words
        FROM asked a
    ), edge AS MATERIALIZED (
        SELECT
            CASE WHEN $8 = 'latest' AND $9::bigint < 9000000000000000
                THEN 'epoch'::timestamptz + $9::bigint * interval '1 microsecond'
                ELSE 'infinity' END AS latest,
            CASE WHEN $8 = 'oldest' AND $9::bigint < 9000000000000000
                THEN 'epoch'::timestamptz - $9::bigint * interval '1 microsecond'
                ELSE '-infinity' END AS oldest,
            CASE WHEN $8 <> 'relevance' AND $9::bigint < 9000000000000000 THEN $10::uuid
                ELSE 'ffffffff-ffff-ffff-ffff-ffffffffffff' END AS id)";

inline constexpr std::string_view on_boards = R"(
    ), cards_met AS MATERIALIZED (
        SELECT t.id, t.board_id, t.last_edited_time AS edited
        FROM cards t
        WHERE t.org_id = $1 AND NOT t.in_trash AND coalesce($6, 'card') = 'card'
            AND t.words @@ (SELECT w.words FROM wanted w)
        LIMIT 20000
    ), cards_found AS MATERIALIZED (
        SELECT m.id, m.edited
        FROM cards_met m
        WHERE m.board_id = ANY (ARRAY(SELECT o.id FROM open o))
            AND m.edited BETWEEN (SELECT e.oldest FROM edge e) AND (SELECT e.latest FROM edge e)
            AND (m.id < (SELECT e.id FROM edge e)
                OR m.edited > (SELECT e.oldest FROM edge e)
                    AND m.edited < (SELECT e.latest FROM edge e))
        ORDER BY CASE WHEN $8 = 'oldest' THEN m.edited END, m.edited DESC, m.id DESC
        LIMIT 1000
    ), cards_left AS MATERIALIZED (
        SELECT (SELECT count(*) FROM cards_met) >= 20000
            OR (SELECT count(*) FROM cards_found) >= 1000 AS some
    ), cards_newest AS MATERIALIZED (
        SELECT r.id, r.edited
        FROM (
            SELECT t.id, t.board_id, t.words, t.last_edited_time AS edited
            FROM cards t
            WHERE t.org_id = $1 AND NOT t.in_trash AND coalesce($6, 'card') = 'card'
                AND (SELECT l.some FROM cards_left l)
                AND (t.last_edited_time, t.id)
                    < ((SELECT e.latest FROM edge e), (SELECT e.id FROM edge e))
            ORDER BY t.last_edited_time DESC, t.id DESC
            LIMIT 5000
        ) r
        WHERE r.board_id = ANY (ARRAY(SELECT o.id FROM open o))
            AND r.words @@ (SELECT w.words FROM wanted w)
        LIMIT 1000
    ), cards_of_board AS MATERIALIZED (
        SELECT r.id, r.edited
        FROM (
            SELECT t.id, t.words, t.last_edited_time AS edited
            FROM cards t
            WHERE t.org_id = $1 AND t.board_id = $5 AND NOT t.in_trash
                AND coalesce($6, 'card') = 'card' AND (SELECT l.some FROM cards_left l)
            ORDER BY t.number DESC
            LIMIT 5000
        ) r
        WHERE EXISTS (SELECT FROM open o) AND r.words @@ (SELECT w.words FROM wanted w)
        LIMIT 1000)";

// The same of what stands on cards: the table's name goes in between, and which of its rows count.
inline constexpr std::string_view next = "\n    ), ";
inline constexpr std::string_view met = R"(_met AS MATERIALIZED (
        SELECT t.id, t.card_id, t.last_edited_time AS edited
        FROM )";
inline constexpr std::string_view those = R"( t
        WHERE t.org_id = $1 AND )";
inline constexpr std::string_view by_words = R"(
            AND t.words @@ (SELECT w.words FROM wanted w)
        LIMIT 20000)";
inline constexpr std::string_view found = R"(_found AS MATERIALIZED (
        SELECT m.id, m.edited
        FROM )";
inline constexpr std::string_view of_met = R"(_met m
        JOIN cards c ON c.org_id = $1 AND c.id = m.card_id AND NOT c.in_trash
        WHERE c.board_id = ANY (ARRAY(SELECT o.id FROM open o))
            AND m.edited BETWEEN (SELECT e.oldest FROM edge e) AND (SELECT e.latest FROM edge e)
            AND (m.id < (SELECT e.id FROM edge e)
                OR m.edited > (SELECT e.oldest FROM edge e)
                    AND m.edited < (SELECT e.latest FROM edge e))
        ORDER BY CASE WHEN $8 = 'oldest' THEN m.edited END, m.edited DESC, m.id DESC
        LIMIT 1000)";
inline constexpr std::string_view left = R"(_left AS MATERIALIZED (
        SELECT (SELECT count(*) FROM )";
inline constexpr std::string_view or_found = R"(_met) >= 20000
            OR (SELECT count(*) FROM )";
inline constexpr std::string_view many = "_found) >= 1000 AS some";
inline constexpr std::string_view newest = R"(_newest AS MATERIALIZED (
        SELECT r.id, r.edited
        FROM (
            SELECT t.id, t.card_id, t.words, t.last_edited_time AS edited
            FROM )";
inline constexpr std::string_view if_left = R"(
                AND (SELECT l.some FROM )";
inline constexpr std::string_view by_time = R"(_left l)
                AND (t.last_edited_time, t.id)
                    < ((SELECT e.latest FROM edge e), (SELECT e.id FROM edge e))
            ORDER BY t.last_edited_time DESC, t.id DESC
            LIMIT 5000
        ) r
        JOIN cards c ON c.org_id = $1 AND c.id = r.card_id AND NOT c.in_trash
        WHERE c.board_id = ANY (ARRAY(SELECT o.id FROM open o))
            AND r.words @@ (SELECT w.words FROM wanted w)
        LIMIT 1000)";
inline constexpr std::string_view of_board = R"(_of_board AS MATERIALIZED (
        SELECT r.id, r.edited
        FROM (
            SELECT t.id, t.words, t.last_edited_time AS edited
            FROM (
                SELECT k.id FROM cards k
                WHERE k.org_id = $1 AND k.board_id = $5 AND NOT k.in_trash
                    AND (SELECT l.some FROM )";
inline constexpr std::string_view its_cards = R"(_left l)
                ORDER BY k.number DESC
                LIMIT 5000
            ) k
            JOIN )";
inline constexpr std::string_view on_card = R"( t ON t.org_id = $1 AND t.card_id = k.id
            WHERE )";
inline constexpr std::string_view so_many = R"(
            LIMIT 5000
        ) r
        WHERE EXISTS (SELECT FROM open o) AND r.words @@ (SELECT w.words FROM wanted w)
        LIMIT 1000)";

// clang-format off
template <const std::string_view& Things, const std::string_view& Live>
using OnCards = SqlText<
    next, Things, met, Things, those, Live, by_words,
    next, Things, found, Things, of_met,
    next, Things, left, Things, or_found, Things, many,
    next, Things, newest, Things, those, Live, if_left, Things, by_time,
    next, Things, of_board, Things, its_cards, Things, on_card, Live, so_many>;
// clang-format on

inline constexpr std::string_view blocks = "blocks", comments = "comments";
inline constexpr std::string_view live_blocks =
    "t.trashed_by IS NULL AND coalesce($6, 'block') = 'block'";
inline constexpr std::string_view live_comments =
    "NOT t.in_trash AND coalesce($6, 'comment') = 'comment'";
inline constexpr std::string_view in_blocks = OnCards<blocks, live_blocks>::view;
inline constexpr std::string_view in_comments = OnCards<comments, live_comments>::view;

// What was found either way, once, with the words that it is weighed by.
inline constexpr std::string_view candidates = R"(
    ), candidates AS MATERIALIZED (
        SELECT 'board' AS object, b.id, b.last_edited_time AS edited, b.words
        FROM boards b
        WHERE b.org_id = $1 AND coalesce($6, 'board') = 'board'
            AND b.id = ANY (ARRAY(SELECT o.id FROM open o))
            AND b.words @@ (SELECT w.words FROM wanted w))";
inline constexpr std::string_view and_of_sort = R"(
        UNION ALL
        SELECT ')";
inline constexpr std::string_view weighed_by = R"(', x.id, x.edited,
            (SELECT t.words FROM )";
inline constexpr std::string_view which = R"( t WHERE t.org_id = $1 AND t.id = x.id)
        FROM (
            SELECT * FROM )";
inline constexpr std::string_view or_newest = R"(_found UNION SELECT * FROM )";
inline constexpr std::string_view or_of_board = R"(_newest
            UNION SELECT * FROM )";
inline constexpr std::string_view once = R"(_of_board
        ) x)";

// clang-format off
template <const std::string_view& Sort, const std::string_view& Things>
using Candidates = SqlText<
    and_of_sort, Sort, weighed_by, Things, which, Things, or_newest, Things, or_of_board, Things,
    once>;
// clang-format on

inline constexpr std::string_view card = "card", block = "block", comment = "comment";
inline constexpr std::string_view cards = "cards";
inline constexpr std::string_view all_candidates = SqlText<
    candidates,
    Candidates<card, cards>::view,
    Candidates<block, blocks>::view,
    Candidates<comment, comments>::view>::view;

inline constexpr std::string_view weighed = R"(
    ), keyed AS (
        SELECT k.object, k.id,
            CASE $8
                WHEN 'relevance' THEN (ts_rank_cd(k.words, w.words, 1) * 1000000)::bigint
                WHEN 'latest' THEN (extract(epoch FROM k.edited) * 1000000)::bigint
                ELSE - (extract(epoch FROM k.edited) * 1000000)::bigint
            END AS sort_key
        FROM candidates k
        CROSS JOIN wanted w
    ), page AS MATERIALIZED (
        SELECT k.* FROM keyed k
        WHERE (k.sort_key, k.id) < ($9::bigint, $10::uuid)
        ORDER BY k.sort_key DESC, k.id DESC
        LIMIT $11
    ), sign AS MATERIALIZED (
        SELECT (tsvector_to_array(to_tsvector('simple', search_escaped($7))))[1] AS word
    )
    SELECT f.object, f.id, f.board_id, f.card_id, p.sort_key, f.key, f.title, f.type,
        search_unescaped(ts_headline(
            'simple',
            search_escaped(translate(
                substr(f.says, greatest(1, coalesce(n.place, 0) - 500), 2000),
                chr(1) || chr(2), '')),
            w.words,
            'StartSel=' || chr(1) || ', StopSel=' || chr(2)
                || ', MaxFragments=2, MaxWords=30, MinWords=10, FragmentDelimiter=" … "'))
            AS headline,
        f.created_time, f.last_edited_time
    FROM page p
    CROSS JOIN LATERAL (
        SELECT * FROM found_view v
        WHERE v.org_id = $1 AND v.object = p.object AND v.id = p.id OFFSET 0
    ) f
    CROSS JOIN LATERAL (
        SELECT position((SELECT s.word FROM sign s) IN lower(left(f.says, 50000))) AS place
    ) n
    CROSS JOIN wanted w
    ORDER BY p.sort_key DESC, p.id DESC)";

}  // namespace words_found

inline constexpr Sql find_words{
    "content.search",
    SqlText<
        open_boards,
        words_found::asked,
        words_found::on_boards,
        words_found::in_blocks,
        words_found::in_comments,
        words_found::all_candidates,
        words_found::weighed>::view};

}  // namespace svc::content
