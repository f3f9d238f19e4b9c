// Finding cards.

#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/statements.hpp"

#include <algorithm>
#include <array>

namespace svc::boards {

namespace {

enum class CardSort { created, position, updated, due, priority };
BOOST_DESCRIBE_ENUM(CardSort, created, position, updated, due, priority)

struct ListCardsQuery {
    std::optional<Uuid> board_id;
    std::optional<Uuid> column_id;
    std::optional<Uuid> assignee_id;
    std::optional<std::string> label;
    std::optional<Priority> priority;
    std::optional<Moment> due_before;
    std::optional<Timestamp> updated_since;
    bool archived = false;
    bool in_trash = false;
    std::optional<std::string> external_key;
    std::optional<std::string> text;
    std::optional<CardSort> sort;
    Paging paging;
};
SVC_RECORD(
    ListCardsQuery,
    (board_id, "Only cards of this board."),
    (column_id, "Only cards in this column."),
    (assignee_id, "Only cards assigned to this person or agent."),
    (label, "Only cards with this label, by id or by name.", length(1, 60)),
    (priority, "Only cards of this priority."),
    (due_before, "Only cards due before this day or instant."),
    (updated_since, "Only cards changed at this instant or later."),
    (archived, "The archived cards instead of the others.", defaulted),
    (in_trash,
     "The cards in the trash instead of the others, on boards where you may restore them: what was "
     "deleted last comes first. Not with `archived` or `sort`.",
     defaulted),
    (external_key, "Only cards with this external key.", length(1, 200)),
    (text, "Only cards with this in their title, whatever the case.", length(1, 200)),
    (sort,
     "`created`: newest first. `position`: as in a column from top to bottom. `updated`: latest "
     "first. `due`: earliest first, without a date last. `priority`: most urgent first. Left out, "
     "`position` within a column and `created` otherwise."),
    (paging, "", flatten)
);

struct CardListed {
    Card card;
    std::optional<std::string> sort_key;
};
SVC_RECORD(CardListed, (card, "", flatten), (sort_key));

// A page is found in three steps, put together by the compiler: which key cards are ordered by,
// which cards are listed, and in what order a page is cut. Their shapes are gathered last, for the
// page alone.

// The filters, and that the caller may see the card. $5 board, $6 column, $7 assignee, $8 label,
// $9 priority, $10 due before, $11 updated since, $12 archived, $13 external key, $14 text;
// $15 and $16 say where the last page ended. A label is what the board calls it now, whatever a
// card shows that has not followed yet.
constexpr std::string_view on_boards = R"(
        FROM cards c
        JOIN boards b ON b.org_id = $1 AND b.id = c.board_id AND NOT b.in_trash
        )" SVC_BOARD_GRANT("c.board_id") R"(
        WHERE c.org_id = $1)";
constexpr std::string_view out_of_trash = " AND NOT c.in_trash AND c.is_archived = $12";
// Whoever may restore them.
constexpr std::string_view in_trash = R"(
            AND c.in_trash AND $12::boolean IS NOT NULL
            AND )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"(
                IN ('editor', 'admin'))";
constexpr std::string_view filters = R"(
            AND )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"(
                IS NOT NULL
            AND ($5::uuid IS NULL OR c.board_id = $5)
            AND ($6::uuid IS NULL OR c.column_id = $6)
            AND ($7::uuid IS NULL OR EXISTS (
                SELECT FROM card_assignees a
                WHERE a.org_id = $1 AND a.principal_id = $7 AND a.card_id = c.id))
            AND ($8::text IS NULL OR EXISTS (
                SELECT FROM jsonb_array_elements(c.labels) l
                WHERE l ->> 'id' = ANY (ARRAY(
                    SELECT d.id::text FROM labels d
                    WHERE d.org_id = $1 AND ($5::uuid IS NULL OR d.board_id = $5)
                        AND (d.id::text = $8 OR d.name_key = lower($8 COLLATE "und-x-icu"))))))
            AND ($9::text IS NULL OR c.priority = $9)
            AND ($10::text IS NULL OR c.due < $10 AND c.due || 'T00:00:00.000Z' <> $10)
            AND ($11::timestamptz IS NULL OR c.last_edited_time >= $11)
            AND ($13::text IS NULL OR c.external_key = $13)
            AND ($14::text IS NULL OR position(
                lower($14 COLLATE "und-x-icu") IN lower(c.title COLLATE "und-x-icu")) > 0))";

constexpr std::string_view listed = SqlText<on_boards, out_of_trash, filters>::view;

// Of what comes behind $18 bytes, the second card is shaped and no other.
constexpr std::string_view keyed_by = R"(
    SELECT v.*, page.key::text AS sort_key
    FROM (
        SELECT m.id, m.key, row_number() OVER up_to_it AS place,
            sum(m.shown_bytes) OVER up_to_it - m.shown_bytes AS bytes_before
        FROM (SELECT c.shown_bytes, c.id, )";
constexpr std::string_view in_order = R"(
        LIMIT $17
        ) m
        WINDOW up_to_it AS (ORDER BY )";
constexpr std::string_view shapes = R"( ROWS UNBOUNDED PRECEDING)
    ) page
    CROSS JOIN LATERAL (
        SELECT * FROM card_view s WHERE s.org_id = $1 AND s.id = page.id OFFSET 0
    ) v
    WHERE page.bytes_before <= $18::bigint OR page.place <= 2
    ORDER BY page.place)";
constexpr std::string_view rising = "m.key, m.id";
constexpr std::string_view falling = "m.key DESC, m.id DESC";

template <const std::string_view& Key, const std::string_view& Cut, const std::string_view& Order>
using PageSql = SqlText<keyed_by, Key, listed, Cut, in_order, Order, shapes>;

// Orders that an index gives.

constexpr std::string_view by_position = "c.position AS key";
constexpr std::string_view after_position = R"(
            AND NOT c.is_archived AND c.column_id = $6
            AND (c.position, c.id) > ($15, $16::uuid)
        ORDER BY c.position, c.id)";
constexpr Sql in_column{
    "boards.list_cards_in_column", PageSql<by_position, after_position, rising>::view};

constexpr std::string_view by_number = "c.number AS key";
constexpr std::string_view before_number = R"(
            AND c.board_id = $5
            AND c.number < $15::bigint AND $16::uuid IS NOT NULL
        ORDER BY c.number DESC)";
constexpr Sql on_board{
    "boards.list_cards_on_board", PageSql<by_number, before_number, falling>::view};

constexpr std::string_view by_id = "c.id AS key";
constexpr std::string_view before_id = R"(
            AND c.id < $16::uuid AND $15::text IS NOT NULL
        ORDER BY c.id DESC)";
constexpr Sql in_workspace{"boards.list_cards", PageSql<by_id, before_id, falling>::view};

constexpr std::string_view by_edit = "c.last_edited_time AS key";
constexpr std::string_view before_edit = R"(
            AND (c.last_edited_time, c.id) < ($15::timestamptz, $16::uuid)
        ORDER BY c.last_edited_time DESC, c.id DESC)";
constexpr Sql latest{"boards.list_cards_by_edit", PageSql<by_edit, before_edit, falling>::view};

constexpr Sql thrown_away{
    "boards.list_cards_in_trash",
    SqlText<
        keyed_by,
        by_edit,
        on_boards,
        in_trash,
        filters,
        before_edit,
        in_order,
        falling,
        shapes>::view};

// Somebody's cards are few: found by the index of assignees, then put in order.
constexpr std::string_view before_id_of_assigned = R"(
            AND c.id IN (
                SELECT m.card_id FROM card_assignees m
                WHERE m.org_id = $1 AND m.principal_id = $7)
            AND c.id < $16::uuid AND $15::text IS NOT NULL
        ORDER BY c.id DESC)";
constexpr Sql assigned{
    "boards.list_cards_assigned", PageSql<by_id, before_id_of_assigned, falling>::view};

// By urgency or date the cards of a board lie in the index, those of a column among them.
constexpr std::string_view by_priority_key = "c.priority_key AS key";
constexpr std::string_view by_due_key = "c.due_key AS key";
constexpr std::string_view after_priority_on_board = R"(
            AND c.board_id = $5 AND (c.priority_key, c.id) > ($15, $16::uuid)
        ORDER BY c.priority_key, c.id)";
constexpr std::string_view after_due_on_board = R"(
            AND c.board_id = $5 AND (c.due_key, c.id) > ($15, $16::uuid)
        ORDER BY c.due_key, c.id)";
constexpr std::string_view after_priority_in_column = R"(
            AND c.board_id = (SELECT k.board_id FROM columns k WHERE k.org_id = $1 AND k.id = $6)
            AND c.column_id = $6 AND (c.priority_key, c.id) > ($15, $16::uuid)
        ORDER BY c.priority_key, c.id)";
constexpr std::string_view after_due_in_column = R"(
            AND c.board_id = (SELECT k.board_id FROM columns k WHERE k.org_id = $1 AND k.id = $6)
            AND c.column_id = $6 AND (c.due_key, c.id) > ($15, $16::uuid)
        ORDER BY c.due_key, c.id)";
constexpr Sql by_priority_on_board{
    "boards.list_cards_by_priority_on_board",
    PageSql<by_priority_key, after_priority_on_board, rising>::view};
constexpr Sql by_due_on_board{
    "boards.list_cards_by_due_on_board", PageSql<by_due_key, after_due_on_board, rising>::view};
constexpr Sql by_priority_in_column{
    "boards.list_cards_by_priority_in_column",
    PageSql<by_priority_key, after_priority_in_column, rising>::view};
constexpr Sql by_due_in_column{
    "boards.list_cards_by_due_in_column", PageSql<by_due_key, after_due_in_column, rising>::view};

// Orders that are made once all cards are found, of a board or the workspace: $19 names them.
constexpr std::string_view by_made_up =
    R"(card_sort_key($19, c.due, c.priority, c.position) COLLATE "C" AS key)";
constexpr std::string_view after_made_up = R"(
            AND (card_sort_key($19, c.due, c.priority, c.position) COLLATE "C", c.id)
                > ($15, $16::uuid)
        ORDER BY key, c.id)";
constexpr std::string_view of_board = " AND c.board_id = $5 ";
constexpr Sql sorted{
    "boards.list_cards_sorted",
    SqlText<keyed_by, by_made_up, listed, after_made_up, in_order, rising, shapes>::view};
constexpr Sql sorted_on_board{
    "boards.list_cards_sorted_on_board",
    SqlText<keyed_by, by_made_up, listed, of_board, after_made_up, in_order, rising, shapes>::view};

/// A statement, and the keys in front of its first page.
struct Plan {
    const Sql& sql;
    std::string_view key, id;
};

constexpr std::string_view lowest_id = "00000000-0000-0000-0000-000000000000";
constexpr std::string_view highest_id = "ffffffff-ffff-ffff-ffff-ffffffffffff";

constexpr Plan plan_in_column{in_column, "", lowest_id};
constexpr Plan plan_on_board{on_board, "9223372036854775807", highest_id};
constexpr Plan plan_in_workspace{in_workspace, "", highest_id};
constexpr Plan plan_assigned{assigned, "", highest_id};
constexpr Plan plan_latest{latest, "infinity", highest_id};
constexpr Plan plan_thrown_away{thrown_away, "infinity", highest_id};
constexpr Plan plan_sorted{sorted, "", lowest_id};
constexpr Plan plan_sorted_on_board{sorted_on_board, "", lowest_id};
constexpr Plan plan_by_priority_on_board{by_priority_on_board, "", lowest_id};
constexpr Plan plan_by_due_on_board{by_due_on_board, "", lowest_id};
constexpr Plan plan_by_priority_in_column{by_priority_in_column, "", lowest_id};
constexpr Plan plan_by_due_in_column{by_due_in_column, "", lowest_id};

const Plan& plan_for(const ListCardsQuery& in, CardSort sort) {
    const bool in_one_column = in.column_id && !in.archived;
    if (in.in_trash) return plan_thrown_away;
    if (sort == CardSort::updated) return plan_latest;
    if (sort == CardSort::position && in_one_column) return plan_in_column;
    if (sort == CardSort::created) {
        if (in.assignee_id) return plan_assigned;
        return in.board_id ? plan_on_board : plan_in_workspace;
    }
    if (sort == CardSort::priority && in.column_id) return plan_by_priority_in_column;
    if (sort == CardSort::priority && in.board_id) return plan_by_priority_on_board;
    if (sort == CardSort::due && in.column_id) return plan_by_due_in_column;
    if (sort == CardSort::due && in.board_id) return plan_by_due_on_board;
    return in.board_id ? plan_sorted_on_board : plan_sorted;
}

bool names_its_order(const Plan& plan) {
    return &plan == &plan_sorted || &plan == &plan_sorted_on_board;
}

std::optional<std::string> canonical_label(const std::optional<std::string>& label) {
    const auto id = label ? Uuid::parse(*label) : std::nullopt;
    return id ? std::optional(id->str()) : label;
}

Page<Card> list(Call& call, const ListCardsQuery& in) {
    if (in.in_trash && (in.archived || in.sort))
        throw wrong_field(
            call, "in_trash", "it goes with neither archived nor sort", FieldPlace::query
        );
    const CardSort sort = in.sort.value_or(in.column_id ? CardSort::position : CardSort::created);
    const Plan& plan = plan_for(in, sort);
    const auto after = call.after(in.paging);
    const BoardCaller caller = BoardCaller::of(call);

    Params params;
    const auto add = [&](const auto&... each) { (params.add(each), ...); };
    add(caller.org, caller.principal, caller.kind, caller.role);
    add(in.board_id, in.column_id, in.assignee_id, canonical_label(in.label), in.priority);
    add(in.due_before, in.updated_since, in.archived, in.external_key, in.text);
    if (after) add(after->at(0), after->at(1));
    else add(plan.key, plan.id);
    add(in.paging.page_size + 1, most_bytes_shaped);
    if (names_its_order(plan)) add(sort);
    DeferredRows<CardListed> found(call.tx().send(plan.sql, std::move(params)));

    auto page = call.page(found.all(), in.paging, [](const CardListed& last) {
        return std::vector{last.sort_key.value_or(""), last.card.id.str()};
    });
    Page<Card> cards{{}, page.next_cursor};
    for (CardListed& each : page.results) {
        show(call.kernel(), each.card);
        cards.results.push_back(std::move(each.card));
    }
    return cards;
}

}  // namespace

const Operation list_cards{
    .name = "list_cards",
    .route = "GET /v1/cards",
    .summary = "List cards, filtered and sorted.",
    .description = "Lists the cards you can see, narrowed by any of the filters together.",
    .access = Access::member,
    .handler = list,
};

}  // namespace svc::boards
