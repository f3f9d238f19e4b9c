// Labels of a board.

#include "modules/boards/property/labels.hpp"
#include "modules/boards/api/events.hpp"

#include "modules/boards/card/edits.hpp"
#include "modules/boards/operations.hpp"

namespace svc::boards {

namespace {

constexpr std::int64_t most_labels = 200;  // on a board

// Names are compared without regard to case, in any script; the database's own locale knows
// ASCII alone.
constexpr Sql find_labels{"boards.find_labels", R"(
    WITH board AS (
        SELECT coalesce($2, (SELECT board_id FROM cards WHERE org_id = $1 AND id = $3)) AS id
    )
    SELECT w.wanted, lower(w.wanted COLLATE "und-x-icu") AS name_key, l.id, l.name, l.color,
        (SELECT count(*) FROM labels o
         WHERE o.org_id = $1 AND o.board_id = (SELECT id FROM board)) AS total
    FROM unnest($4::text[]) WITH ORDINALITY w (wanted, n)
    LEFT JOIN labels l
        ON l.org_id = $1 AND l.board_id = (SELECT id FROM board)
        AND (l.id::text = w.wanted OR l.name_key = lower(w.wanted COLLATE "und-x-icu"))
    ORDER BY w.n)"};

constexpr Sql insert_label{"boards.insert_label", R"(
    INSERT INTO labels (org_id, board_id, id, name, name_key, color)
    VALUES ($1, $2, $3, $4, lower($4 COLLATE "und-x-icu"), $5))"};

std::string trimmed_name(const std::string& text) {
    const auto from = text.find_first_not_of(" \t\r\n");
    if (from == text.npos) return {};
    return text.substr(from, text.find_last_not_of(" \t\r\n") - from + 1);
}

}  // namespace

Failure label_name_taken() {
    return Failure(Fault::conflict, "The board has a label of this name.")
        .with("reason", "name_taken");
}

LabelResolver::LabelResolver(
    Call& call,
    const std::optional<std::vector<std::string>>& wanted,
    const std::optional<Uuid>& board,
    const std::optional<Uuid>& card
)
    : call_(call) {
    if (!wanted) return;
    std::vector<std::string> texts;
    bool may_be_new = false;
    for (std::size_t i = 0; i < wanted->size(); ++i) {
        const auto id = Uuid::parse((*wanted)[i]);
        texts.push_back(id ? id->str() : trimmed_name((*wanted)[i]));
        if (texts.back().empty())
            throw wrong_item(call, "labels", i, "a label needs a name or an id");
        may_be_new |= !id;
    }
    // A board that is being numbered is locked already.
    if (!board) may_be_new ? lock_definitions_of(call, *card) : share_definitions_of(call, *card);
    found_ = call.tx().later<LabelFound>(find_labels, call.org(), board, card, texts);
}

/// The same name in another case is the same label.
LabelRef LabelResolver::ref_of_new(const LabelFound& wanted) {
    const auto known = std::ranges::find(new_, wanted.name_key, &NewLabel::name_key);
    if (known != new_.end()) return known->ref;
    const LabelRef made{new_uuid(), wanted.wanted, Color::default_};
    return new_.emplace_back(NewLabel{wanted.name_key, made}).ref;
}

std::vector<LabelRef> LabelResolver::refs() {
    std::vector<LabelRef> refs;
    const auto rows = found_->all();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const LabelFound& row = rows[i];
        if (!row.id && Uuid::parse(row.wanted))
            throw wrong_item(call_, "labels", i, "the board has no such label");
        const LabelRef ref = row.id ? LabelRef{*row.id, *row.name, *row.color} : ref_of_new(row);
        refs = joined(std::move(refs), {ref});
        if (row.total + static_cast<std::int64_t>(new_.size()) > most_labels)
            throw wrong_item(
                call_, "labels", i, "a board has at most 200 labels, and this would be another"
            );
    }
    return refs;
}

void LabelResolver::make_new_ones(const Uuid& board) {
    for (const auto& [name_key, ref] : new_) {
        const Label label{{}, ref.id, board, ref.name, ref.color, 1};
        call_.tx().queue(insert_label, call_.org(), board, label.id, label.name, label.color);
        call_.emit(created(label_created, label).on_board(board));
    }
}

// ------------------------------------------------------------------------------- one by itself

namespace {

struct CreateLabelRequest {
    Uuid board_id;
    std::string name;
    Color color{};
};
SVC_RECORD(
    CreateLabelRequest,
    (board_id),
    (name, "Unique on the board, whatever the case.", length(1, 60), trimmed),
    (color, "As people see it.", defaulted)
);

Label create(Call& call, const CreateLabelRequest& in) {
    Tx& tx = call.tx();
    const Uuid& org = call.org();
    const std::optional<Uuid> no_card;
    lock_definitions(call, in.board_id);
    auto seen = BoardCaller::of(call).later<BoardAccess>(tx, see_board, in.board_id);
    auto conflicts =
        tx.later<LabelFound>(find_labels, org, in.board_id, no_card, std::vector{in.name});
    require_changeable(seen.one(), BoardRole::editor);
    const LabelFound conflict = conflicts.one_or_retry();
    if (conflict.id) throw label_name_taken();
    if (conflict.total >= most_labels)
        throw wrong_field(call, "board_id", "a board has at most 200 labels");

    const Label label{{}, new_uuid(), in.board_id, in.name, in.color, 1};
    const Event made = created(label_created, label).on_board(in.board_id);
    call.check(made);
    tx.queue(insert_label, org, in.board_id, label.id, label.name, label.color);
    call.emit(made);
    return label;
}

}  // namespace

const Operation create_label{
    .name = "create_label",
    .route = "POST /v1/boards/{board_id}/labels",
    .summary = "Add a label to a board.",
    .access = Access::board_editor,
    .status = 201,
    .handler = create,
};

}  // namespace svc::boards
