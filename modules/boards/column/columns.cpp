// Columns: adding them to a board, reading them.

#include "modules/boards/column/columns.hpp"
#include "modules/boards/api/events.hpp"

#include "modules/boards/api/board.hpp"
#include "modules/boards/api/column.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/statements.hpp"
#include "svc/spacing.hpp"

namespace svc::boards {

namespace {

constexpr Sql insert_column{"boards.insert_column", R"(
    INSERT INTO columns (
        org_id, id, board_id, name, color, kind, position, wip_limit, wip_policy,
        queue_enabled, lease_ttl_seconds, max_attempts, backoff_seconds, backoff_max_seconds,
        queue_order, on_complete_column_id, on_exhausted_column_id, created_by, last_edited_by,
        queue_paused, max_in_flight)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $18,
        $19, $20))"};

}  // namespace

Column column_of(const Board& board, const std::string& name, ColumnKind kind) {
    Column column;
    column.id = new_uuid();
    column.org_id = board.org_id;
    column.board_id = board.id;
    column.name = name;
    column.kind = kind;
    column.queue.enabled = kind == ColumnKind::queue;
    column.created_time = column.last_edited_time = board.created_time;
    column.created_by = column.last_edited_by = board.created_by;
    return column;
}

void insert(Call& call, const Column& column, const OrderKey& place) {
    call.tx().queue(
        insert_column,
        column.org_id,
        column.id,
        column.board_id,
        column.name,
        column.color,
        column.kind,
        place.str(),
        column.wip_limit,
        column.wip_policy,
        column.queue.enabled,
        column.queue.lease_ttl_seconds,
        column.queue.max_attempts,
        column.queue.backoff_seconds,
        column.queue.backoff_max_seconds,
        column.queue.order,
        column.queue.on_complete_column_id,
        column.queue.on_exhausted_column_id,
        call.caller().id,
        column.queue.paused,
        column.queue.max_in_flight
    );
}

ColumnRules rules_of(const Column& column) {
    return {
        .column_id = column.id,
        .kind = column.kind,
        .wip_limit = column.wip_limit,
        .wip_policy = column.wip_policy,
        .queue_enabled = column.queue.enabled,
        .queue_order = column.queue.order};
}

void ColumnQueueChange::apply_to(ColumnQueue& queue) const {
    enabled.apply_to(queue.enabled);
    lease_ttl_seconds.apply_to(queue.lease_ttl_seconds);
    max_attempts.apply_to(queue.max_attempts);
    backoff_seconds.apply_to(queue.backoff_seconds);
    backoff_max_seconds.apply_to(queue.backoff_max_seconds);
    paused.apply_to(queue.paused);
    max_in_flight.apply_to(queue.max_in_flight);
    order.apply_to(queue.order);
    on_complete_column_id.apply_to(queue.on_complete_column_id);
    on_exhausted_column_id.apply_to(queue.on_exhausted_column_id);
}

std::vector<Uuid> targets_of(const ColumnQueue& queue) {
    std::vector<Uuid> targets;
    for (const auto& each : {queue.on_complete_column_id, queue.on_exhausted_column_id})
        if (each && (targets.empty() || targets.front() != *each)) targets.push_back(*each);
    return targets;
}

// --------------------------------------------------------------------------------------- gaps

namespace {

// $3: the column to stand after, $4: before; with neither, behind the last. `anchored` when the
// column named is one of the board's; `targets` counts those of $5 that are. $6 is left out.
constexpr Sql see_gap{"boards.column_gap", R"(
    WITH board AS (
        SELECT id, position FROM columns
        WHERE org_id = $1 AND board_id = $2 AND NOT in_trash
    ), live AS (
        SELECT id, position FROM board WHERE id IS DISTINCT FROM $6::uuid
    ), gap AS (
        SELECT
            CASE WHEN $3::uuid IS NOT NULL THEN (SELECT position FROM live WHERE id = $3)
                 WHEN $4::uuid IS NOT NULL THEN (
                     SELECT max(l.position) FROM live l
                     WHERE l.position < (SELECT a.position FROM live a WHERE a.id = $4))
                 ELSE (SELECT max(position) FROM live)
            END AS below,
            CASE WHEN $3 IS NOT NULL THEN (
                     SELECT min(l.position) FROM live l
                     WHERE l.position > (SELECT a.position FROM live a WHERE a.id = $3))
                 WHEN $4 IS NOT NULL THEN (SELECT position FROM live WHERE id = $4)
            END AS above
    )
    SELECT g.below, g.above,
        (SELECT count(*) FROM live l WHERE l.position <= g.below) AS position,
        coalesce($3, $4) IS NULL
            OR EXISTS (SELECT FROM live l WHERE l.id IN ($3, $4)) AS anchored,
        (SELECT count(*) FROM board b WHERE b.id = ANY($5::uuid[])) AS targets,
        (SELECT count(*) FROM board) AS total
    FROM gap g)"};

}  // namespace

DeferredRows<ColumnGap> find_gap(
    Tx& tx,
    const Uuid& org,
    const Uuid& board,
    const ColumnAnchors& anchors,
    const std::vector<Uuid>& targets,
    const std::optional<Uuid>& self
) {
    return tx.later<ColumnGap>(see_gap, org, board, anchors.after, anchors.before, targets, self);
}

namespace {

constexpr Sql near_columns{"boards.near_columns", R"(
    (SELECT id, position, false AS above FROM columns
     WHERE org_id = $1 AND board_id = $2 AND position <= $3 AND NOT in_trash
     ORDER BY position DESC, id DESC
     LIMIT $4)
    UNION ALL
    (SELECT id, position, true FROM columns
     WHERE org_id = $1 AND board_id = $2 AND position > $3 AND NOT in_trash
     ORDER BY position, id
     LIMIT $4)
    ORDER BY position, id)"};

constexpr Sql lock_near_columns{"boards.lock_near_columns", R"(
    SELECT id FROM columns
    WHERE org_id = $1 AND board_id = $2 AND id = ANY ($3::uuid[]) AND NOT in_trash
    FOR NO KEY UPDATE SKIP LOCKED)"};

constexpr Sql space_columns{"boards.space_columns", R"(
    UPDATE columns c SET position = n.position
    FROM unnest($2::uuid[], $3::text[]) n (id, position)
    WHERE c.org_id = $1 AND c.id = n.id)"};

constexpr Siblings columns_of_board{near_columns, &lock_near_columns, space_columns};

}  // namespace

void make_room_for_columns(Tx& tx, const Uuid& org, const Uuid& board, const OrderKey& key) {
    if (key.is_long()) make_room(tx, columns_of_board, org, board, key);
}

void require_one_anchor(const Call& call, const ColumnAnchors& anchors) {
    if (anchors.before && anchors.after)
        throw wrong_field(call, "after_id", "give before_id or after_id, not both");
}

void require_anchored(const Call& call, const ColumnGap& gap, const ColumnAnchors& anchors) {
    if (!gap.anchored)
        throw wrong_field(
            call, anchors.before ? "before_id" : "after_id", "the board has no such column"
        );
}

void require_targets(
    const Call& call, const ColumnQueue& queue, std::int64_t found, const std::optional<Uuid>& self
) {
    const auto targets = targets_of(queue);
    if (static_cast<std::size_t>(found) != targets.size())
        throw wrong_field(call, "queue", "cards can only be sent to columns of the same board");
    if (self && std::ranges::find(targets, *self) != targets.end())
        throw wrong_field(call, "queue", "a column cannot send its cards to itself");
}

// -------------------------------------------------------------------------------- adding one

namespace {

struct CreateColumnRequest {
    Uuid board_id;
    std::string name;
    Color color{};
    ColumnKind kind{};
    std::optional<std::int64_t> wip_limit;
    WipPolicy wip_policy{};
    std::optional<ColumnQueueChange> queue;
    std::optional<Uuid> before_id;
    std::optional<Uuid> after_id;
};
SVC_RECORD(
    CreateColumnRequest,
    (board_id),
    (name, "What people call it.", length(1, 120), trimmed),
    (color, "As people see it.", defaulted),
    (kind, "What being here means; cards that reach `done` are complete.", defaulted),
    (wip_limit, "How many cards may stand here at once.", range(1, 1000)),
    (wip_policy, "`hard` refuses cards beyond the limit, `soft` only shows it.", defaulted),
    (queue,
     "The column as a work queue: on for the kind `queue` unless `enabled` is sent as false; the "
     "members that are left out have their defaults."),
    (before_id, "The column to stand to the left of; not together with `after_id`."),
    (after_id, "The column to stand to the right of; the rightmost if left out.")
);

Column create(Call& call, const CreateColumnRequest& in) {
    const ColumnAnchors anchors{in.before_id, in.after_id};
    require_one_anchor(call, anchors);
    ColumnQueue queue{.enabled = in.kind == ColumnKind::queue};
    if (in.queue) in.queue->apply_to(queue);
    lock_definitions(call, in.board_id);
    auto seen = BoardCaller::of(call).later<BoardAccess>(call.tx(), see_board, in.board_id);
    auto found =
        find_gap(call.tx(), call.org(), in.board_id, anchors, targets_of(queue), std::nullopt);
    const auto board = seen.one();
    require_changeable(board, BoardRole::editor);
    const ColumnGap gap = found.one_or_retry();
    require_anchored(call, gap, anchors);
    require_targets(call, queue, gap.targets, std::nullopt);
    if (gap.total >= most_columns)
        throw wrong_field(call, "board_id", "a board has at most 100 columns");

    Column column;
    column.id = new_uuid();
    column.org_id = call.org();
    column.board_id = in.board_id;
    column.name = in.name;
    column.color = in.color;
    column.kind = in.kind;
    column.position = gap.position;
    column.wip_limit = in.wip_limit;
    column.wip_policy = in.wip_policy;
    column.queue = queue;
    column.created_time = column.last_edited_time = board->now;
    column.created_by = column.last_edited_by = AsJson(ref_of(call.caller()));

    const Event made = created(column_created, column).on_board(in.board_id).in_column(column.id);
    call.check(made);
    const OrderKey key = OrderKey::between(gap.below, gap.above, random_bits());
    insert(call, column, key);
    make_room_for_columns(call.tx(), call.org(), in.board_id, key);
    call.emit(made);
    return column;
}

// --------------------------------------------------------------------------------- reading

constexpr Sql list_page{"boards.list_columns", R"(
    SELECT v.* FROM column_view v
    WHERE v.org_id = $1 AND v.board_id = $2 AND NOT v.in_trash
        AND ($3::text IS NULL OR (v.order_key, v.id) > ($3, $4::uuid))
    ORDER BY v.order_key, v.id
    LIMIT $5)"};

struct ListColumnsQuery {
    Uuid board_id;
    Paging paging;
};
SVC_RECORD(ListColumnsQuery, (board_id), (paging, "", flatten));

Page<Column> list(Call& call, const ListColumnsQuery& in) {
    const auto after = call.after(in.paging);
    const std::optional<std::string> key = after ? std::optional(after->at(0)) : std::nullopt;
    const std::optional<std::string> id = after ? std::optional(after->at(1)) : std::nullopt;
    auto seen = BoardCaller::of(call).later<BoardAccess>(call.tx(), see_board, in.board_id);
    auto found = call.tx().later<ColumnAccess>(
        list_page, call.org(), in.board_id, key, id, in.paging.page_size + 1
    );
    const auto board = seen.one();
    if (!board) not_found("board");
    require(board->role, BoardRole::viewer, "board");
    auto page = call.page(found.all(), in.paging, [](const ColumnAccess& last) {
        return std::vector{last.order_key.str(), last.column.id.str()};
    });
    Page<Column> columns{{}, page.next_cursor};
    for (ColumnAccess& each : page.results) columns.results.push_back(std::move(each.column));
    return columns;
}

struct ColumnId {
    Uuid board_id;
    Uuid column_id;
};
SVC_RECORD(ColumnId, (board_id), (column_id));

Column get(Call& call, const ColumnId& in) {
    auto seen = BoardCaller::of(call).later<BoardAccess>(call.tx(), see_board, in.board_id);
    auto found = call.tx().later<Column>(see_column, call.org(), in.board_id, in.column_id);
    const auto board = seen.one();
    if (!board) not_found("column");
    require(board->role, BoardRole::viewer, "column");
    auto column = found.one();
    if (!column) not_found("column");
    return *column;
}

}  // namespace

const Operation create_column{
    .name = "create_column",
    .route = "POST /v1/boards/{board_id}/columns",
    .summary = "Add a column to a board.",
    .description = "A board has at most 100.",
    .access = Access::board_editor,
    .status = 201,
    .handler = create,
};

const Operation list_columns{
    .name = "list_columns",
    .route = "GET /v1/boards/{board_id}/columns",
    .summary = "List a board's columns from left to right.",
    .access = Access::board_viewer,
    .handler = list,
};

const Operation get_column{
    .name = "get_column",
    .route = "GET /v1/boards/{board_id}/columns/{column_id}",
    .summary = "Read a column.",
    .access = Access::board_viewer,
    .handler = get,
};

}  // namespace svc::boards
