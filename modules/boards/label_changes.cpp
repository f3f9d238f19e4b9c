// Labels of a board: changing and removing them, and the cards that carry them.

#include "modules/boards/labels.hpp"
#include "modules/boards/operations.hpp"

namespace svc::boards {

namespace {

constexpr std::string_view carry_it = R"(
            c.labels @> jsonb_build_array(jsonb_build_object('id', $6::uuid))
            AND)";
constexpr Sql lock_labelled_cards{
    "boards.lock_cards_with_label", SqlText<cards_that, carry_it, if_editor, in_their_order>::view};

constexpr Sql find_label{"boards.find_label", R"(
    SELECT l.board_id, l.id, l.name, l.color, l.version,
        EXISTS (
            SELECT FROM labels o
            WHERE o.org_id = $1 AND o.board_id = $2 AND o.id <> l.id
                AND o.name_key = lower($4::text COLLATE "und-x-icu")) AS name_taken
    FROM labels l
    WHERE l.org_id = $1 AND l.board_id = $2 AND l.id = $3)"};

struct LabelSeen {
    Label label;
    bool name_taken = false;
};
SVC_RECORD(LabelSeen, (label, "", spread), (name_taken, ""));

constexpr Sql write_label{"boards.update_label", R"(
    UPDATE labels
    SET name = $4, name_key = lower($4 COLLATE "und-x-icu"), color = $5, version = version + 1
    WHERE org_id = $1 AND board_id = $2 AND id = $3)"};

constexpr Sql drop_label{"boards.delete_label", R"(
    DELETE FROM labels WHERE org_id = $1 AND board_id = $2 AND id = $3)"};

// $4 in place of it, or, null, nothing.
constexpr Sql relabel_cards{"boards.relabel_cards", R"(
    UPDATE cards
    SET labels = coalesce(
        (SELECT jsonb_agg(CASE WHEN l.label ->> 'id' = $3 THEN $4::jsonb ELSE l.label END
             ORDER BY l.n)
         FROM jsonb_array_elements(labels) WITH ORDINALITY l (label, n)
         WHERE l.label ->> 'id' <> $3 OR $4::jsonb IS NOT NULL),
        '[]')
    WHERE org_id = $1 AND board_id = $2
        AND labels @> jsonb_build_array(jsonb_build_object('id', $3::text)))"};

/// Locks and finds the label that a request is about.
class LabelInHand {
public:
    LabelInHand(
        Call& call, const Uuid& board, const Uuid& label, const std::optional<std::string>& name
    ) {
        Tx& tx = call.tx();
        Seat::of(call).queue(tx, lock_labelled_cards, board, label);
        lock_definitions(call, board);
        auto seen = Seat::of(call).later<BoardSeen>(tx, see_board, board);
        auto found = tx.later<LabelSeen>(find_label, call.org(), board, label, name);
        require_changeable(seen.one(), BoardRole::editor);
        auto row = found.one();
        if (!row) not_found("label");
        call.require_version(row->label.version);
        seen_ = *std::move(row);
    }
    const Label& label() const { return seen_.label; }
    bool name_taken() const { return seen_.name_taken; }

private:
    LabelSeen seen_;
};

struct UpdateLabelRequest {
    Uuid board_id;
    Uuid label_id;
    Patch<std::string> name;
    Patch<Color> color;
};
SVC_RECORD(
    UpdateLabelRequest,
    (board_id, ""),
    (label_id, ""),
    (name, "Unique on the board, whatever the case.", length(1, 60), trimmed),
    (color, "As people see it.")
);

Label update(Call& call, const UpdateLabelRequest& in) {
    const LabelInHand found(call, in.board_id, in.label_id, if_given(in.name));
    const Label& before = found.label();
    Label after = before;
    in.name.apply_to(after.name);
    in.color.apply_to(after.color);
    if (to_json(after) == to_json(before)) return after;
    if (found.name_taken()) throw label_name_taken();

    after.version = before.version + 1;
    const Event event = changed(label_updated, before, after).on_board(in.board_id);
    call.ask(event);
    Tx& tx = call.tx();
    tx.queue(write_label, call.org(), in.board_id, after.id, after.name, after.color);
    tx.queue(
        relabel_cards,
        call.org(),
        in.board_id,
        after.id,
        to_json(LabelRef{after.id, after.name, after.color})
    );
    call.tell(event);
    return after;
}

struct LabelId {
    Uuid board_id;
    Uuid label_id;
};
SVC_RECORD(LabelId, (board_id, ""), (label_id, ""));

void remove(Call& call, const LabelId& in) {
    const LabelInHand found(call, in.board_id, in.label_id, std::nullopt);
    const Event event = removed(label_deleted, found.label()).on_board(in.board_id);
    call.ask(event);
    call.tx().queue(relabel_cards, call.org(), in.board_id, in.label_id, nullptr);
    call.tx().queue(drop_label, call.org(), in.board_id, in.label_id);
    call.tell(event);
}

}  // namespace

const Operation update_label{
    .name = "update_label",
    .route = "PATCH /v1/boards/{board_id}/labels/{label_id}",
    .summary = "Change a label's name or color.",
    .description =
        "Changes only the fields that are sent. Every card with the label shows it so at once; "
        "that "
        "is told by `label.updated`, not by an event of each card, and leaves the cards' versions "
        "as they are.",
    .access = Access::board_editor,
    .idempotent = true,
    .versioned = true,
    .handler = update,
};

const Operation delete_label{
    .name = "delete_label",
    .route = "DELETE /v1/boards/{board_id}/labels/{label_id}",
    .summary = "Remove a label from a board and from its cards.",
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
