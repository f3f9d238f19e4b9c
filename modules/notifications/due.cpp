#include "modules/notifications/due.hpp"

#include "modules/boards/api/events.hpp"
#include "svc/workspace_jobs.hpp"

namespace svc::notifications {

namespace {

constexpr std::string_view action = "remind_of_due_card";
constexpr std::int64_t boards_at_once = 500, cards_at_once = 200;

constexpr EventKind card_due{
    "card.due",
    "card",
    "A card is due soon: within the hours that `notifications.due_hours` says.",
    &record_of<boards::Card>,
    at::board | at::column | at::card,
    Subject::read
};

// The cards `c` of a board that are due within $3, by the index of due dates; a day stands before
// the instants of that day. Of what is long overdue nobody is told.
#define SVC_DUE_CARDS                                                                      \
    "NOT c.is_archived"                                                                    \
    " AND c.due_key >= to_char(now() AT TIME ZONE 'UTC' - interval '1 day', 'YYYY-MM-DD')" \
    " AND c.due_key <= to_char(now() AT TIME ZONE 'UTC' + $3::interval,"                   \
    " 'YYYY-MM-DD\"T\"HH24:MI:SS')"                                                        \
    " AND c.completed_at IS NULL AND NOT c.in_trash"                                       \
    " ORDER BY c.due_key"                                                                  \
    " LIMIT 1000"

// From board to board by their key.
constexpr Sql find_boards{"notifications.boards_with_due_cards", R"(
    SELECT b.org_id, b.id, NOT b.in_trash AND NOT b.is_archived AND EXISTS (
        SELECT FROM (
            SELECT c.id, c.due FROM cards c
            WHERE c.org_id = b.org_id AND c.board_id = b.id AND )" SVC_DUE_CARDS R"(
        ) d
        WHERE NOT coalesce((SELECT true FROM notification_due_cards t
            WHERE t.org_id = b.org_id AND t.card_id = d.id AND t.due = d.due), false)
    ) AS is_due
    FROM (
        SELECT o.org_id, o.id, o.in_trash, o.is_archived FROM boards o
        WHERE (o.org_id, o.id) > ($1::uuid, $2::uuid)
        ORDER BY o.org_id, o.id
        LIMIT $4
    ) b)"};

constexpr Sql find_cards{"notifications.due_cards", R"(
    SELECT d.id, d.board_id, d.column_id, d.title, d.due, d.version
    FROM (
        SELECT c.id, c.board_id, c.column_id, c.title, c.due, c.version FROM cards c
        JOIN boards b ON b.org_id = $1 AND b.id = c.board_id
            AND NOT b.in_trash AND NOT b.is_archived
        WHERE c.org_id = $1 AND c.board_id = $2 AND )" SVC_DUE_CARDS R"(
    ) d
    WHERE NOT coalesce((SELECT true FROM notification_due_cards t
        WHERE t.org_id = $1 AND t.card_id = d.id AND t.due = d.due), false)
    LIMIT $4)"};

// Nothing when another server has told of it.
constexpr Sql note_told{"notifications.note_due_card", R"(
    INSERT INTO notification_due_cards AS t (org_id, card_id, due)
    SELECT $1, c.id, $3 FROM cards c WHERE c.org_id = $1 AND c.id = $2
    ON CONFLICT (org_id, card_id) DO UPDATE SET due = excluded.due WHERE t.due <> excluded.due
    RETURNING t.card_id AS id)"};

struct BoardRow {
    Uuid org_id, id;
    bool is_due = false;
};
SVC_RECORD(BoardRow, (org_id), (id), (is_due));

struct CardRow {
    Uuid id, board_id, column_id;
    std::string title, due;
    std::int64_t version = 0;
};
SVC_RECORD(CardRow, (id), (board_id), (column_id), (title), (due), (version));

struct Id {
    Uuid id;
};
SVC_RECORD(Id, (id));

void tell_of(Tx& tx, Actor& actor, const BoardRow& board, std::chrono::seconds ahead) {
    const auto cards = tx.all<CardRow>(find_cards, board.org_id, board.id, ahead, cards_at_once);
    std::vector<DeferredRows<Id>> told;
    for (const CardRow& each : cards)
        told.push_back(tx.later<Id>(note_told, board.org_id, each.id, each.due));
    for (std::size_t i = 0; i < cards.size(); ++i) {
        if (!told[i].one()) continue;
        const CardRow& card = cards[i];
        Event event;
        event.kind = &card_due;
        event.id = card.id;
        event.version = card.version;
        event.name = card.title;
        event.changes = "{\"due\":\"" + card.due + "\"}";
        actor.emit(
            std::move(event).on_board(card.board_id).in_column(card.column_id).of_card(card.id)
        );
    }
}

JobOutcome look(Kernel& kernel, JobRun& run, std::chrono::seconds ahead) {
    std::vector<BoardRow> boards;
    BoardRow last;
    do {
        kernel.transact(Tx::Mode::read, [&](Tx& tx) {
            tx.set_scope_to_all_orgs();
            boards = tx.all<BoardRow>(find_boards, last.org_id, last.id, ahead, boards_at_once);
        });
        for (const BoardRow& each : boards)
            if (each.is_due)
                in_workspace(kernel, each.org_id, action, [&](Tx& tx, Actor& actor) {
                    tell_of(tx, actor, each, ahead);
                });
        if (!boards.empty()) last = boards.back();
        if (kernel.stopping() || run.should_yield()) break;
    } while (static_cast<std::int64_t>(boards.size()) == boards_at_once);
    return JobOutcome::done;
}

}  // namespace

void add_due_cards(Kernel& kernel, std::int64_t hours) {
    kernel.add(card_due);
    kernel.use<Jobs>().add({
        .name = "notifications.due",
        .run = [&kernel, ahead = std::chrono::hours(hours)](JobRun& run
               ) { return look(kernel, run, ahead); },
        .slice = std::chrono::minutes(10),
        .every = std::chrono::minutes(5),
    });
}

}  // namespace svc::notifications
