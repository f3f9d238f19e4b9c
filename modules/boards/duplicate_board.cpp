// Boards: making another of one. It has the same columns, labels, properties and cards, but nobody
// works on them, and nobody has been let in.

#include "modules/boards/board.hpp"
#include "modules/boards/columns.hpp"
#include "modules/boards/moves.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/parts/new_ids.hpp"

#include <set>

namespace svc::boards {

namespace {

constexpr std::size_t most_copied = 10'000;  // cards

struct DuplicateBoardRequest {
    Uuid board_id;
    std::optional<std::string> name;
    std::optional<std::string> key;
    std::optional<Visibility> visibility;
    bool include_cards = true;
};
SVC_RECORD(
    DuplicateBoardRequest,
    (board_id, "The board to copy."),
    (name,
     "What people call the new one; the old name and \"(copy)\" if left out.",
     length(1, 200),
     trimmed),
    (key,
     "In front of the numbers of its cards; made from the name if left out.",
     matches("[A-Z][A-Z0-9]{1,9}")),
    (visibility, "Who sees it; as the board it is made of if left out."),
    (include_cards, "Its cards as well, but for those that are archived or in the trash.", defaulted
    )
);

// What is copied stays as it is meanwhile; cards may move.
constexpr Sql share_definitions{"boards.share_definitions", R"(
    SELECT board_id FROM board_counters WHERE org_id = $1 AND board_id = $2 FOR KEY SHARE)"};

constexpr Sql read_columns{"boards.columns_to_copy", R"(
    SELECT v.* FROM column_view v
    WHERE v.org_id = $1 AND v.board_id = $2 AND NOT v.in_trash
    ORDER BY v.order_key, v.id)"};

constexpr Sql read_cards{"boards.cards_to_copy", R"(
    SELECT v.* FROM card_view v
    WHERE v.org_id = $1 AND v.board_id = $2 AND NOT v.is_archived AND NOT v.in_trash
    ORDER BY v.number
    LIMIT $3)"};

constexpr Sql insert_counter{"boards.insert_counter_of_copy", R"(
    INSERT INTO board_counters (org_id, board_id, last_number, card_count)
    VALUES ($1, $2, $3, $3))"};

constexpr Sql insert_labels{"boards.insert_labels_of_copy", R"(
    INSERT INTO labels (org_id, board_id, id, name, name_key, color)
    SELECT $1, $2, l.id, l.name, lower(l.name COLLATE "und-x-icu"), l.color
    FROM jsonb_to_recordset($3::jsonb) l (id uuid, name text, color text))"};

constexpr Sql insert_properties{"boards.insert_properties_of_copy", R"(
    INSERT INTO properties (
        org_id, board_id, id, name, name_key, type, options, number_format, required, position)
    SELECT $1, $2, p.id, p.name, lower(p.name COLLATE "und-x-icu"), p.type, p.options,
        p.number_format, p.required, p.position
    FROM jsonb_to_recordset($3::jsonb)
        p (id uuid, name text, type text, options jsonb, number_format text, required boolean,
           position integer))"};

constexpr Sql insert_cards{"boards.insert_cards_of_copy", R"(
    INSERT INTO cards (
        org_id, id, board_id, column_id, number, position, title, labels, assignees, due, start,
        priority, estimate, properties, parent_card_id, external_key, completed_at, created_by,
        last_edited_by, blocked_by, block_count)
    SELECT $1, c.id, $2, c.column_id, c.number, c.place, c.title, c.labels, c.assignees, c.due,
        c.start, c.priority, c.estimate, c.properties, c.parent_card_id, c.external_key,
        c.completed_at, c.created_by, c.last_edited_by, c.blocked_by, c.block_count
    FROM jsonb_to_recordset($3::jsonb)
        c (id uuid, column_id uuid, number bigint, place text, title text, labels jsonb,
           assignees jsonb, due text, start text, priority text, estimate double precision,
           properties jsonb, parent_card_id uuid, external_key text, completed_at timestamptz,
           created_by jsonb, last_edited_by jsonb, blocked_by jsonb, block_count integer))"};

constexpr Sql insert_links{"boards.insert_links_of_copy", R"(
    INSERT INTO card_links (org_id, card_id, kind, target_id, id, created_by)
    SELECT $1, l.card_id, 'blocks', l.target_id, l.id, $3
    FROM jsonb_to_recordset($2::jsonb) l (card_id uuid, target_id uuid, id uuid))"};

constexpr Sql insert_assignees{"boards.insert_assignees_of_copy", R"(
    INSERT INTO card_assignees (org_id, principal_id, card_id)
    SELECT DISTINCT $1::uuid, (a.who ->> 'id')::uuid, c.id
    FROM jsonb_to_recordset($2::jsonb) c (id uuid, assignees jsonb)
    CROSS JOIN LATERAL jsonb_array_elements(c.assignees) a (who))"};

/// A card's row: the card as it is shown, and what is kept of it besides.
struct CardRow {
    Card card;
    std::int64_t number = 0;
    std::string place;
};
SVC_RECORD(CardRow, (card, "", spread), (number, ""), (place, ""));

/// The target has to wait for the card.
struct LinkRow {
    Uuid card_id;
    Uuid target_id;
    Uuid id;
};
SVC_RECORD(LinkRow, (card_id, ""), (target_id, ""), (id, ""));

std::string named_after(const std::string& name) {
    constexpr std::string_view behind = " (copy)";
    constexpr std::size_t most = 200;
    std::size_t characters = 0, end = 0;
    for (; end < name.size(); ++end) {
        const bool begins = (static_cast<unsigned char>(name[end]) & 0xC0) != 0x80;
        if (begins && ++characters > most - behind.size()) break;
    }
    return name.substr(0, end) + std::string(behind);
}

class Duplicate {
public:
    Duplicate(Call& call, const DuplicateBoardRequest& in)
        : call_(call),
          in_(in),
          right_(call),
          found_([&] {
              call.tx().queue(share_definitions, call.org(), in.board_id);
              return see_whole_board(call.tx(), Seat::of(call), in.board_id);
          }()),
          columns_(call.tx().later<ColumnSeen>(read_columns, call.org(), in.board_id)),
          cards_(call.tx().later<Card>(
              read_cards,
              call.org(),
              in.board_id,
              in.include_cards ? static_cast<std::int64_t>(most_copied) + 1 : 0
          )) {}

    Board run() {
        read();
        make_board();
        make_columns();
        make_cards();
        const Event made = created(board_created, board_).on_board(board_.id);
        call_.ask(made);
        for (const CardRow& each : rows_) call_.ask(told_of(each.card));
        store(made);
        return board_;
    }

private:
    void read() {
        const auto source = found_.one();
        if (!source || source->in_trash) not_found("board");
        require(source->role, BoardRole::viewer, "board");
        right_.require();
        source_ = *source;
        source_cards_ = cards_.all();
        if (source_cards_.size() > most_copied)
            throw Failure(
                Fault::conflict,
                "The board has more than 10,000 cards; copy it without them, or archive some first."
            )
                .with("reason", "too_many_cards");
    }

    void make_board() {
        board_.id = new_uuid();
        board_.org_id = call_.org();
        board_.name = in_.name.value_or(named_after(source_.name));
        board_.description = source_.description;
        board_.icon = source_.icon;
        board_.visibility = in_.visibility.value_or(source_.visibility);
        board_.default_view = source_.default_view;
        ids_.add(source_.id, board_.id);
        auto properties = source_.properties.parsed();
        for (PropertyDefinition& each : properties) {
            each.version = 1;
            ids_.add(each.id);
            for (const PropertyOption& option : each.options.parsed()) ids_.add(option.id);
        }
        auto labels = source_.labels.parsed();
        for (Label& each : labels) {
            each.version = 1;
            ids_.add(each.id);
        }
        board_.properties = AsJson(properties);
        board_.labels = AsJson(labels);
        ids_.put_into(board_.properties.text);
        ids_.put_into(board_.labels.text);
        store_new(call_, board_, in_.key);
    }

    void make_columns() {
        std::vector<Uuid> ids;
        for (const ColumnSeen& each : columns_.all()) {
            Column column = each.column;
            ids.push_back(ids_.add(column.id));
            column.card_count = 0;
            column.created_time = column.last_edited_time = board_.created_time;
            column.created_by = column.last_edited_by = board_.created_by;
            column.version = 1;
            new_columns_.push_back({std::move(column), each.order_key});
        }
        for (ColumnSeen& each : new_columns_) {
            Column& column = each.column;
            for (auto* target :
                 {&column.queue.on_complete_column_id, &column.queue.on_exhausted_column_id})
                if (*target) *target = ids_.find(**target);
            column.id = *ids_.find(column.id);
            column.board_id = board_.id;
        }
        board_.column_ids = AsJson(ids);
    }

    void make_cards() {
        for (const Card& each : source_cards_) {
            ids_.add(each.id);
            if (!each.completed_at) open_.insert(each.id);
        }
        for (Card card : source_cards_) {
            const auto there = ids_.find(card.column_id);
            const Column* column = there ? column_at(*there) : nullptr;
            if (!column) throw Again("a column of the board came while it was copied");
            const ColumnRules rules = rules_of(*column);
            card.id = *ids_.find(card.id);
            card.board_id = board_.id;
            card.column_id = column->id;
            const auto number = static_cast<std::int64_t>(rows_.size()) + 1;
            card.key = board_.key + "-" + std::to_string(number);
            ids_.put_into(card.labels.text);
            ids_.put_into(card.properties.text);
            if (card.parent_card_id) card.parent_card_id = ids_.find(*card.parent_card_id);
            link(card);
            if (!bodies_) card.block_count = 0;
            card.has_children = card.block_count > 0;
            card.comment_count = 0;
            enter(card, &rules);
            card.url = url_of(call_.kernel(), card);
            card.created_time = card.last_edited_time = board_.created_time;
            card.created_by = card.last_edited_by = board_.created_by;
            card.version = 1;
            std::string place = card.position.str();
            rows_.push_back({std::move(card), number, std::move(place)});
        }
        board_.card_count = static_cast<std::int64_t>(rows_.size());
    }

    /// Cards wait for those that they waited for, as far as these come along.
    void link(Card& card) {
        std::vector<Uuid> blockers;
        card.blocked = false;
        for (const Uuid& each : card.blocked_by.parsed()) {
            const auto blocker = ids_.find(each);
            if (!blocker) continue;
            blockers.push_back(*blocker);
            links_.push_back({*blocker, card.id, new_uuid()});
            card.blocked |= open_.contains(each);
        }
        card.blocked_by = AsJson(blockers);
    }

    static Event told_of(const Card& card) {
        return created(card_created, card).on_board(card.board_id).in_column(card.column_id);
    }

    void store(const Event& made) {
        Tx& tx = call_.tx();
        const Uuid& org = call_.org();
        tx.queue(insert_counter, org, board_.id, board_.card_count);
        call_.tell(made);
        tx.queue(insert_labels, org, board_.id, board_.labels.text);
        tx.queue(insert_properties, org, board_.id, board_.properties.text);
        for (const ColumnSeen& each : new_columns_) {
            insert(call_, each.column, each.order_key);
            call_.tell(
                created(column_created, each.column).on_board(board_.id).in_column(each.column.id)
            );
        }
        if (!rows_.empty()) store_cards();
    }

    void store_cards() {
        std::string text;
        Json<std::vector<CardRow>>::write(rows_, text);
        call_.tx().queue(insert_cards, call_.org(), board_.id, text);
        call_.tx().queue(insert_assignees, call_.org(), text);
        text.clear();
        Json<std::vector<LinkRow>>::write(links_, text);
        if (!links_.empty())
            call_.tx().queue(insert_links, call_.org(), text, board_.created_by.text);
        std::vector<std::function<void()>> copied;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].card.block_count > 0)
                copied.push_back(bodies_->copy(call_, source_cards_[i].id, rows_[i].card));
        for (const auto& see_to_the_rest : copied) see_to_the_rest();
        follow_files_of_copies();
        CallDoer doer(call_);
        for (const CardRow& each : rows_) {
            const ColumnRules rules = rules_of(*column_at(each.card.column_id));
            const Placing placing{nullptr, each.card, &rules, board_.created_time, doer};
            for (CardWatcher* watcher : moves().watchers()) watcher->made(call_.tx(), placing);
            call_.tell(told_of(each.card));
        }
    }

    void follow_files_of_copies() {
        std::vector<Uuid> with_files;
        for (const CardRow& each : rows_)
            if (has_files(each.card.properties.text)) with_files.push_back(each.card.id);
        follow_files(call_, with_files);
    }

    const Column* column_at(const Uuid& id) const {
        for (const ColumnSeen& each : new_columns_)
            if (each.column.id == id) return &each.column;
        return nullptr;
    }

    Call& call_;
    const DuplicateBoardRequest& in_;
    MayMakeBoards right_;
    Later<Board> found_;
    Later<ColumnSeen> columns_;
    Later<Card> cards_;
    Board source_, board_;
    std::vector<Card> source_cards_;
    std::vector<ColumnSeen> new_columns_;
    std::vector<CardRow> rows_;
    std::vector<LinkRow> links_;
    std::set<Uuid> open_;
    CardBodies* const bodies_ = call_.kernel().find<CardBodies>();
    NewIds ids_;
};

Board duplicate(Call& call, const DuplicateBoardRequest& in) { return Duplicate(call, in).run(); }

}  // namespace

const Operation duplicate_board{
    .name = "duplicate_board",
    .route = "POST /v1/boards/{board_id}:duplicate",
    .summary = "Make a board like another one, with its columns, labels, properties and cards.",
    .description =
        "The new board is yours. Its cards have their bodies, are numbered anew and belong to "
        "nobody's work: no "
        "leases, attempts, grants or share links come along. Archived and trashed cards stay "
        "behind. A board with more than 10,000 cards is copied without them only.",
    .access = Access::board_viewer,
    .status = 201,
    .handler = duplicate,
};

}  // namespace svc::boards
