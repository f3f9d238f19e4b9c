#include "modules/boards/waiting.hpp"

namespace svc::boards {

namespace {

constexpr Sql find_waiting{"boards.find_waiting_for_all", R"(
    WITH turned AS (
        SELECT t.id FROM unnest($2::uuid[]) t (id)
    )
    SELECT c.id, c.board_id, c.column_id, c.title, c.version
    FROM cards c
    WHERE c.org_id = $1
        AND c.id IN (
            SELECT l.target_id
            FROM turned t
            JOIN card_links l ON l.org_id = $1 AND l.card_id = t.id AND l.kind = 'blocks')
        AND c.id NOT IN (SELECT t.id FROM turned t)
        AND card_is_open(c.completed_at, c.is_archived, c.in_trash)
        AND NOT EXISTS (
            SELECT FROM card_links o
            JOIN cards x ON x.org_id = $1 AND x.id = o.card_id
            WHERE o.org_id = $1 AND o.target_id = c.id AND o.kind = 'blocks'
                AND o.card_id NOT IN (SELECT t.id FROM turned t)
                AND card_is_open(x.completed_at, x.is_archived, x.in_trash))
    ORDER BY c.id)"};

}  // namespace

Later<Waiting> waiting_for(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards) {
    return tx.later<Waiting>(find_waiting, org, cards);
}

bool is_open(const Card& card) { return !card.completed_at && !card.is_archived && !card.in_trash; }

void tell_the_waiting(Doer& doer, const std::vector<Waiting>& waiting, Blockers now) {
    const bool blocked = now == Blockers::opened;
    for (const Waiting& each : waiting) {
        Event event;
        event.kind = blocked ? &card_blocked : &card_unblocked;
        event.id = each.id;
        event.version = each.version;
        event.name = each.title;
        event.changes = blocked ? R"({"blocked":true})" : R"({"blocked":false})";
        event.previous = blocked ? R"({"blocked":false})" : R"({"blocked":true})";
        doer.tell(std::move(event).on_board(each.board_id).in_column(each.column_id));
    }
}

}  // namespace svc::boards
