#include "modules/queue/watcher.hpp"
#include "modules/boards/api/blockers.hpp"
#include "modules/boards/api/column.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/queue/card_events.hpp"
#include "modules/queue/holder_request.hpp"

#include "modules/queue/lib/token.hpp"
#include "svc/param_table.hpp"

#include <map>

namespace svc::queue {

namespace {

constexpr Sql place_row{"queue.place_row", R"(
    UPDATE queue SET place = $3 WHERE org_id = $1 AND card_id = $2)"};

// As key_of() does, by the rule of the column the card is queued in.
constexpr Sql reorder_row{"queue.reorder_row", R"(
    UPDATE queue q
    SET urgency = CASE k.queue_order WHEN 'priority' THEN $3::smallint
            WHEN 'due' THEN $5::smallint ELSE q.urgency END,
        place = CASE k.queue_order WHEN 'priority' THEN $4::text
            WHEN 'due' THEN $6::text ELSE q.place END
    FROM columns k
    WHERE q.org_id = $1 AND q.card_id = $2 AND k.org_id = $1 AND k.id = q.column_id)"};

// As key_of() does, by the rule of the column that each card was created in.
constexpr Sql enter_new{"queue.enter_new", R"(
    INSERT INTO queue (org_id, card_id, board_id, column_id, blocked, state, urgency, place)
    SELECT $1, c.id, c.board_id, k.id, ($7::boolean[])[i.n] AND c.completed_at IS NULL, 'ready',
        CASE k.queue_order WHEN 'priority' THEN ($3::smallint[])[i.n]
            WHEN 'due' THEN ($5::smallint[])[i.n] ELSE 0 END,
        CASE k.queue_order WHEN 'priority' THEN ($4::text[])[i.n]
            WHEN 'due' THEN ($6::text[])[i.n] ELSE )" SVC_PLACE_AT("now()") R"( END
    FROM generate_series(1, cardinality($2::uuid[])) i (n)
    CROSS JOIN LATERAL (
        SELECT o.id, o.board_id, o.column_id, o.completed_at FROM cards o
        WHERE o.org_id = $1 AND o.id = ($2::uuid[])[i.n]
        OFFSET 0
    ) c
    CROSS JOIN LATERAL (
        SELECT o.id, o.queue_order FROM columns o
        WHERE o.org_id = $1 AND o.id = c.column_id AND o.queue_enabled
        OFFSET 0
    ) k)"};

// Under fifo nobody knows any more since when a card has been here, so the oldest go first.
constexpr Sql reorder_queue{"queue.reorder_queue", R"(
    UPDATE queue q
    SET urgency = CASE $3 WHEN 'priority' THEN
                array_position(ARRAY['urgent', 'high', 'medium', 'low', 'none'], c.priority) - 1
            WHEN 'due' THEN (c.due IS NULL)::int ELSE 0 END,
        place = CASE $3 WHEN 'priority' THEN c.position
            WHEN 'due' THEN coalesce(c.due, c.position)
            ELSE )" SVC_PLACE_AT("c.created_time") R"( END
    FROM cards c
    WHERE q.org_id = $1 AND q.column_id = $2 AND q.state <> 'idle'
        AND c.org_id = $1 AND c.id = q.card_id)"};

constexpr Sql follow_keys{"queue.follow_keys", R"(
    UPDATE queue q
    SET place = c.position
    FROM cards c, columns k
    WHERE q.org_id = $1 AND q.card_id = ANY ($2::uuid[]) AND q.state <> 'idle'
        AND c.org_id = $1 AND c.id = q.card_id AND k.org_id = $1 AND k.id = q.column_id
        AND (k.queue_order = 'priority' OR k.queue_order = 'due' AND c.due IS NULL))"};

// In the order of the cards, as all lock who lock rows of several.
constexpr Sql see_blockers{"queue.see_blockers", R"(
    UPDATE queue q
    SET blocked = NOT q.blocked
    WHERE q.org_id = $1 AND q.card_id = ANY (ARRAY(
            SELECT r.card_id FROM queue r
            WHERE r.org_id = $1 AND r.card_id = ANY ($2::uuid[]) AND r.state <> 'idle'
            ORDER BY r.card_id
            FOR UPDATE))
        AND q.blocked <> (
            EXISTS (
                SELECT FROM cards c
                WHERE c.org_id = $1 AND c.id = q.card_id
                    AND card_is_open(c.completed_at, c.is_archived, c.in_trash)
                OFFSET 0)
            AND )" SVC_HAS_OPEN_BLOCKER("q.card_id") R"())"};

/// The card's keys, of which a statement takes the one by the rule of the column it finds it in.
template <class Add>
void with_keys(const boards::Card& card, Add add) {
    const Timestamp no_time{};
    const QueueKey by_priority = key_of(boards::QueueOrder::priority, card, no_time);
    const QueueKey by_due = key_of(boards::QueueOrder::due, card, no_time);
    add(by_priority.urgency, by_priority.place, by_due.urgency, by_due.place);
}

class Watcher final : public boards::CardWatcher {
public:
    explicit Watcher(Kernel& kernel) : kernel_(kernel) {}

    Placed about_to_place(Tx& tx, const boards::BoardCaller& caller, const Uuid& card) override {
        return [this, &tx, later = lock_held(tx, caller, std::vector{card})](
                   const boards::Placing& placing
               ) mutable {
            const auto held = later.one();
            const boards::Card& before = *placing.before;
            const bool stays = before.column_id == placing.after.column_id && !before.is_archived &&
                               !before.in_trash && placing.column;
            if (stays) return keep_in_place(tx, placing, held);
            change_place(tx, placing, held);
            make_room(placing);
        };
    }

    PlacedAll about_to_place(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards) override {
        return [this, &tx, org, later = lock_held(tx, org, cards)](
                   std::span<const boards::Placing> placings
               ) mutable {
            std::map<Uuid, QueueRow> rows;
            for (QueueRow& each : later.all()) rows.emplace(each.card_id, std::move(each));
            std::vector<boards::Placing> entering;
            std::vector<Uuid> leaving;
            for (const boards::Placing& each : placings) {
                make_room(each);
                const auto row = rows.find(each.after.id);
                const QueueRow* held = row == rows.end() ? nullptr : &row->second;
                if (held && held->lease_id) revoke(tx, each, *held);
                else if (each.column && each.column->queue_enabled) entering.push_back(each);
                else if (held && held->state != boards::QueueState::idle)
                    leaving.push_back(each.after.id);
            }
            enter_all(tx, entering);
            take_out(tx, org, leaving);
        };
    }

    void creating(Tx& tx, const std::vector<const boards::Card*>& cards) override {
        std::vector<Uuid> ids;
        ParamTable table;
        for (const boards::Card* each : cards) {
            ids.push_back(each->id);
            with_keys(*each, [&](const auto&... key) { table.add(key..., each->blocked); });
        }
        tx.queue(enter_new, cards.front()->org_id, ids, std::move(table).columns());
    }

    void created(const boards::Placing& placing) override {
        if (!placing.column || !placing.column->queue_enabled) return;
        placing.actor.after_commit([this, column = placing.column->column_id] {
            wake(kernel_, column);
        });
    }

    void blockers_changed(
        Tx& tx, Actor& actor, const Uuid& org, const std::vector<boards::CardPlace>& cards
    ) override {
        std::vector<Uuid> ids;
        for (const boards::CardPlace& each : cards) ids.push_back(each.card);
        tx.queue(see_blockers, org, ids);
        // Of a copied board no event says so.
        actor.after_commit([this, cards] {
            for (const boards::CardPlace& each : cards) wake_everywhere(kernel_, each.column);
        });
    }

    void reordered(Tx& tx, const boards::Card& card) override {
        with_keys(card, [&](const auto&... key) {
            tx.queue(reorder_row, card.org_id, card.id, key...);
        });
        reset_hints(tx, card.column_id);
    }

    void reordered(Tx& tx, const boards::Column& column) override {
        tx.queue(reorder_queue, column.org_id, column.id, column.queue.order);
        reset_hints(tx, column.id);
    }

    void spaced(Tx& tx, const Uuid& org, const Uuid& column, const std::vector<Uuid>& cards)
        override {
        tx.queue(follow_keys, org, cards);
        reset_hints(tx, column);
    }

private:
    /// Before it is committed a claim could note anew what it found by the keys of before.
    void reset_hints(Tx& tx, const Uuid& column) {
        tx.after_commit([this, column] { kernel_.use<Hints>().reset(column); });
    }

    void enter(Tx& tx, const boards::Placing& placing) {
        const QueueKey key = key_of(placing.column->queue_order, placing.after, placing.now);
        queue_up(tx, placing.after, key);
        placing.actor.after_commit([this, column = placing.column->column_id] {
            wake(kernel_, column);
        });
    }

    void enter_all(Tx& tx, const std::vector<boards::Placing>& placings) {
        if (placings.empty()) return;
        std::vector<const boards::Card*> cards;
        std::vector<QueueKey> keys;
        std::vector<Uuid> ids;
        const boards::Placing& any = placings.front();
        for (const boards::Placing& each : placings) {
            cards.push_back(&each.after);
            ids.push_back(each.after.id);
            keys.push_back(key_of(any.column->queue_order, each.after, each.now));
        }
        queue_up(tx, cards, keys);
        // The same change may have completed or opened these cards, and those they wait for.
        tx.queue(see_blockers, any.after.org_id, ids);
        any.actor.after_commit([this, column = any.column->column_id, count = cards.size()] {
            for (std::size_t i = 0; i < count; ++i) wake(kernel_, column);
        });
    }

    /// Moved up or down its column: others get to it sooner or later, its holder keeps it.
    void keep_in_place(
        Tx& tx, const boards::Placing& placing, const std::optional<QueueRow>& held
    ) {
        if (!held || held->state == boards::QueueState::idle) return;
        if (placing.column->queue_order == boards::QueueOrder::fifo) return;
        const QueueKey key = key_of(placing.column->queue_order, placing.after, placing.now);
        tx.queue(place_row, placing.after.org_id, placing.after.id, key.place);
        placing.actor.after_commit([this, column = placing.after.column_id] {
            kernel_.use<Hints>().reset(column);
        });
    }

    void change_place(Tx& tx, const boards::Placing& placing, const std::optional<QueueRow>& held) {
        if (held && held->lease_id) revoke(tx, placing, *held);
        else if (placing.column && placing.column->queue_enabled) enter(tx, placing);
        else if (held && held->state != boards::QueueState::idle)
            stand(kernel_, tx, placing.actor, placing.after.org_id, *held, {});
    }

    /// The column that it leaves may take one more, for which a claim may wait.
    void make_room(const boards::Placing& placing) {
        const boards::Card* before = placing.before;
        if (!before || before->is_archived || before->in_trash) return;
        placing.actor.after_commit([this, column = before->column_id] {
            wake_for_room(kernel_, column);
        });
    }

    /// Somebody takes the card elsewhere from under its worker.
    void revoke(Tx& tx, const boards::Placing& placing, const QueueRow& held) {
        const auto [card, standing] =
            settled_in(placing.after, placing.column, placing.now, std::nullopt);
        const Lease after = ended(lease_of(card.org_id, held), LeaseState::revoked, held.now);
        end_leases(
            kernel_, tx, placing.actor, card.org_id, {{&lease_revoked, after, held, standing}}
        );
    }

    Kernel& kernel_;
};

}  // namespace

std::unique_ptr<boards::CardWatcher> make_watcher(Kernel& kernel) {
    return std::make_unique<Watcher>(kernel);
}

Settled settled_in(
    boards::Card card,
    const boards::ColumnRules* column,
    const Timestamp& now,
    const std::optional<std::string>& last_error
) {
    card.lease.reset();
    card.queue = {};
    if (!column || !column->queue_enabled) {
        card.queue.last_error = last_error;
        return {card, {card.queue}};
    }
    card.queue.state = boards::QueueState::ready;
    const QueueKey key = key_of(column->queue_order, card, now);
    return {card, {card.queue, Standing::Entered{card.column_id, key, now}}};
}

Settled settle(
    Actor& actor, boards::Move& move, const QueueRow& held, const boards::CardQueue& standing
) {
    const boards::Card before = *move.card();
    const bool exhausted = standing.state == boards::QueueState::exhausted;
    Settled settled{before, {standing}};
    if (exhausted && move.to() && !move.full()) {
        settled = settled_in(move.carry_out(actor), move.to(), held.now, standing.last_error);
    } else {
        settled.card.lease.reset();
        settled.card.queue = standing;
    }
    const boards::Card& after = settled.card;
    if (exhausted)
        actor.emit(changed(card_exhausted, before, after)
                       .on_board(after.board_id)
                       .in_column(after.column_id));
    return settled;
}

namespace {

/// A card may be ready behind it.
bool may_ready(std::string_view kind) {
    for (const EventKind* each :
         {&boards::card_created,
          &boards::card_moved,
          &boards::card_restored,
          &boards::card_unblocked,
          &boards::column_updated,
          &lease_failed,
          &lease_expired,
          &lease_released,
          &lease_revoked,
          &card_requeued})
        if (kind == each->name) return true;
    return false;
}

}  // namespace

void wake_for_others(Kernel& kernel, std::span<const StoredEvent> batch) {
    for (const StoredEvent& each : batch) {
        // The number of leases may have been raised.
        if (each.kind == "agent.updated") kernel.wake_one(slot_of(each.object_id));
        // Its columns may be in another order.
        if (each.object == "column" && each.board_id) kernel.wake(turns_of(*each.board_id));
        if (!each.column_id) continue;
        if (may_ready(each.kind)) wake(kernel, *each.column_id);
        const bool lease_ended = each.object == "lease" && each.kind != lease_claimed.name;
        if (!lease_ended && each.kind != boards::column_updated.name) continue;
        kernel.wake_one(slot_of(*each.column_id));
        kernel.wake_one(room_in(*each.column_id));
    }
}

namespace {

// QueueRow against whoever would end the lease, until the write is done; by whoever has its token.
constexpr Sql see_lease{"queue.named_lease", R"(
    SELECT lease_id FROM queue
    WHERE org_id = $1 AND card_id = $2 AND lease_digest = decode($3, 'hex')
        AND lease_id IS NOT NULL
    FOR SHARE)"};

}  // namespace

Verdict check_named_lease(Call& call, const Event&) {
    const auto named = call.named_lease();
    if (const auto token = LeaseToken::parse(named)) {
        auto held = call.tx().queue(see_lease, call.org(), token->card(), token->digest());
        if (held.rows() > 0 || call.note<EndedHere>().tokens.contains(named)) return allow;
        if (const auto over = outcome_of(call.tx(), call.org(), *token))
            lease_is_over(over->lease.state);
    }
    return Refusal{
        "lease_lost",
        "The lease by which this was to be done is over. Leave the card alone; somebody else may "
        "have it."
    };
}

}  // namespace svc::queue
