#include "modules/notifications/due.hpp"

#include "modules/boards/api/events.hpp"
#include "svc/workspace_jobs.hpp"

#include <mutex>

namespace svc::notifications {

namespace {

constexpr std::string_view action = "remind_of_due_card";
constexpr std::int64_t boards_at_once = 500, cards_at_once = 500;

constexpr EventKind card_due{
    "card.due",
    "card",
    "A card is due soon: within the hours that `notifications.due_hours` says.",
    &record_of<boards::Card>,
    at::board | at::column | at::card,
    Subject::read
};

// Which cards `c` of a board are due within $3, by the index of due dates; a day stands before the
// instants of that day. Of what is long overdue nobody is told.
#define SVC_IS_DUE                                                                         \
    "NOT c.is_archived"                                                                    \
    " AND c.due_key >= to_char(now() AT TIME ZONE 'UTC' - interval '1 day', 'YYYY-MM-DD')" \
    " AND c.due_key <= to_char(now() AT TIME ZONE 'UTC' + $3::interval,"                   \
    " 'YYYY-MM-DD\"T\"HH24:MI:SS')"                                                        \
    " AND c.completed_at IS NULL AND NOT c.in_trash"

// From board to board by their key. Of the first $5 due cards of a board some have not been told
// of, or there may be others behind.
constexpr Sql find_boards{"notifications.boards_with_due_cards", R"(
    SELECT b.org_id, b.id, NOT b.in_trash AND NOT b.is_archived AND (
        SELECT count(*) = $5 OR count(*) FILTER (WHERE NOT coalesce(
            (SELECT true FROM notification_due_cards t
             WHERE t.org_id = b.org_id AND t.card_id = d.id AND t.due = d.due), false)) > 0
        FROM (
            SELECT c.id, c.due FROM cards c
            WHERE c.org_id = b.org_id AND c.board_id = b.id AND )" SVC_IS_DUE R"(
            ORDER BY c.due_key, c.id
            LIMIT $5
        ) d
    ) AS is_due
    FROM (
        SELECT o.org_id, o.id, o.in_trash, o.is_archived FROM boards o
        WHERE (o.org_id, o.id) > ($1::uuid, $2::uuid)
        ORDER BY o.org_id, o.id
        LIMIT $4
    ) b)"};

// The next $6 behind the card $4, $5, told of or not.
constexpr Sql find_cards{"notifications.due_cards", R"(
    SELECT d.id, d.board_id, d.column_id, d.title, d.due, d.due_key, d.version,
        coalesce((SELECT true FROM notification_due_cards t
            WHERE t.org_id = $1 AND t.card_id = d.id AND t.due = d.due), false) AS is_told
    FROM (
        SELECT c.id, c.board_id, c.column_id, c.title, c.due, c.due_key, c.version FROM cards c
        JOIN boards b ON b.org_id = $1 AND b.id = c.board_id
            AND NOT b.in_trash AND NOT b.is_archived
        WHERE c.org_id = $1 AND c.board_id = $2 AND )" SVC_IS_DUE R"(
            AND (c.due_key, c.id) > ($4::text, $5::uuid)
        ORDER BY c.due_key, c.id
        LIMIT $6
    ) d
    ORDER BY d.due_key, d.id)"};

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
    std::string title, due, due_key;
    std::int64_t version = 0;
    bool is_told = false;
};
SVC_RECORD(CardRow, (id), (board_id), (column_id), (title), (due), (due_key), (version), (is_told));

struct Id {
    Uuid id;
};
SVC_RECORD(Id, (id));

void emit(Actor& actor, const CardRow& card) {
    Event event;
    event.kind = &card_due;
    event.id = card.id;
    event.version = card.version;
    event.name = card.title;
    event.changes = "{\"due\":\"" + card.due + "\"}";
    actor.emit(std::move(event).on_board(card.board_id).in_column(card.column_id).of_card(card.id));
}

/// The cards of the board behind `last`, which moves on. False: they were the last.
bool tell_of_some(
    Tx& tx, Actor& actor, const BoardRow& board, std::chrono::seconds ahead, CardRow& last
) {
    const auto cards = tx.all<CardRow>(
        find_cards, board.org_id, board.id, ahead, last.due_key, last.id, cards_at_once
    );
    std::vector<std::pair<const CardRow*, DeferredRows<Id>>> told;
    for (const CardRow& each : cards)
        if (!each.is_told)
            told.emplace_back(&each, tx.later<Id>(note_told, board.org_id, each.id, each.due));
    for (auto& [card, noted] : told)
        if (noted.one()) emit(actor, *card);
    if (!cards.empty()) last = cards.back();
    return static_cast<std::int64_t>(cards.size()) == cards_at_once;
}

void tell_of(Kernel& kernel, const BoardRow& board, std::chrono::seconds ahead) {
    CardRow last;
    bool more = true;
    while (more && !kernel.stopping()) {
        CardRow reached;
        in_workspace(kernel, board.org_id, action, [&](Tx& tx, Actor& actor) {
            reached = last;
            more = tell_of_some(tx, actor, board, ahead, reached);
        });
        last = reached;
    }
}

/// Goes round all boards. A round that took too long goes on where it stopped, unless another
/// server does.
class DueCards {
public:
    DueCards(Kernel& kernel, std::chrono::seconds ahead) : kernel_(kernel), ahead_(ahead) {}

    JobOutcome look(const JobRun& run) {
        // A run that has lost its lease may not have ended when the next begins.
        const std::lock_guard lock(mutex_);
        for (;;) {
            const auto boards = next_boards();
            for (const BoardRow& each : boards) {
                if (each.is_due) tell_of(kernel_, each, ahead_);
                last_ = each;
                if (kernel_.stopping() || run.should_yield()) return JobOutcome::more;
            }
            if (static_cast<std::int64_t>(boards.size()) == boards_at_once) continue;
            last_ = {};
            return JobOutcome::done;
        }
    }

private:
    std::vector<BoardRow> next_boards() {
        std::vector<BoardRow> boards;
        kernel_.transact(Tx::Mode::read, [&](Tx& tx) {
            tx.set_scope_to_all_orgs();
            boards = tx.all<BoardRow>(
                find_boards, last_.org_id, last_.id, ahead_, boards_at_once, cards_at_once
            );
        });
        return boards;
    }

    Kernel& kernel_;
    const std::chrono::seconds ahead_;
    std::mutex mutex_;
    BoardRow last_;  // of the round; under mutex_
};

}  // namespace

void add_due_cards(Kernel& kernel, std::int64_t hours) {
    kernel.add(card_due);
    kernel.use<Jobs>().add({
        .name = "notifications.due",
        .run = [due = std::make_shared<DueCards>(kernel, std::chrono::hours(hours))](JobRun& run
               ) { return due->look(run); },
        .slice = std::chrono::minutes(10),
        .every = std::chrono::minutes(5),
    });
}

}  // namespace svc::notifications
