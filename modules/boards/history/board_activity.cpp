// What happened on a board.

#include "modules/boards/history/actor.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/statements.hpp"

namespace svc::boards {

namespace {

struct BoardActivity {
    Object<"board_activity"> object;
    Uuid id;
    std::int64_t board_sequence = 0;
    std::string kind;
    std::string subject_type;
    Uuid subject_id;
    std::optional<Uuid> card_id;
    PrincipalRef actor;
    Surface via{};
    JsonText changes, previous;
    Timestamp occurred_at;
};
SVC_RECORD(
    BoardActivity,
    (object),
    (id, "The event's id."),
    (board_sequence, "Rises by one on the board."),
    (kind, "The event's kind, such as `card.moved`."),
    (subject_type, "What sort of thing it was about: `card`, `column`, `label`…"),
    (subject_id, "Which one."),
    (card_id, "The card that it belongs to, where it is not about the card itself."),
    (actor, "Who did it."),
    (via, "The surface it came in by."),
    (changes, "The fields that changed, as they are since then."),
    (previous, "The same fields as they were before."),
    (occurred_at, "When, by the database's clock.")
);

// $8 are the kinds that are for admins alone.
constexpr Sql some_activity{"boards.list_board_activity", R"(
    WITH caller AS (
        SELECT )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role
        FROM boards b
        )" SVC_BOARD_GRANT("b.id") R"(
        WHERE b.org_id = $1 AND b.id = $5
    )
    SELECT x.event_id AS id, x.board_sequence, x.kind, x.object AS subject_type,
        x.object_id AS subject_id, x.card_id,
        )" SVC_ACTOR("x") R"( AS actor, x.via, x.changes, x.previous, x.occurred_at
    FROM (
        SELECT v.*
        FROM events v
        WHERE v.org_id = $1 AND v.board_id = $5
            AND ($6::bigint IS NULL OR v.board_sequence < $6)
            AND ((SELECT role FROM caller) = 'admin'
                OR v.kind <> ALL ($8))
        ORDER BY v.board_sequence DESC
        LIMIT $7
    ) x
    ORDER BY x.board_sequence DESC)"};

std::vector<std::string> kinds_for_admins(const Kernel& kernel) {
    std::vector<std::string> kinds;
    for (const EventKind* each : kernel.event_kinds())
        if (each->audience() == Audience::admins) kinds.emplace_back(each->name);
    return kinds;
}

struct ActivityQuery {
    Uuid board_id;
    Paging paging;
};
SVC_RECORD(ActivityQuery, (board_id), (paging, "", flatten));

Page<BoardActivity> list(Call& call, const ActivityQuery& in) {
    const auto after = call.after(in.paging);
    const BoardCaller caller = BoardCaller::of(call);
    auto seen = caller.later<BoardAccess>(call.tx(), see_board, in.board_id);
    auto found = caller.later<BoardActivity>(
        call.tx(),
        some_activity,
        in.board_id,
        after ? std::optional(after->front()) : std::nullopt,
        in.paging.page_size + 1,
        kinds_for_admins(call.kernel())
    );
    const auto board = seen.one();
    if (!board) not_found("board");
    require(board->role, BoardRole::viewer, "board");
    return call.page(found.all(), in.paging, [](const BoardActivity& last) {
        return std::vector{std::to_string(last.board_sequence)};
    });
}

}  // namespace

const Operation list_board_activity{
    .name = "list_board_activity",
    .route = "GET /v1/boards/{board_id}/activity",
    .summary = "List what happened on a board, newest first, with what it was before.",
    .description =
        "The events of the board and of everything on it, for as long as events are kept, some "
        "milliseconds after they happened. Who was let in, by grants and share links, is for the "
        "board's admins.",
    .access = Access::board_viewer,
    .handler = list,
};

void add_overviews(Kernel& kernel) {
    for (const Operation* each : {&get_board_snapshot, &get_board_metrics, &list_board_activity})
        kernel.add(*each);
}

}  // namespace svc::boards
