// Labels of a board: changing and removing them, and the cards that carry them.

#include "modules/boards/api/events.hpp"
#include "modules/boards/card/rewrites.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/property/labels.hpp"

namespace svc::boards {

namespace {

constexpr Sql find_label{"boards.find_label", R"(
    SELECT l.board_id, l.id, l.name, l.color, l.version,
        EXISTS (
            SELECT FROM labels o
            WHERE o.org_id = $1 AND o.board_id = $2 AND o.id <> l.id
                AND o.name_key = lower($4::text COLLATE "und-x-icu")) AS name_taken
    FROM labels l
    WHERE l.org_id = $1 AND l.board_id = $2 AND l.id = $3)"};

struct LabelAccess {
    Label label;
    bool name_taken = false;
};
SVC_RECORD(LabelAccess, (label, "", flatten), (name_taken));

constexpr Sql write_label{"boards.update_label", R"(
    UPDATE labels
    SET name = $4, name_key = lower($4 COLLATE "und-x-icu"), color = $5, version = version + 1
    WHERE org_id = $1 AND board_id = $2 AND id = $3)"};

constexpr Sql drop_label{"boards.delete_label", R"(
    DELETE FROM labels WHERE org_id = $1 AND board_id = $2 AND id = $3)"};

/// Locks and finds the label that a request is about.
class LabelInHand {
public:
    LabelInHand(
        Call& call, const Uuid& board, const Uuid& label, const std::optional<std::string>& name
    )
        : cards_(call, board) {
        Tx& tx = call.tx();
        lock_definitions(call, board);
        auto seen = BoardCaller::of(call).later<BoardAccess>(tx, see_board, board);
        auto found = tx.later<LabelAccess>(find_label, call.org(), board, label, name);
        require_changeable(seen.one(), BoardRole::editor);
        auto row = found.one();
        if (!row) not_found("label");
        call.require_version(row->label.version);
        seen_ = *std::move(row);
    }
    const Label& label() const { return seen_.label; }
    bool name_taken() const { return seen_.name_taken; }
    /// Once the change has been queued.
    void let_cards_follow() { cards_.follow(); }

private:
    NewestCards cards_;
    LabelAccess seen_;
};

struct UpdateLabelRequest {
    Uuid board_id;
    Uuid label_id;
    Patch<std::string> name;
    Patch<Color> color;
};
SVC_RECORD(
    UpdateLabelRequest,
    (board_id),
    (label_id),
    (name, "Unique on the board, whatever the case.", length(1, 60), trimmed),
    (color, "As people see it.")
);

Label update(Call& call, const UpdateLabelRequest& in) {
    LabelInHand found(call, in.board_id, in.label_id, if_given(in.name));
    const Label& before = found.label();
    Label after = before;
    in.name.apply_to(after.name);
    in.color.apply_to(after.color);
    if (to_json(after) == to_json(before)) return after;
    if (found.name_taken()) throw label_name_taken();

    after.version = before.version + 1;
    const Event event = changed(label_updated, before, after).on_board(in.board_id);
    call.check(event);
    Tx& tx = call.tx();
    tx.queue(write_label, call.org(), in.board_id, after.id, after.name, after.color);
    found.let_cards_follow();
    call.emit(event);
    return after;
}

struct LabelId {
    Uuid board_id;
    Uuid label_id;
};
SVC_RECORD(LabelId, (board_id), (label_id));

void remove(Call& call, const LabelId& in) {
    LabelInHand found(call, in.board_id, in.label_id, std::nullopt);
    const Event event = removed(label_deleted, found.label()).on_board(in.board_id);
    call.check(event);
    call.tx().queue(drop_label, call.org(), in.board_id, in.label_id);
    found.let_cards_follow();
    call.emit(event);
}

}  // namespace

const Operation update_label{
    .name = "update_label",
    .route = "PATCH /v1/boards/{board_id}/labels/{label_id}",
    .summary = "Change a label's name or color.",
    .description =
        "Changes only the fields that are sent. The board's 250 newest cards show the label so at "
        "once, older ones within moments; that emits `label.updated`, not an event of each card, "
        "and leaves the cards' versions as they are.",
    .access = Access::board_editor,
    .idempotent = true,
    .versioned = true,
    .handler = update,
};

const Operation delete_label{
    .name = "delete_label",
    .route = "DELETE /v1/boards/{board_id}/labels/{label_id}",
    .summary = "Remove a label from a board and from its cards.",
    .description = "The board's 250 newest cards lose it at once, older ones within moments.",
    .access = Access::board_editor,
    .status = 204,
    .destructive = true,
    .versioned = true,
    .handler = remove,
};

void add_label_changes(Kernel& kernel) {
    for (const EventKind* each : {&label_updated, &label_deleted}) kernel.add(*each);
    for (const Operation* each : {&update_label, &delete_label}) kernel.add(*each);
}

}  // namespace svc::boards
