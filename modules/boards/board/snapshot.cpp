// A whole board in one answer: what people see when they open it.

#include "modules/boards/api/board.hpp"
#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/column.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/api/urls.hpp"
#include "modules/boards/board/board.hpp"
#include "modules/boards/column/columns.hpp"
#include "modules/boards/column/pages.hpp"
#include "modules/boards/operations.hpp"

namespace svc::boards {

namespace {

struct SnapshotColumn {
    Column column;
    std::vector<CompactCard> cards;
    std::optional<std::string> next_cursor;
};
SVC_RECORD(
    SnapshotColumn,
    (column, "", flatten),
    (cards, "The first of its cards, from top to bottom; `card_count` says how many there are."),
    (next_cursor,
     "Where cards follow: send it as `start_cursor` to get this column alone with the cards that "
     "follow; null when "
     "there are no more.")
);

struct BoardSnapshot {
    Object<"board_snapshot"> object;
    Board board;
    std::vector<SnapshotColumn> columns;
    std::int64_t event_sequence = 0;
};
SVC_RECORD(
    BoardSnapshot,
    (object),
    (board, "The board with its labels and properties."),
    (columns, "From left to right."),
    (event_sequence,
     "Ask for the events after this one and nothing is missed; what is in the snapshot already may "
     "come again, recognizable by its `version`.")
);

struct SnapshotQuery {
    Uuid board_id;
    Paging paging;
};
SVC_RECORD(SnapshotQuery, (board_id), (paging, "", flatten));

// Read before anything else, so that nothing falls between the snapshot and the events after it.
constexpr Sql see_sequence{"boards.event_sequence", R"(
    SELECT coalesce(
        (SELECT sequence FROM event_heads WHERE org_id = $1), 0) AS event_sequence)"};

struct Sequence {
    std::int64_t event_sequence = 0;
};
SVC_RECORD(Sequence, (event_sequence));

// $3: one column alone, after the card at $4 and $5.
constexpr Sql see_columns{"boards.snapshot_columns", R"(
    SELECT v.* FROM column_view v
    WHERE v.org_id = $1 AND v.board_id = $2 AND NOT v.in_trash
        AND ($3::uuid IS NULL OR v.id = $3)
    ORDER BY v.order_key, v.id)"};

constexpr std::string_view compact_cards = R"(
    SELECT p.found, p.omitted AS properties_omitted,
        CASE WHEN p.omitted THEN '{}' ELSE v.properties END AS properties,
        v.id, v.org_id, v.board_id, v.column_id, v.key, v.title, v.position, v.labels,
        v.assignees, v.parent_card_id, v.blocked_by, v.blocked, v.external_key, v.has_children, v.block_count, v.comment_count, v.queue,
        v.lease, v.is_archived, v.in_trash, v.completed_at, v.url, v.created_time, v.created_by,
        v.last_edited_time, v.last_edited_by, v.version)" SVC_CARD_COLUMNS("v.") R"(
    FROM chosen p
    CROSS JOIN LATERAL (
        SELECT * FROM card_view s WHERE s.org_id = $1 AND s.id = p.id OFFSET 0
    ) v
    ORDER BY p.total)";
constexpr Sql see_cards{"boards.snapshot_cards", SqlText<chosen_cards, compact_cards>::view};

struct ChosenCard {
    CompactCard shown;
    std::int64_t found = 0;
};
SVC_RECORD(ChosenCard, (shown, "", flatten), (found));

BoardSnapshot get(Call& call, const SnapshotQuery& in) {
    const Uuid& org = call.org();
    const ColumnPlace from = column_place_of(call, in.paging);
    Tx& tx = call.tx();
    auto sequence = tx.later<Sequence>(see_sequence, org);
    auto found = see_whole_board(tx, BoardCaller::of(call), in.board_id);
    auto columns = tx.later<Column>(see_columns, org, in.board_id, from.column);
    auto cards =
        later_chosen<ChosenCard>(tx, see_cards, org, in.board_id, from, in.paging, std::nullopt);
    auto board = found.one();
    if (!board) not_found("board");
    require(board->role, BoardRole::viewer, "board");
    board->url = url_of(call.kernel(), *board);

    BoardSnapshot snapshot;
    snapshot.board = *std::move(board);
    snapshot.event_sequence = sequence.one_or_retry().event_sequence;
    std::map<Uuid, std::size_t> at;
    for (Column& column : columns.all()) {
        at.emplace(column.id, snapshot.columns.size());
        snapshot.columns.push_back({std::move(column), {}, std::nullopt});
    }
    ColumnPages pages(from);
    for (auto& [compact, count] : cards.all()) {
        const Card& card = compact.card;
        const auto known = at.find(card.column_id);
        if (known == at.end()) continue;  // it came in between
        show(call.kernel(), compact.card);
        if (!pages.take(compact)) break;
        pages.shown(card.column_id, card.position.str(), card.id, count);
        snapshot.columns[known->second].cards.push_back(std::move(compact));
    }
    for (SnapshotColumn& each : snapshot.columns)
        each.next_cursor = pages.cursor(call, each.column.id, each.column.card_count);
    return snapshot;
}

}  // namespace

const Operation get_board_snapshot{
    .name = "get_board_snapshot",
    .route = "GET /v1/boards/{board_id}/snapshot",
    .summary = "Read a whole board at once: columns, counts, the first cards of each.",
    .description =
        "One call opens a board: its columns with their true numbers of cards, the first "
        "`page_size` cards of each, a cursor where a column goes on, and the number of the event "
        "from which to follow changes. With a column's `next_cursor` as `start_cursor` the answer "
        "holds that column alone. All cards together take at most 1 MiB: of a board of long cards "
        "each column shows fewer, and goes on by its cursor. Values of more than 4 KiB on one card "
        "are left out and `properties_omitted` says so; get_card has them.",
    .access = Access::board_viewer,
    .handler = get,
};

}  // namespace svc::boards
