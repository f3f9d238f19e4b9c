// A whole board in one answer: what people see when they open it.

#include "modules/boards/board.hpp"
#include "modules/boards/columns.hpp"
#include "modules/boards/operations.hpp"

namespace svc::boards {

namespace {

struct SnapshotColumn {
    Column column;
    std::vector<Card> cards;
    std::optional<std::string> next_cursor;
};
SVC_RECORD(
    SnapshotColumn,
    (column, "", spread),
    (cards, "The first of its cards, from top to bottom; `card_count` says how many there are."),
    (next_cursor,
     "Send it as `start_cursor` to get this column alone with the cards that follow; null when "
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
    (object, ""),
    (board, "The board with its labels and properties."),
    (columns, "From left to right."),
    (event_sequence,
     "Ask for the events after this one and nothing is missed; what is in the snapshot already may "
     "come again, told by its `version`.")
);

struct SnapshotQuery {
    Uuid board_id;
    Paging paging;
};
SVC_RECORD(SnapshotQuery, (board_id, ""), (paging, "", spread));

// Read before anything else, so that nothing falls between the snapshot and the events after it.
constexpr Sql see_sequence{"boards.event_sequence", R"(
    SELECT coalesce(
        (SELECT sequence FROM event_heads WHERE org_id = $1), 0) AS event_sequence)"};

struct Sequence {
    std::int64_t event_sequence = 0;
};
SVC_RECORD(Sequence, (event_sequence, ""));

// $3: one column alone, after the card at $4 and $5.
constexpr Sql see_columns{"boards.snapshot_columns", R"(
    SELECT v.* FROM column_view v
    WHERE v.org_id = $1 AND v.board_id = $2 AND NOT v.in_trash
        AND ($3::uuid IS NULL OR v.id = $3)
    ORDER BY v.order_key, v.id)"};

// The cards are chosen column by column, from the index of their order, before their shapes are
// gathered.
constexpr Sql see_cards{"boards.snapshot_cards", R"(
    SELECT v.*
    FROM columns k
    CROSS JOIN LATERAL (
        SELECT c.id, c.position FROM cards c
        WHERE c.org_id = $1 AND c.column_id = k.id AND NOT c.is_archived AND NOT c.in_trash
            AND (c.position, c.id) > ($4, $5::uuid)
        ORDER BY c.position, c.id
        LIMIT $6
    ) page
    CROSS JOIN LATERAL (
        SELECT * FROM card_view s WHERE s.org_id = $1 AND s.id = page.id OFFSET 0
    ) v
    WHERE k.org_id = $1 AND k.board_id = $2 AND NOT k.in_trash
        AND ($3::uuid IS NULL OR k.id = $3)
    ORDER BY k.position, k.id, page.position, page.id)"};

/// Where a column's cards go on.
struct Place {
    std::optional<Uuid> column;
    std::string key;
    Uuid card;
};

Place place_of(const Call& call, const Paging& paging) {
    const auto after = call.after(paging);
    if (!after) return {};
    return {Uuid::parse(after->at(0)), after->at(1), Uuid::parse(after->at(2)).value_or(Uuid{})};
}

BoardSnapshot get(Call& call, const SnapshotQuery& in) {
    const Uuid& org = call.org();
    const auto most = static_cast<std::size_t>(in.paging.page_size);
    const Place from = place_of(call, in.paging);
    Tx& tx = call.tx();
    auto sequence = tx.later<Sequence>(see_sequence, org);
    auto found = see_whole_board(tx, Seat::of(call), in.board_id);
    auto columns = tx.later<Column>(see_columns, org, in.board_id, from.column);
    auto cards = tx.later<Card>(
        see_cards, org, in.board_id, from.column, from.key, from.card, in.paging.page_size + 1
    );
    auto board = found.one();
    if (!board) not_found("board");
    require(board->role, BoardRole::viewer, "board");
    board->url = url_of(call.kernel(), *board);

    BoardSnapshot snapshot;
    snapshot.board = *std::move(board);
    snapshot.event_sequence = sequence.must().event_sequence;
    std::map<Uuid, std::size_t> at;
    for (Column& column : columns.all()) {
        at.emplace(column.id, snapshot.columns.size());
        snapshot.columns.push_back({std::move(column), {}, std::nullopt});
    }
    for (Card& card : cards.all()) {
        const auto known = at.find(card.column_id);
        if (known == at.end()) continue;  // it came in between
        SnapshotColumn& column = snapshot.columns[known->second];
        if (column.cards.size() < most) {
            show(call.kernel(), card);
            column.cards.push_back(std::move(card));
        } else if (!column.next_cursor) {
            const Card& last = column.cards.back();
            column.next_cursor =
                call.cursor({column.column.id.str(), last.position.str(), last.id.str()});
        }
    }
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
        "holds that column alone.",
    .access = Access::board_viewer,
    .handler = get,
};

}  // namespace svc::boards
