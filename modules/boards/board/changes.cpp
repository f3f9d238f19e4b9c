// Boards: changing them, putting them away, bringing them back.

#include "modules/boards/api/board.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/api/urls.hpp"
#include "modules/boards/board/board.hpp"
#include "modules/boards/operations.hpp"

namespace svc::boards {

namespace {

// For those alone who have the role $6 or are admins.
constexpr Sql lock_row{"boards.lock_board_row", R"(
    SELECT now() AS now
    FROM boards b
    )" SVC_BOARD_GRANT("b.id") R"(
    WHERE b.org_id = $1 AND b.id = $5 AND b.purged_at IS NULL
        AND )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"(
            IN ('admin', $6)
    FOR NO KEY UPDATE OF b)"};

struct LockedRow {
    Timestamp now;
};
SVC_RECORD(LockedRow, (now));

constexpr Sql write_board{"boards.update_board", R"(
    UPDATE boards
    SET key = $3, name = $4, description = $5, icon = $6::jsonb, visibility = $7,
        default_view = $8, is_archived = $9, in_trash = $10,
        last_edited_time = now(), last_edited_by = $11, version = version + 1
    WHERE org_id = $1 AND id = $2)"};

/// A board that is to be changed, locked.
class BoardInHand {
public:
    BoardInHand(Call& call, const Uuid& id, BoardRole least)
        : call_(call),
          least_(least),
          locked_(BoardCaller::of(call).later<LockedRow>(call.tx(), lock_row, id, least)),
          found_(see_whole_board(call.tx(), BoardCaller::of(call), id)) {}

    /// Reads it; throws for strangers, for lower roles and for another version than expected.
    Board& require() {
        const auto locked = locked_.one();
        auto found = found_.one();
        if (!found) not_found("board");
        boards::require(found->role, least_, "board");
        if (!locked) not_found("board");
        found->url = url_of(call_.kernel(), *found);
        now_ = locked->now;
        before_ = *std::move(found);
        call_.require_version(before_.version);
        return after = before_;
    }

    /// Stores what was changed, if anything was, and emits it.
    Board finish(const EventKind& kind) {
        if (to_json(after) == to_json(before_)) return after;
        after.last_edited_time = now_;
        after.last_edited_by = AsJson(ref_of(call_.caller()));
        after.version = before_.version + 1;
        const Event event = changed(kind, before_, after).on_board(after.id);
        call_.check(event);
        store();
        call_.emit(event);
        return after;
    }

    Board after;

private:
    void store() {
        Result written = call_.tx().queue(
            write_board,
            after.org_id,
            after.id,
            after.key,
            after.name,
            after.description,
            after.icon,
            after.visibility,
            after.default_view,
            after.is_archived,
            after.in_trash,
            call_.caller().id
        );
        if (after.key == before_.key) return;
        try {
            written.affected();
        } catch (const ConstraintError& taken) {
            if (taken.constraint() != "boards_key_taken") throw;
            throw key_taken(after.key);
        }
    }

    Call& call_;
    const BoardRole least_;
    DeferredRows<LockedRow> locked_;
    DeferredRows<Board> found_;
    Timestamp now_;
    Board before_;
};

// ------------------------------------------------------------------------------ changing one

struct UpdateBoardRequest {
    Uuid board_id;
    Patch<std::string> name;
    Patch<std::string> key;
    Patch<std::optional<std::string>> description;
    Patch<std::optional<orgs::Icon>> icon;
    Patch<Visibility> visibility;
    Patch<std::optional<std::string>> default_view;
};
SVC_RECORD(
    UpdateBoardRequest,
    (board_id),
    (name, "What people call it.", length(1, 200), trimmed),
    (key,
     "Prefix of its cards' keys; the cards are found by their new keys alone from then on.",
     matches("[A-Z][A-Z0-9]{1,9}")),
    (description, "What the board is for; null clears it.", length(0, 5000)),
    (icon, "Shown before its name; null removes it."),
    (visibility, "Who sees it; for the board's admins to say."),
    (default_view, "How people see it first; null leaves that to them.", length(1, 100))
);

Board update(Call& call, const UpdateBoardRequest& in) {
    const BoardRole least = in.visibility.given() ? BoardRole::admin : BoardRole::editor;
    BoardInHand board(call, in.board_id, least);
    Board& after = board.require();
    if (after.in_trash) not_found("board");
    if (after.is_archived) throw board_archived();
    in.name.apply_to(after.name);
    in.key.apply_to(after.key);
    in.description.apply_to(after.description);
    if (in.icon.given()) after.icon = icon_of(call, in.icon.value());
    in.visibility.apply_to(after.visibility);
    in.default_view.apply_to(after.default_view);
    return board.finish(board_updated);
}

// ------------------------------------------------------------------ putting away, bringing back

struct BoardOnly {
    Uuid board_id;
};
SVC_RECORD(BoardOnly, (board_id));

Board archive(Call& call, const BoardOnly& in) {
    BoardInHand board(call, in.board_id, BoardRole::admin);
    Board& after = board.require();
    if (after.in_trash) not_found("board");
    after.is_archived = true;
    return board.finish(board_updated);
}

Board restore(Call& call, const BoardOnly& in) {
    BoardInHand board(call, in.board_id, BoardRole::admin);
    Board& after = board.require();
    after.is_archived = false;
    after.in_trash = false;
    return board.finish(board_restored);
}

void remove(Call& call, const BoardOnly& in) {
    BoardInHand board(call, in.board_id, BoardRole::admin);
    board.require().in_trash = true;
    board.finish(board_deleted);
}

}  // namespace

const Operation update_board{
    .name = "update_board",
    .route = "PATCH /v1/boards/{board_id}",
    .summary = "Change a board's name, key, description, icon or visibility.",
    .description =
        "Changes only the fields that are sent; null clears. An archived board is refused "
        "with 409, reason `board_archived`.",
    .access = Access::board_editor,
    .idempotent = true,
    .versioned = true,
    .handler = update,
};

const Operation delete_board{
    .name = "delete_board",
    .route = "DELETE /v1/boards/{board_id}",
    .summary = "Delete a board: it goes to the trash, and restore_board brings it back.",
    .description =
        "It is in no list any more, nothing on it can be changed or claimed, and its share links "
        "lead nowhere. Its key stays taken.",
    .access = Access::board_admin,
    .status = 204,
    .destructive = true,
    .idempotent = true,
    .versioned = true,
    .handler = remove,
};

const Operation archive_board{
    .name = "archive_board",
    .route = "POST /v1/boards/{board_id}:archive",
    .summary = "Archive a board: it can be read and not changed until restore_board.",
    .description = "Workers claim no more of its cards.",
    .access = Access::board_admin,
    .idempotent = true,
    .versioned = true,
    .handler = archive,
};

const Operation restore_board{
    .name = "restore_board",
    .route = "POST /v1/boards/{board_id}:restore",
    .summary = "Restore a board from the archive or the trash.",
    .access = Access::board_admin,
    .idempotent = true,
    .versioned = true,
    .handler = restore,
};

void add_board_changes(Kernel& kernel) {
    for (const EventKind* each : {&board_updated, &board_deleted, &board_restored})
        kernel.add(*each);
    for (const Operation* each :
         {&update_board, &delete_board, &archive_board, &restore_board, &duplicate_board})
        kernel.add(*each);
}

}  // namespace svc::boards
