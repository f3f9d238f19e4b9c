// Boards: making them, finding them.

#include "modules/boards/board/board.hpp"
#include "modules/boards/api/board.hpp"
#include "modules/boards/api/card_ref.hpp"
#include "modules/boards/api/column.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/api/urls.hpp"
#include "modules/boards/column/columns.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/statements.hpp"

namespace svc::boards {

namespace {

// -------------------------------------------------------------------------------- making one

struct ColumnOfNewBoard {
    std::string name;
    ColumnKind kind{};
};
SVC_RECORD(
    ColumnOfNewBoard,
    (name, "What people call it.", length(1, 120), trimmed),
    (kind, "`queue` makes it a work queue; cards that reach `done` are complete.", defaulted)
);

struct CreateBoardRequest {
    std::string name;
    std::optional<std::string> key;
    std::optional<std::string> description;
    std::optional<orgs::Icon> icon;
    Visibility visibility{};
    std::optional<std::vector<ColumnOfNewBoard>> columns;
};
SVC_RECORD(
    CreateBoardRequest,
    (name, "What people call it.", length(1, 200), trimmed),
    (key,
     "Prefix of its cards' keys: ENG makes ENG-42. Derived from the name if left out.",
     matches("[A-Z][A-Z0-9]{1,9}")),
    (description, "What the board is for.", length(0, 5000)),
    (icon, "Shown before its name."),
    (visibility,
     "`org`: for everybody in the workspace. `private`: for you, those you grant it to, and "
     "admins.",
     defaulted),
    (columns, "From left to right; Backlog, In progress and Done if left out.", length(0, 50))
);

// Two boards that are made at once must not be given the same derived key.
constexpr Sql lock_keys{"boards.lock_keys", R"(
    SELECT WHERE pg_advisory_xact_lock(hashtextextended('boards.key ' || $1, 0)) IS NULL)"};

// The wanted key as it is, or the stem with the first number behind it that makes it free: one of
// the first (number of boards + 1) is.
constexpr Sql insert_board{"boards.insert_board", R"(
    INSERT INTO boards (
        org_id, id, key, name, description, visibility, icon, default_view, created_by,
        last_edited_by)
    SELECT $1, $2,
        coalesce($3, (
            SELECT k.key
            FROM generate_series(1, 1 + (SELECT count(*) FROM boards b WHERE b.org_id = $1)) n
            CROSS JOIN LATERAL (
                SELECT CASE n WHEN 1 THEN $4 ELSE left($4, 10 - length(n::text)) || n END
            ) k (key)
            WHERE NOT EXISTS (SELECT FROM boards b WHERE b.org_id = $1 AND b.key = k.key)
            ORDER BY n
            LIMIT 1)),
        $5, $6, $7, $8::jsonb, $9, $10, $10
    RETURNING key, created_time)"};

struct NewBoard {
    std::string key;
    Timestamp created_time;
};
SVC_RECORD(NewBoard, (key), (created_time));

// An agent that was granted boards has no others.
constexpr Sql look_for_grants{"boards.look_for_grants", R"(
    SELECT EXISTS (
        SELECT FROM board_grants x WHERE x.org_id = $1 AND x.principal_id = $2) AS confined)"};

constexpr Sql insert_counter{"boards.insert_counter", R"(
    INSERT INTO board_counters (org_id, board_id) VALUES ($1, $2))"};

std::vector<ColumnOfNewBoard> columns_for(const CreateBoardRequest& in) {
    if (in.columns) return *in.columns;
    return {
        {"Backlog", ColumnKind::backlog},
        {"In progress", ColumnKind::active},
        {"Done", ColumnKind::done}};
}

}  // namespace

MayMakeBoards::MayMakeBoards(Call& call)
    : call_(call),
      found_(call.tx().later<Confinement>(look_for_grants, call.org(), call.caller().id)) {
    if (call.caller().role < OrgRole::member)
        throw Failure(
            Fault::restricted, "Viewers cannot make boards; ask an admin for the role member."
        );
}

void MayMakeBoards::require() {
    if (!call_.caller().is_person() && found_.one_or_retry().confined)
        throw Failure(
            Fault::restricted,
            "You are confined to the boards that you were granted, so you cannot make others."
        );
}

Failure key_taken(const std::string& key) {
    return Failure(Fault::conflict, "Another board of the workspace has the key " + key + ".")
        .with("reason", "key_taken");
}

std::optional<orgs::Icon> icon_of(Call& call, std::optional<orgs::Icon> icon) {
    if (!icon) return icon;
    const bool consistent =
        icon->emoji.has_value() == (icon->type == orgs::IconType::emoji) &&
        icon->external.has_value() == (icon->type == orgs::IconType::external) &&
        icon->file_id.has_value() == (icon->type == orgs::IconType::file);
    if (!consistent)
        throw wrong_field(call, "icon", "give the member that `type` names, and no other");
    if (icon->type != orgs::IconType::file) return icon;
    auto* pictures = call.kernel().find<orgs::Pictures>();
    const auto address = pictures ? pictures->address_of(call, *icon->file_id) : std::nullopt;
    if (!address) throw wrong_field(call, "icon", "you have uploaded no such picture");
    icon->file = orgs::IconFile{*address, std::nullopt};
    return icon;
}

void store_new(Call& call, Board& board, const std::optional<std::string>& key) {
    Tx& tx = call.tx();
    if (!key) tx.queue(lock_keys, board.org_id.str());
    auto stored = tx.later<NewBoard>(
        insert_board,
        board.org_id,
        board.id,
        key,
        key_from(board.name),
        board.name,
        board.description,
        board.visibility,
        board.icon,
        board.default_view,
        call.caller().id
    );
    try {
        const NewBoard made = stored.one_or_retry();
        board.key = made.key;
        board.created_time = board.last_edited_time = made.created_time;
    } catch (const ConstraintError& taken) {
        if (taken.constraint() != "boards_key_taken") throw;
        throw key_taken(key.value_or(board.key));
    }
    board.created_by = board.last_edited_by = AsJson(ref_of(call.caller()));
    board.role = BoardRole::admin;
    board.url = url_of(call.kernel(), board);
}

namespace {

Board create(Call& call, const CreateBoardRequest& in) {
    MayMakeBoards right(call);
    Board board;
    board.id = new_uuid();
    board.org_id = call.org();
    board.name = in.name;
    board.description = in.description;
    board.icon = icon_of(call, in.icon);
    board.visibility = in.visibility;
    board.properties = AsJson(std::vector<PropertyDefinition>{});
    board.labels = AsJson(std::vector<Label>{});
    store_new(call, board, in.key);
    right.require();

    std::vector<Column> columns;
    std::vector<Uuid> ids;
    for (const ColumnOfNewBoard& wanted : columns_for(in)) {
        Column column = column_of(board, wanted.name, wanted.kind);
        column.position = static_cast<std::int64_t>(columns.size());
        ids.push_back(column.id);
        columns.push_back(std::move(column));
    }
    board.column_ids = AsJson(ids);

    const Event made = created(board_created, board).on_board(board.id);
    call.check(made);
    call.tx().queue(insert_counter, board.org_id, board.id);
    call.emit(made);
    OrderKey place;
    for (const Column& column : columns) {
        place = OrderKey::last(place, random_bits());
        insert(call, column, place);
        call.emit(created(column_created, column).on_board(board.id).in_column(column.id));
    }
    return board;
}

}  // namespace

// ------------------------------------------------------------------------------- finding them

namespace {

constexpr Sql get_one{"boards.get_board", R"(
    SELECT v.*,
        )" SVC_BOARD_ROLE("v.visibility", "v.maker") R"( AS role
    FROM board_view v
    )" SVC_BOARD_GRANT("v.id") R"(
    WHERE v.org_id = $1 AND v.id = $5)"};

}  // namespace

DeferredRows<Board> see_whole_board(Tx& tx, const BoardCaller& caller, const Uuid& board) {
    return caller.later<Board>(tx, get_one, board);
}

namespace {

// The page is chosen before the shapes are gathered.
constexpr Sql list_page{"boards.list_boards", R"(
    SELECT v.*, page.role
    FROM (
        SELECT b.id, b.name,
            )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role
        FROM boards b
        )" SVC_BOARD_GRANT("b.id") R"(
        WHERE b.org_id = $1 AND b.in_trash = $9
            AND (b.is_archived = $5 OR b.in_trash) AND b.purged_at IS NULL
            AND ($6::text IS NULL OR (b.name, b.id) > ($6, $7::uuid))
    ) page
    JOIN board_view v ON v.org_id = $1 AND v.id = page.id
    WHERE CASE WHEN $9 THEN page.role = 'admin' ELSE page.role IS NOT NULL END
    ORDER BY page.name, page.id
    LIMIT $8)"};

struct BoardId {
    Uuid board_id;
};
SVC_RECORD(BoardId, (board_id));

Board get(Call& call, const BoardId& in) {
    auto found = see_whole_board(call.tx(), BoardCaller::of(call), in.board_id).one();
    if (!found) not_found("board");
    require(found->role, BoardRole::viewer, "board");
    found->url = url_of(call.kernel(), *found);
    return *found;
}

struct ListBoardsQuery {
    bool archived = false;
    bool in_trash = false;
    Paging paging;
};
SVC_RECORD(
    ListBoardsQuery,
    (archived, "The archived boards instead of the others.", defaulted),
    (in_trash,
     "The boards in the trash that you may restore, instead of the others. Not with `archived`.",
     defaulted),
    (paging, "", flatten)
);

Page<Board> list(Call& call, const ListBoardsQuery& in) {
    if (in.in_trash && in.archived)
        throw wrong_field(call, "in_trash", "it does not go with archived", FieldPlace::query);
    const auto after = call.after(in.paging);
    const std::optional<std::string> name = after ? std::optional(after->at(0)) : std::nullopt;
    const std::optional<std::string> id = after ? std::optional(after->at(1)) : std::nullopt;
    auto rows =
        BoardCaller::of(call)
            .later<Board>(
                call.tx(), list_page, in.archived, name, id, in.paging.page_size + 1, in.in_trash
            )
            .all();
    for (Board& board : rows) board.url = url_of(call.kernel(), board);
    return call.page(std::move(rows), in.paging, [](const Board& last) {
        return std::vector{last.name, last.id.str()};
    });
}

}  // namespace

const Operation create_board{
    .name = "create_board",
    .route = "POST /v1/boards",
    .summary = "Create a board.",
    .description =
        "Makes a board with its columns. Give a column the kind `queue` to let workers "
        "claim its cards.",
    .access = Access::member,
    .status = 201,
    .handler = create,
};

const Operation list_boards{
    .name = "list_boards",
    .route = "GET /v1/boards",
    .summary = "List the boards you can see, by name.",
    .access = Access::member,
    .handler = list,
};

const Operation get_board{
    .name = "get_board",
    .route = "GET /v1/boards/{board_id}",
    .summary = "Read a board: its columns, labels and what you may do there.",
    .access = Access::board_viewer,
    .handler = get,
};

}  // namespace svc::boards
