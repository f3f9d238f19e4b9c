#include "modules/queue/lib/rows.hpp"
#include "modules/boards/api/shapes.hpp"
#include "svc/actor.hpp"
#include "svc/bus.hpp"
#include "svc/param_table.hpp"

#include <algorithm>

namespace svc::queue {

namespace {

// Looked up by key, one after the other: asked for those of a list in order, a plan from when the
// table was small goes through all of the workspace's.
constexpr std::string_view row_and_holder = R"(
    SELECT )" SVC_QUEUE_ROW ", " SVC_HOLDER("q");
constexpr std::string_view row_and_caller = R"(
    SELECT )" SVC_QUEUE_ROW ", " SVC_HOLDER_OR_CALLER("q");
constexpr std::string_view of_rows = R"(
    FROM (SELECT n.id FROM unnest()";
constexpr std::string_view in_order = R"(::uuid[]) n (id) ORDER BY n.id OFFSET 0) w
    CROSS JOIN LATERAL (
        SELECT h.* FROM queue h
        WHERE h.org_id = $1 AND h.card_id = w.id)";
constexpr std::string_view with_columns = R"(
        OFFSET 0
        FOR UPDATE
    ) q
    CROSS JOIN LATERAL (
        SELECT o.queue_order, o.max_attempts, o.backoff_seconds, o.backoff_max_seconds,
            o.max_in_flight, o.queue_paused
        FROM columns o
        WHERE o.org_id = $1 AND o.id = q.column_id
        OFFSET 0
    ) k)";
constexpr std::string_view of_those = "$5";
constexpr std::string_view and_if = " AND";
constexpr std::string_view for_whom = "h.board_id)";
constexpr std::string_view of_cards = "$2";
constexpr Sql lock_held_rows{
    "queue.lock_held",
    SqlText<
        row_and_caller,
        of_rows,
        of_those,
        in_order,
        and_if,
        boards::if_editor,
        for_whom,
        with_columns>::view
};
constexpr Sql lock_rows{
    "queue.lock_rows", SqlText<row_and_holder, of_rows, of_cards, in_order, with_columns>::view
};

#define SVC_NO_LEASE                                                                     \
    "lease_id = NULL, lease_digest = NULL, holder_id = NULL, lease_ttl_seconds = NULL, " \
    "claimed_at = NULL, renewed_at = NULL, expires_at = NULL, token_id = NULL"

constexpr std::string_view new_rows = R"(
    INSERT INTO queue AS q (org_id, card_id, board_id, column_id, state, urgency, place, blocked))";
constexpr std::string_view of_the_card = R"(
    VALUES ($1, $2, $3, $4, 'ready', $5, $6, $7))";
constexpr std::string_view of_the_cards = R"(
    SELECT $1, r.card_id, $2, $3, 'ready', r.urgency, r.place, r.blocked
    FROM unnest($4::uuid[], $5::smallint[], $6::text[], $7::boolean[])
        r (card_id, urgency, place, blocked))";
constexpr std::string_view or_ready_again = R"(
    ON CONFLICT (org_id, card_id) DO UPDATE
    SET column_id = excluded.column_id, blocked = excluded.blocked, state = 'ready',
        urgency = excluded.urgency, place = excluded.place, queued_at = now(), attempt = 0,
        available_at = NULL, last_error = NULL, )" SVC_NO_LEASE R"(
    WHERE q.org_id = $1)";
constexpr Sql ready_row{"queue.ready_row", SqlText<new_rows, of_the_card, or_ready_again>::view};
constexpr Sql ready_rows{"queue.ready_rows", SqlText<new_rows, of_the_cards, or_ready_again>::view};

constexpr Sql idle_rows{"queue.idle_rows", R"(
    UPDATE queue
    SET state = 'idle', attempt = 0, available_at = NULL, last_error = NULL,
        )" SVC_NO_LEASE R"(
    WHERE org_id = $1 AND card_id = ANY ($2::uuid[]))"};

// $2 the cards, and how each stands from now on.
constexpr std::string_view free_rows = R"(
    UPDATE queue q
    SET state = ($3::text[])[array_position($2::uuid[], q.card_id)],
        attempt = ($4::integer[])[array_position($2::uuid[], q.card_id)],
        available_at = ($5::timestamptz[])[array_position($2::uuid[], q.card_id)],
        last_error = ($6::text[])[array_position($2::uuid[], q.card_id)],
        column_id = CASE WHEN ($7::uuid[])[array_position($2::uuid[], q.card_id)] IS NULL
            THEN q.column_id ELSE ($7::uuid[])[array_position($2::uuid[], q.card_id)] END,
        urgency = coalesce(
            ($8::smallint[])[array_position($2::uuid[], q.card_id)], q.urgency),
        place = coalesce(($9::text[])[array_position($2::uuid[], q.card_id)], q.place),
        queued_at = coalesce(
            ($10::timestamptz[])[array_position($2::uuid[], q.card_id)], q.queued_at),
        )" SVC_NO_LEASE R"(
    WHERE q.org_id = $1 AND q.card_id)";
// A single one is asked for as such: a plan from when nobody had counted the table's rows goes
// through all of the workspace's to find those of a list, and finds one by its key.
constexpr std::string_view of_one = " = ($2::uuid[])[1]";
constexpr std::string_view of_all = " = ANY ($2::uuid[])";
constexpr Sql stand_so{"queue.stand", SqlText<free_rows, of_one>::view};

// The leases are read as they were before this statement.
constexpr std::string_view with_freed = "WITH freed AS (";
constexpr std::string_view keep = R"(
    )
    INSERT INTO lease_outcomes (
        org_id, card_id, lease_id, digest, board_id, column_id, holder_id, attempt, epoch,
        lease_ttl_seconds, claimed_at, renewed_at, expires_at, ended_at, state, error, result, cost)
    SELECT h.org_id, h.card_id, h.lease_id, h.lease_digest, h.board_id, h.column_id,
        h.holder_id, h.attempt, h.epoch, h.lease_ttl_seconds, h.claimed_at, h.renewed_at,
        h.expires_at, now(), ($11::text[])[array_position($2::uuid[], h.card_id)],
        ($12::text[])[array_position($2::uuid[], h.card_id)],
        ($13::json[])[array_position($2::uuid[], h.card_id)],
        ($14::json[])[array_position($2::uuid[], h.card_id)]
    FROM queue h
    WHERE h.org_id = $1 AND h.card_id)";
constexpr Sql end_one{
    "queue.end_lease", SqlText<with_freed, free_rows, of_one, keep, of_one>::view
};
constexpr Sql end_all{
    "queue.end_leases", SqlText<with_freed, free_rows, of_all, keep, of_all>::view
};

// What the servers tell each other that no event says.
constexpr std::string_view ready_in_column = "queue.ready";
constexpr std::string_view slot_is_free = "queue.slot";
constexpr std::string_view column_has_room = "queue.room";

}  // namespace

Failure not_a_queue() {
    return Failure(
               Fault::conflict,
               "The column is not a work queue; enable its queue, or claim from another."
    )
        .with("reason", "not_a_queue");
}

DeferredRows<QueueRow> lock_held(
    Tx& tx, const boards::BoardCaller& caller, const std::vector<Uuid>& cards
) {
    return caller.later<QueueRow>(tx, lock_held_rows, cards);
}

DeferredRows<QueueRow> lock_held(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards) {
    return tx.later<QueueRow>(lock_rows, org, cards);
}

Lease lease_of(const Uuid& org, const QueueRow& held) {
    Lease lease;
    lease.id = held.lease_id.value();
    lease.org_id = org;
    lease.board_id = held.board_id;
    lease.column_id = held.column_id;
    lease.card_id = held.card_id;
    lease.holder = held.holder.value();
    lease.attempt = held.attempt;
    lease.epoch = held.epoch;
    lease.lease_ttl_seconds = held.lease_ttl_seconds.value();
    lease.claimed_at = held.claimed_at.value();
    lease.renewed_at = held.renewed_at;
    lease.expires_at = held.expires_at.value();
    return lease;
}

Lease ended(Lease lease, LeaseState state, const Timestamp& now) {
    lease.state = state;
    lease.ended_at = now;
    return lease;
}

Event event_of(const EventKind& kind, const Lease& after, const Lease* before) {
    Event event;
    event.kind = &kind;
    event.id = after.id;
    event.version = after.epoch;
    if (!before) event.subject = event.changes = to_json(after);
    else
        write_difference(
            record_of<Lease>(), before, &after, event.changes, event.previous, &event.subject
        );
    return std::move(event)
        .on_board(after.board_id)
        .in_column(after.column_id)
        .of_card(after.card_id);
}

Event event_of(const EventKind& kind, const Lease& after, std::span<const std::string_view> gaps) {
    Event event = event_of(kind, after, nullptr);
    event.changes = event.subject = text_with_gaps(record_of<Lease>(), &after, gaps);
    return event;
}

bool has_to_wait(const boards::Card& card) { return card.blocked && !card.completed_at; }

void queue_up(Tx& tx, const boards::Card& card, const QueueKey& key) {
    tx.queue(
        ready_row,
        card.org_id,
        card.id,
        card.board_id,
        card.column_id,
        key.urgency,
        key.place,
        has_to_wait(card)
    );
}

void queue_up(
    Tx& tx, const std::vector<const boards::Card*>& cards, const std::vector<QueueKey>& keys
) {
    if (cards.empty()) return;
    std::vector<Uuid> ids;
    std::vector<std::string> urgencies, places, blocked;
    for (std::size_t i = 0; i < cards.size(); ++i) {
        ids.push_back(cards[i]->id);
        urgencies.push_back(std::to_string(keys[i].urgency));
        places.push_back(keys[i].place);
        blocked.emplace_back(has_to_wait(*cards[i]) ? "true" : "false");
    }
    const boards::Card& any = *cards.front();
    tx.queue(ready_rows, any.org_id, any.board_id, any.column_id, ids, urgencies, places, blocked);
}

void take_out(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards) {
    if (!cards.empty()) tx.queue(idle_rows, org, cards);
}

namespace {

/// What `free_rows` takes of a card, and what comes behind it.
template <class... More>
void add_standing(ParamTable& table, const Standing& standing, const More&... more) {
    const auto& [queue, entered] = standing;
    table.add(
        queue.state,
        queue.attempts,
        queue.available_at,
        queue.last_error,
        entered ? std::optional(entered->column_id) : std::nullopt,
        entered ? std::optional(entered->key.urgency) : std::nullopt,
        entered ? std::optional<std::string_view>(entered->key.place) : std::nullopt,
        entered ? std::optional(entered->at) : std::nullopt,
        more...
    );
}

void wake_later(Kernel& kernel, Actor& actor, const QueueRow& held, const Standing& standing) {
    if (standing.queue.state != boards::QueueState::ready) return;
    const Uuid column = standing.entered ? standing.entered->column_id : held.column_id;
    actor.after_commit([&kernel, column] { wake(kernel, column); });
}

/// The lease that the row had is over, which may be one less: on all servers, for an agent's.
void wake_for_slots_of(Kernel& kernel, const QueueRow& held) {
    if (held.max_in_flight) kernel.wake_one(slot_of(held.column_id));
    if (held.holder && held.holder->principal_type == PrincipalType::agent)
        wake_for_slot(kernel, held.holder->id);
}

}  // namespace

void stand(
    Kernel& kernel,
    Tx& tx,
    Actor& actor,
    const Uuid& org,
    const QueueRow& held,
    const Standing& standing
) {
    ParamTable table;
    add_standing(table, standing);
    tx.queue(stand_so, org, std::vector{held.card_id}, std::move(table).columns());
    wake_later(kernel, actor, held, standing);
}

void end_leases(
    Kernel& kernel, Tx& tx, Actor& actor, const Uuid& org, const std::vector<Ending>& endings
) {
    if (endings.empty()) return;
    std::vector<Uuid> cards;
    std::vector<Event> events;
    ParamTable table;
    for (const auto& [kind, after, held, standing] : endings) {
        const Lease before = lease_of(org, held);
        cards.push_back(held.card_id);
        add_standing(
            table,
            standing,
            after.state,
            after.error,
            after.result ? std::optional<std::string_view>(after.result->text) : std::nullopt,
            after.cost ? std::optional(to_json(*after.cost)) : std::nullopt
        );
        events.push_back(event_of(*kind, after, &before));
    }
    tx.queue(cards.size() == 1 ? end_one : end_all, org, cards, std::move(table).columns());
    actor.emit_all(events);
    for (const Ending& each : endings) {
        wake_later(kernel, actor, each.held, each.standing);
        actor.after_commit([&kernel, held = each.held] { wake_for_slots_of(kernel, held); });
    }
}

boards::CardQueue after_failure(
    const QueueRow& held,
    Retry retryable,
    const std::optional<std::chrono::seconds>& pause,
    const std::optional<std::string>& error,
    std::uint64_t random_bits
) {
    boards::CardQueue standing;
    standing.attempts = held.attempt;
    standing.last_error = error;
    if (retryable == Retry::no || held.attempt >= held.max_attempts) {
        standing.state = boards::QueueState::exhausted;
        return standing;
    }
    constexpr std::int64_t second = 1'000'000;
    std::int64_t wait = 0;
    if (pause) {
        wait = pause->count() * second;
    } else {
        // Spread over its upper half, so that cards which failed together do not come back so.
        std::int64_t whole = held.backoff_seconds;
        for (auto i = held.attempt; i > 1 && whole < held.backoff_max_seconds; --i) whole *= 2;
        whole = std::min(whole, held.backoff_max_seconds) * second;
        wait = whole / 2 +
               static_cast<std::int64_t>(random_bits % (static_cast<std::uint64_t>(whole / 2) + 1));
    }
    standing.state = wait > 0 ? boards::QueueState::backoff : boards::QueueState::ready;
    if (wait > 0) standing.available_at = Timestamp{held.now.micros + wait};
    return standing;
}

std::string topic_of(const Uuid& column) { return "queue " + column.str(); }

void wake(Kernel& kernel, const Uuid& column) {
    kernel.use<Hints>().reset(column);
    kernel.wake_one(topic_of(column));
}

std::string slot_of(const Uuid& column_or_agent) { return "queue slot " + column_or_agent.str(); }

void wake_everywhere(Kernel& kernel, const Uuid& column) {
    wake(kernel, column);
    kernel.use<Bus>().publish(ready_in_column, column.str());
}

void wake_for_slot(Kernel& kernel, const Uuid& column_or_agent) {
    kernel.wake_one(slot_of(column_or_agent));
    kernel.use<Bus>().publish(slot_is_free, column_or_agent.str());
}

std::string room_in(const Uuid& column) { return "queue room " + column.str(); }

std::string turns_of(const Uuid& board) { return "queue turns " + board.str(); }

void wake_for_room(Kernel& kernel, const Uuid& column) {
    kernel.wake_one(room_in(column));
    kernel.use<Bus>().publish(column_has_room, column.str());
}

void hear_wakes(Kernel& kernel) {
    Bus& bus = kernel.use<Bus>();
    const auto hear = [&](std::string_view channel, auto wake_those) {
        bus.subscribe(channel, [&kernel, wake_those](std::string_view payload) {
            if (const auto id = Uuid::parse(payload)) wake_those(kernel, *id);
        });
    };
    hear(ready_in_column, wake);
    hear(slot_is_free, [](Kernel& k, const Uuid& whose) { k.wake_one(slot_of(whose)); });
    hear(column_has_room, [](Kernel& k, const Uuid& column) { k.wake_one(room_in(column)); });
}

}  // namespace svc::queue
