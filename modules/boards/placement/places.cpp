// Whether a card may stand in a column, and where.

#include "modules/boards/api/shapes.hpp"
#include "modules/boards/placement/moves.hpp"
#include "svc/spacing.hpp"

#include <algorithm>

namespace svc::boards {

// ------------------------------------------------------------------------------------- room

Destination ColumnFound::as(const Uuid& column) const {
    return {
        {column,
         kind.value(),
         wip_limit,
         wip_policy.value(),
         queue_enabled.value(),
         queue_order.value()},
        card_count,
        below,
        key_conflict
    };
}

bool Destination::full() const {
    return card_count && column.wip_limit && *card_count >= *column.wip_limit;
}

void Destination::require_room() const {
    if (full()) throw wip_limit_reached(*column.wip_limit, *card_count);
}

Failure wip_limit_reached(std::int64_t limit, std::int64_t card_count) {
    return Failure(
               Fault::wip_limit,
               "The column is full: its limit of cards is " + std::to_string(limit) +
                   ", and it has " + std::to_string(card_count) + "; wait until one leaves it."
    )
        .with("count", std::to_string(card_count))
        .with("limit", std::to_string(limit));
}

Failure external_key_taken(const Uuid& key_conflict) {
    return Failure(Fault::conflict, "Another open card of the board has this external_key.")
        .with("reason", "external_key_taken")
        .with("card_id", key_conflict.str());
}

void enter(Card& card, const ColumnRules* column) {
    card.lease.reset();
    card.queue = {};
    if (column && column->queue_enabled) card.queue.state = QueueState::ready;
}

// ---------------------------------------------------------------------------- room for others

namespace {

// Archived ones keep their places among the others.
constexpr Sql near_cards{"boards.near_cards", R"(
    (SELECT b.id, b.position, false AS above
     FROM (
         (SELECT id, position FROM cards
          WHERE org_id = $1 AND column_id = $2 AND position <= $3
              AND NOT is_archived AND NOT in_trash
          ORDER BY position DESC, id DESC
          LIMIT $4)
         UNION ALL
         (SELECT id, position FROM cards
          WHERE org_id = $1 AND column_id = $2 AND position <= $3
              AND (is_archived OR in_trash)
          ORDER BY position DESC, id DESC
          LIMIT $4)) b
     ORDER BY b.position DESC, b.id DESC
     LIMIT $4)
    UNION ALL
    (SELECT a.id, a.position, true
     FROM (
         (SELECT id, position FROM cards
          WHERE org_id = $1 AND column_id = $2 AND position > $3
              AND NOT is_archived AND NOT in_trash
          ORDER BY position, id
          LIMIT $4)
         UNION ALL
         (SELECT id, position FROM cards
          WHERE org_id = $1 AND column_id = $2 AND position > $3
              AND (is_archived OR in_trash)
          ORDER BY position, id
          LIMIT $4)) a
     ORDER BY a.position, a.id
     LIMIT $4)
    ORDER BY position, id)"};

constexpr Sql lock_near_cards{"boards.lock_near_cards", R"(
    SELECT id FROM cards
    WHERE org_id = $1 AND column_id = $2 AND id = ANY ($3::uuid[])
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
SVC_RECORD(HeldColumn, (id));

/// Nothing when others are about to place cards in the column.
void part_cards(
    Tx& tx, const MovesImpl& moves, const Uuid& org, const Uuid& column, const OrderKey& around
) {
    if (!tx.one<HeldColumn>(hold_column, org, column)) return;
    const auto parted = svc::make_room(tx, cards_of_column, org, column, around);
    if (parted.empty()) return;
    for (CardWatcher* watcher : moves.watchers()) watcher->spaced(tx, org, column, parted);
}

}  // namespace

void MovesImpl::make_room(Tx& tx, const Uuid& org, const Uuid& column, const OrderKey& key) const {
    if (key.is_long()) part_cards(tx, *this, org, column, key);
}

// -------------------------------------------------------------------------------------- gaps

namespace {

// Between the named card and the next; between the two when both are named.
constexpr Sql gap_beside{"boards.gap_beside", R"(
    WITH live AS NOT MATERIALIZED (
        SELECT c.position, c.id FROM cards c
        WHERE c.org_id = $1 AND c.column_id = $2 AND c.id <> $3
            AND NOT c.is_archived AND NOT c.in_trash
    ), lower AS (
        SELECT l.position, l.id FROM live l WHERE l.id = $4
    ), upper AS (
        SELECT l.position, l.id FROM live l WHERE l.id = $5
    )
    SELECT
        CASE WHEN $4::uuid IS NOT NULL THEN (SELECT position FROM lower) ELSE (
            SELECT l.position FROM live l
            WHERE (l.position, l.id) < (
                (SELECT position FROM upper), (SELECT id FROM upper))
            ORDER BY l.position DESC, l.id DESC LIMIT 1) END AS below,
        CASE WHEN $5::uuid IS NOT NULL THEN (SELECT position FROM upper) ELSE (
            SELECT l.position FROM live l
            WHERE (l.position, l.id) > (
                (SELECT position FROM lower), (SELECT id FROM lower))
            ORDER BY l.position, l.id LIMIT 1) END AS above,
        ($4 IS NULL OR EXISTS (SELECT FROM lower))
            AND ($5 IS NULL OR EXISTS (SELECT FROM upper)) AS anchored)"};

}  // namespace

DeferredRows<Gap> find_gap(
    Tx& tx, const Uuid& org, const Uuid& column, const Uuid& card, const Anchors& anchors
) {
    return tx.later<Gap>(gap_beside, org, column, card, anchors.after, anchors.before);
}

namespace {

Gap require_anchored(const Call& call, const Gap& found, const Anchors& anchors) {
    const char* field = anchors.after ? "after_id" : "before_id";
    if (!found.anchored) throw wrong_field(call, field, "the column has no such card");
    const bool both = found.below.exists() && found.above.exists();
    const bool reversed = both && (found.below > found.above ||
                                   (found.below == found.above && anchors.after && anchors.before &&
                                    *anchors.after >= *anchors.before));
    if (reversed)
        throw wrong_field(call, field, "before_id stands above after_id, so nothing fits between");
    return found;
}

bool is_tied(const Gap& gap) { return gap.below.exists() && gap.below == gap.above; }

}  // namespace

OrderKey key_at(
    Call& call, DeferredRows<Gap>& gap, const Uuid& column, const Uuid& card, const Anchors& anchors
) {
    Gap found = require_anchored(call, gap.one_or_retry(), anchors);
    if (is_tied(found)) {
        part_cards(call.tx(), MovesImpl::of(call.kernel()), call.org(), column, found.below);
        found = find_gap(call.tx(), call.org(), column, card, anchors).one_or_retry();
        // Others are placing cards there: it goes among the tied, whose order their ids decide.
        if (is_tied(require_anchored(call, found, anchors))) return found.below;
    }
    // Those at the end follow the clock, as those do that are created there without a look at them.
    if (!found.above.exists()) return OrderKey::last_by_time(random_bits(), found.below);
    return OrderKey::between(found.below, found.above, random_bits());
}

}  // namespace svc::boards
