// Boards: making another of one. It has the same columns, labels, properties and cards, but nobody
// works on them, and nobody has been let in.

#include "modules/boards/api/board.hpp"
#include "modules/boards/api/column.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/board/copies.hpp"
#include "modules/boards/column/columns.hpp"
#include "modules/boards/operations.hpp"

namespace svc::boards {

namespace {

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
     "Prefix of its cards' keys; derived from the name if left out.",
     matches("[A-Z][A-Z0-9]{1,9}")),
    (visibility, "Who sees it; as the board it is made of if left out."),
    (include_cards, "Its cards as well, but for those that are archived or in the trash.", defaulted
    )
);

// What is copied stays as it is meanwhile; cards may move.
constexpr std::string_view that_board = R"(
    SELECT n.board_id FROM board_counters n
    WHERE n.org_id = $1 AND n.board_id = $5 AND)";
constexpr std::string_view shared = "$5) FOR KEY SHARE OF n";
constexpr Sql share_definitions{
    "boards.share_definitions", SqlText<that_board, if_seen, shared>::view};

constexpr Sql read_columns{"boards.columns_to_copy", R"(
    SELECT v.* FROM column_view v
    WHERE v.org_id = $1 AND v.board_id = $2 AND NOT v.in_trash
    ORDER BY v.order_key, v.id)"};

constexpr Sql insert_counter{"boards.insert_counter_of_copy", R"(
    INSERT INTO board_counters (org_id, board_id) VALUES ($1, $2))"};

// Cards that are made meanwhile come behind those that are copied.
constexpr Sql reserve_numbers{"boards.reserve_numbers_of_copy", R"(
    UPDATE board_counters SET last_number = $3 WHERE org_id = $1 AND board_id = $2)"};

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

struct CopiedBoard {
    Board board;
    std::optional<std::int64_t> cards_to_come;
};
SVC_RECORD(
    CopiedBoard,
    (board, "", flatten),
    (cards_to_come,
     "How many cards are still being copied: they follow by themselves, and `card_count` of "
     "get_board rises as they come. Absent when all are there.",
     omit_empty)
);

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
              BoardCaller::of(call).queue(call.tx(), share_definitions, in.board_id);
              return see_whole_board(call.tx(), BoardCaller::of(call), in.board_id);
          }()),
          columns_(call.tx().later<ColumnAccess>(read_columns, call.org(), in.board_id)) {}

    CopiedBoard run() {
        read();
        make_board();
        make_columns();
        const Event made = created(board_created, board_).on_board(board_.id);
        call_.check(made);
        store(made);
        CopiedBoard copy{board_, std::nullopt};
        if (in_.include_cards) {
            plan_cards();
            CallActor actor(call_);
            Tx& tx = call_.tx();
            const auto rest = copy_next_cards(call_.kernel(), tx, actor, call_.org(), board_.id);
            if (rest > 0) copy.cards_to_come = rest;
            copy.board = see_whole_board(tx, BoardCaller::of(call_), board_.id).one_or_retry();
            copy.board.url = board_.url;
        }
        return copy;
    }

private:
    void read() {
        const auto source = found_.one();
        if (!source || source->in_trash) not_found("board");
        require(source->role, BoardRole::viewer, "board");
        right_.require();
        source_ = *source;
    }

    void plan_cards() {
        const auto count =
            static_cast<std::int64_t>(plan_copies(call_, source_.id, board_.id, ids_).affected());
        if (count > most_copied)
            throw Failure(
                Fault::conflict,
                "The board has more than 10,000 cards; copy it without them, or archive some first."
            )
                .with("reason", "too_many_cards");
        call_.tx().queue(reserve_numbers, call_.org(), board_.id, count);
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
        for (const ColumnAccess& each : columns_.all()) {
            Column column = each.column;
            ids.push_back(ids_.add(column.id));
            column.card_count = 0;
            column.created_time = column.last_edited_time = board_.created_time;
            column.created_by = column.last_edited_by = board_.created_by;
            column.version = 1;
            new_columns_.push_back({std::move(column), each.order_key});
        }
        for (ColumnAccess& each : new_columns_) {
            Column& column = each.column;
            for (auto* target :
                 {&column.queue.on_complete_column_id, &column.queue.on_exhausted_column_id})
                if (*target) *target = ids_.find(**target);
            column.id = *ids_.find(column.id);
            column.board_id = board_.id;
        }
        board_.column_ids = AsJson(ids);
    }

    void store(const Event& made) {
        Tx& tx = call_.tx();
        const Uuid& org = call_.org();
        tx.queue(insert_counter, org, board_.id);
        call_.emit(made);
        tx.queue(insert_labels, org, board_.id, board_.labels.text);
        tx.queue(insert_properties, org, board_.id, board_.properties.text);
        for (const ColumnAccess& each : new_columns_) {
            insert(call_, each.column, each.order_key);
            call_.emit(
                created(column_created, each.column).on_board(board_.id).in_column(each.column.id)
            );
        }
    }

    Call& call_;
    const DuplicateBoardRequest& in_;
    MayMakeBoards right_;
    DeferredRows<Board> found_;
    DeferredRows<ColumnAccess> columns_;
    Board source_, board_;
    std::vector<ColumnAccess> new_columns_;
    NewIds ids_;
};

CopiedBoard duplicate(Call& call, const DuplicateBoardRequest& in) {
    return Duplicate(call, in).run();
}

}  // namespace

const Operation duplicate_board{
    .name = "duplicate_board",
    .route = "POST /v1/boards/{board_id}:duplicate",
    .summary = "Duplicate a board, with its columns, labels, properties and cards.",
    .description =
        "The new board is yours. Its cards have their bodies, get new numbers. Leases, attempts, "
        "grants, share links, and archived and trashed cards are not copied. The first cards, up "
        "to 200 and about 1 MiB, are there with the answer; "
        "the others follow by themselves within seconds, and `cards_to_come` says how many they "
        "are. A board with more than 10,000 cards is copied without them only.",
    .access = Access::board_viewer,
    .status = 201,
    .handler = duplicate,
};

}  // namespace svc::boards
