#include "modules/queue/watcher.hpp"
#include "modules/boards/api/column.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/queue/card_events.hpp"

#include "modules/queue/lib/token.hpp"
#include "svc/event_row.hpp"

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

// As key_of() does, by the rule of the column that the card was created in.
constexpr Sql enter_new{"queue.enter_new", R"(
    INSERT INTO queue (org_id, card_id, board_id, column_id, state, urgency, place)
    SELECT $1, c.id, c.board_id, k.id, 'ready',
        CASE k.queue_order WHEN 'priority' THEN $3::smallint WHEN 'due' THEN $5::smallint
            ELSE 0 END,
        CASE k.queue_order WHEN 'priority' THEN $4::text WHEN 'due' THEN $6::text
            ELSE )" SVC_TIME_TEXT("now()") R"( END
    FROM cards c
    CROSS JOIN LATERAL (
        SELECT o.id, o.queue_order FROM columns o
        WHERE o.org_id = $1 AND o.id = c.column_id AND o.queue_enabled
        OFFSET 0
    ) k
    WHERE c.org_id = $1 AND c.id = $2)"};

// Under fifo nobody knows any more since when a card has been here, so the oldest go first.
constexpr Sql reorder_queue{"queue.reorder_queue", R"(
    UPDATE queue q
    SET urgency = CASE $3 WHEN 'priority' THEN
                array_position(ARRAY['urgent', 'high', 'medium', 'low', 'none'], c.priority) - 1
            WHEN 'due' THEN (c.due IS NULL)::int ELSE 0 END,
        place = CASE $3 WHEN 'priority' THEN c.position
            WHEN 'due' THEN coalesce(c.due, c.position)
            ELSE to_char(
                c.created_time AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') END
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

/// A statement that picks the key by the rule of the column it finds the card in.
void queue_by_rule(Tx& tx, const Sql& sql, const boards::Card& card) {
    const Timestamp no_time{};
    const QueueKey by_priority = key_of(boards::QueueOrder::priority, card, no_time);
    const QueueKey by_due = key_of(boards::QueueOrder::due, card, no_time);
    tx.queue(
        sql,
        card.org_id,
        card.id,
        by_priority.urgency,
        by_priority.place,
        by_due.urgency,
        by_due.place
    );
}

class Watcher final : public boards::CardWatcher {
public:
    explicit Watcher(Kernel& kernel) : kernel_(kernel) {}

    Placed about_to_place(Tx& tx, const boards::BoardCaller& caller, const Uuid& card) override {
        return [this, &tx, later = lock_held(tx, caller, card)](const boards::Placing& placing
               ) mutable {
            const auto held = later.one();
            const boards::Card& before = *placing.before;
            const bool stays = before.column_id == placing.after.column_id && !before.is_archived &&
                               !before.in_trash && placing.column;
            if (stays) keep_in_place(tx, placing, held);
            else change_place(tx, placing, held);
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
            std::vector<Event> revoked;
            for (const boards::Placing& each : placings) {
                const auto row = rows.find(each.after.id);
                const QueueRow* held = row == rows.end() ? nullptr : &row->second;
                if (held && held->lease_id) revoked.push_back(end_lease(tx, each, *held));
                if (each.column && each.column->queue_enabled) entering.push_back(each);
                else if (held && held->state != boards::QueueState::idle)
                    leaving.push_back(each.after.id);
            }
            if (!placings.empty()) placings.front().actor.emit_all(revoked);
            enter_all(tx, entering);
            take_out(tx, org, leaving);
        };
    }

    void creating(Tx& tx, const boards::Card& card) override { queue_by_rule(tx, enter_new, card); }

    void created(const boards::Placing& placing) override {
        if (!placing.column || !placing.column->queue_enabled) return;
        placing.actor.after_commit([this, column = placing.column->column_id] {
            wake(kernel_, column);
        });
    }

    void reordered(Tx& tx, const boards::Card& card) override {
        queue_by_rule(tx, reorder_row, card);
        kernel_.use<Hints>().reset(card.column_id);
    }

    void reordered(Tx& tx, const boards::Column& column) override {
        tx.queue(reorder_queue, column.org_id, column.id, column.queue.order);
        kernel_.use<Hints>().reset(column.id);
    }

    void spaced(Tx& tx, const Uuid& org, const Uuid& column, const std::vector<Uuid>& cards)
        override {
        tx.queue(follow_keys, org, cards);
        kernel_.use<Hints>().reset(column);
    }

private:
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
        const boards::Placing& any = placings.front();
        for (const boards::Placing& each : placings) {
            cards.push_back(&each.after);
            keys.push_back(key_of(any.column->queue_order, each.after, each.now));
        }
        queue_up(tx, cards, keys);
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
        if (held && held->lease_id) placing.actor.emit(end_lease(tx, placing, *held));
        if (placing.column && placing.column->queue_enabled) enter(tx, placing);
        else if (held && held->state != boards::QueueState::idle)
            take_out(tx, placing.after.org_id, placing.after.id, std::nullopt);
    }

    /// Somebody took the card elsewhere from under its worker.
    static Event end_lease(Tx& tx, const boards::Placing& placing, const QueueRow& held) {
        const Lease before = lease_of(placing.after.org_id, held);
        const Lease after = ended(before, LeaseState::revoked, held.now);
        keep_outcome(tx, after, *held.lease_digest);
        return event_of(lease_revoked, after, &before);
    }

    Kernel& kernel_;
};

}  // namespace

std::unique_ptr<boards::CardWatcher> make_watcher(Kernel& kernel) {
    return std::make_unique<Watcher>(kernel);
}

boards::Card finish_lease(
    Kernel& kernel,
    Tx& tx,
    Actor& actor,
    boards::Move& move,
    const QueueRow& held,
    const boards::CardQueue& standing
) {
    const boards::Card before = *move.card();
    boards::Card card = before;
    const bool exhausted = standing.state == boards::QueueState::exhausted;
    if (exhausted && move.to() && !move.full()) {
        card = move.carry_out(actor);
        card.queue = {};
        if (move.to()->queue_enabled) {
            card.queue.state = boards::QueueState::ready;
            queue_up(tx, card, key_of(move.to()->queue_order, card, held.now));
            actor.after_commit([&kernel, column = card.column_id] { wake(kernel, column); });
        } else {
            card.queue.last_error = standing.last_error;
            take_out(tx, card.org_id, card.id, standing.last_error);
        }
    } else {
        card.queue = standing;
        put_back(tx, card.org_id, card.id, standing);
        if (standing.state == boards::QueueState::ready)
            actor.after_commit([&kernel, column = card.column_id] { wake(kernel, column); });
    }
    card.lease.reset();
    if (exhausted)
        actor.emit(
            changed(card_exhausted, before, card).on_board(card.board_id).in_column(card.column_id)
        );
    return card;
}

namespace {

/// A card may be ready behind it.
bool may_ready(std::string_view kind) {
    for (const EventKind* each :
         {&boards::card_created,
          &boards::card_moved,
          &boards::card_restored,
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
    for (const StoredEvent& each : batch)
        if (each.column_id && may_ready(each.kind)) wake(kernel, *each.column_id);
}

namespace {

// QueueRow against whoever would end the lease, until the write is done; by whoever has its token.
constexpr Sql see_lease{"queue.named_lease", R"(
    SELECT lease_id FROM queue
    WHERE org_id = $1 AND card_id = $2 AND lease_digest = decode($3, 'hex')
        AND lease_id IS NOT NULL
    FOR SHARE)"};

std::string_view named_lease(const Call& call) {
    return call.request() ? call.request()->header("x-svc-lease") : std::string_view();
}

}  // namespace

bool names_lease(const Call& call) { return !named_lease(call).empty(); }

Verdict check_named_lease(Call& call, const Event&) {
    const auto named = named_lease(call);
    if (const auto token = LeaseToken::parse(named)) {
        auto held = call.tx().queue(see_lease, call.org(), token->card(), token->digest());
        if (held.rows() > 0) return allow;
    }
    return Refusal{
        "lease_lost",
        "The lease that X-Svc-Lease names is over. Leave the card alone; somebody else may have "
        "it."};
}

}  // namespace svc::queue
