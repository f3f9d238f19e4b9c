#include "modules/boards/link/waiting.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/placement/moves.hpp"

namespace svc::boards {

namespace {

// OFFSET 0 keeps the planner from joining otherwise than card by card: of ten thousand it may know
// of one.
constexpr Sql find_waiting{"boards.find_waiting_for_all", R"(
    WITH turned AS (
        SELECT t.id, t.number FROM unnest($2::uuid[]) WITH ORDINALITY t (id, number)
    )
    SELECT c.id, c.board_id, c.column_id, c.title, c.version, w.blocker_id
    FROM (
        SELECT DISTINCT ON (l.target_id) l.target_id AS id, t.id AS blocker_id
        FROM turned t
        CROSS JOIN LATERAL (
            SELECT k.target_id FROM card_links k
            WHERE k.org_id = $1 AND k.card_id = t.id AND k.kind = 'blocks'
            OFFSET 0
        ) l
        ORDER BY l.target_id, t.number DESC
    ) w
    CROSS JOIN LATERAL (
        SELECT k.id, k.board_id, k.column_id, k.title, k.version FROM cards k
        WHERE k.org_id = $1 AND k.id = w.id
            AND card_is_open(k.completed_at, k.is_archived, k.in_trash)
        OFFSET 0
    ) c
    WHERE c.id NOT IN (SELECT t.id FROM turned t)
        AND NOT EXISTS (
            SELECT FROM card_links o
            CROSS JOIN LATERAL (
                SELECT FROM cards k
                WHERE k.org_id = $1 AND k.id = o.card_id
                    AND card_is_open(k.completed_at, k.is_archived, k.in_trash)
                OFFSET 0
            ) x
            WHERE o.org_id = $1 AND o.target_id = c.id AND o.kind = 'blocks'
                AND o.card_id NOT IN (SELECT t.id FROM turned t)
            OFFSET 0)
    ORDER BY c.id)"};

}  // namespace

DeferredRows<Waiting> waiting_for(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards) {
    return tx.later<Waiting>(find_waiting, org, cards);
}

bool is_open(const Card& card) { return !card.completed_at && !card.is_archived && !card.in_trash; }

void tell_waiting(
    Tx& tx,
    const MovesImpl& moves,
    Actor& actor,
    const Uuid& org,
    const std::vector<Waiting>& waiting,
    Blockers now
) {
    const bool blocked = now == Blockers::opened;
    std::vector<CardPlace> places;
    for (const Waiting& each : waiting) {
        Event event;
        event.kind = blocked ? &card_blocked : &card_unblocked;
        event.id = each.id;
        event.version = each.version;
        event.name = each.title;
        event.because_of = each.blocker_id;
        event.changes = blocked ? R"({"blocked":true})" : R"({"blocked":false})";
        event.previous = blocked ? R"({"blocked":false})" : R"({"blocked":true})";
        actor.emit(std::move(event).on_board(each.board_id).in_column(each.column_id));
        places.push_back({each.id, each.column_id});
    }
    moves.blockers_changed(tx, actor, org, places);
}

}  // namespace svc::boards
