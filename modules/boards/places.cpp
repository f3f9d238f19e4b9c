// Whether a card may stand in a column, and where.

#include "modules/boards/moves.hpp"
#include "modules/boards/parts/spacing.hpp"

#include <algorithm>

namespace svc::boards {

// ------------------------------------------------------------------------------------- room

bool Destination::full() const {
    return standing && column.wip_limit && *standing >= *column.wip_limit;
}

void Destination::require_room() const {
    if (full()) throw wip_limit_reached(*column.wip_limit, *standing);
}

Failure wip_limit_reached(std::int64_t limit, std::int64_t standing) {
    return Failure(
               Fault::wip_limit,
               "The column takes " + std::to_string(limit) + " cards at a time and has " +
                   std::to_string(standing) + "; wait until one leaves it."
    )
        .with("count", std::to_string(standing))
        .with("limit", std::to_string(limit));
}

Failure external_key_taken(const Uuid& rival) {
    return Failure(Fault::conflict, "Another open card of the board has this external_key.")
        .with("reason", "external_key_taken")
        .with("card_id", rival.str());
}

void enter(Card& card, const ColumnRules* column) {
    card.lease.reset();
    card.queue = {};
    if (column && column->queue_enabled) card.queue.state = QueueState::ready;
}

// ------------------------------------------------------------------------------------- spots

namespace {

// Between the named card and the next with another key; between the two when both are named.
constexpr Sql spot_beside{"boards.spot_beside", R"(
    WITH anchor AS (
        SELECT
            (SELECT position FROM cards
             WHERE org_id = $1 AND column_id = $2 AND id = $4 AND id <> $3
                 AND NOT is_archived AND NOT in_trash) AS below,
            (SELECT position FROM cards
             WHERE org_id = $1 AND column_id = $2 AND id = $5 AND id <> $3
                 AND NOT is_archived AND NOT in_trash) AS above
    )
    SELECT
        CASE WHEN $4::uuid IS NOT NULL THEN a.below ELSE (
            SELECT max(c.position) FROM cards c
            WHERE c.org_id = $1 AND c.column_id = $2 AND c.position < a.above AND c.id <> $3
                AND NOT c.is_archived AND NOT c.in_trash) END AS below,
        CASE WHEN $5::uuid IS NOT NULL THEN a.above ELSE (
            SELECT min(c.position) FROM cards c
            WHERE c.org_id = $1 AND c.column_id = $2 AND c.position > a.below AND c.id <> $3
                AND NOT c.is_archived AND NOT c.in_trash) END AS above,
        ($4 IS NULL OR a.below IS NOT NULL) AND ($5 IS NULL OR a.above IS NOT NULL) AS anchored
    FROM anchor a)"};

}  // namespace

Later<Spot> find_spot(
    Tx& tx, const Uuid& org, const Uuid& column, const Uuid& card, const Anchors& anchors
) {
    return tx.later<Spot>(spot_beside, org, column, card, anchors.after, anchors.before);
}

OrderKey key_at(const Call& call, Later<Spot>& spot, const Anchors& anchors) {
    const char* field = anchors.after ? "after_id" : "before_id";
    const Spot found = spot.must();
    if (!found.anchored) throw wrong_field(call, field, "the column has no such card");
    if (found.below.exists() && found.above.exists() && !(found.below < found.above))
        throw wrong_field(call, field, "before_id stands above after_id, so nothing fits between");
    return OrderKey::between(found.below, found.above, chance());
}

// ---------------------------------------------------------------------------- room for others

namespace {

constexpr Sql near_cards{"boards.near_cards", R"(
    (SELECT id, position, false AS above FROM cards
     WHERE org_id = $1 AND column_id = $2 AND position <= $3
         AND NOT is_archived AND NOT in_trash
     ORDER BY position DESC, id DESC
     LIMIT $4)
    UNION ALL
    (SELECT id, position, true FROM cards
     WHERE org_id = $1 AND column_id = $2 AND position > $3
         AND NOT is_archived AND NOT in_trash
     ORDER BY position, id
     LIMIT $4)
    ORDER BY position, id)"};

constexpr Sql lock_near_cards{"boards.lock_near_cards", R"(
    SELECT id FROM cards
    WHERE org_id = $1 AND column_id = $2 AND id = ANY ($3::uuid[])
        AND NOT is_archived AND NOT in_trash
    FOR NO KEY UPDATE SKIP LOCKED)"};

constexpr Sql space_cards{"boards.space_cards", R"(
    UPDATE cards c SET position = n.position
    FROM unnest($2::uuid[], $3::text[]) n (id, position)
    WHERE c.org_id = $1 AND c.id = n.id)"};

constexpr Siblings cards_of_column{near_cards, &lock_near_cards, space_cards};

// Whoever places a card there shares the column.
constexpr Sql hold_column{"boards.hold_column", R"(
    SELECT id FROM columns WHERE org_id = $1 AND id = $2
    FOR UPDATE SKIP LOCKED)"};

struct HeldColumn {
    Uuid id;
};
SVC_RECORD(HeldColumn, (id, ""));

}  // namespace

void make_room_for_cards(Tx& tx, const Uuid& org, const Uuid& column, const OrderKey& key) {
    if (!key.is_long() || !tx.one<HeldColumn>(hold_column, org, column)) return;
    const auto spaced = make_room(tx, cards_of_column, org, column, key);
    if (spaced.empty()) return;
    for (CardWatcher* watcher : moves().watchers()) watcher->spaced(tx, org, column, spaced);
}

}  // namespace svc::boards
