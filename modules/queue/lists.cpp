// Where there is work, and who works on what.

#include "modules/boards/api/access.hpp"
#include "modules/boards/api/named_cards.hpp"
#include "modules/queue/counts.hpp"
#include "modules/queue/lib/rows.hpp"
#include "modules/queue/operations.hpp"

namespace svc::queue {

namespace {

// ------------------------------------------------------------------------------ list_queues

struct QueuesQuery {
    std::optional<Uuid> board_id;
    bool only_with_work = false;
    Paging paging;
};
SVC_RECORD(
    QueuesQuery,
    (board_id, "Only queues of this board."),
    (only_with_work, "Leave out queues in which no card is ready.", defaulted),
    (paging, "", flatten)
);

struct QueueListed {
    Object<"queue"> object;
    Uuid board_id;
    std::string board_key;
    std::string board_name;
    Uuid column_id;
    std::string column_name;
    boards::BoardRole role{};
    bool paused = false;
    std::int64_t ready = 0;
    std::optional<Timestamp> oldest_queued_at;
};
SVC_RECORD(
    QueueListed,
    (object),
    (board_id),
    (board_key, "What the board is called for short."),
    (board_name, "What people call the board."),
    (column_id, "Claim from it with claim_next_card."),
    (column_name, "What people call the column."),
    (role, "Yours on the board."),
    (paused, "Whether claims are given no card; leases go on."),
    (ready, "Cards that wait to be claimed; no more than 100 are counted."),
    (oldest_queued_at, "Since when the ready card that came first is here; null without any.")
);

// $5 board, $6 only with work, $7 after which column, $8 how many.
constexpr Sql some_queues{"queue.list_queues", R"(
    SELECT k.board_id, b.key AS board_key, b.name AS board_name, k.id AS column_id,
        k.name AS column_name, r.role, k.queue_paused AS paused, w.ready, w.oldest_queued_at
    FROM columns k
    )" SVC_QUEUE_BOARD("k.board_id") R"(
    )" SVC_READY_CARDS("r.role IN ('editor', 'admin')", "100") R"(
    WHERE k.org_id = $1 AND k.queue_enabled AND NOT k.in_trash AND NOT b.is_archived
        AND r.role IN ('editor', 'admin')
        AND ($5::uuid IS NULL OR k.board_id = $5)
        AND (NOT $6::boolean OR w.ready > 0)
        AND k.id > $7::uuid
    ORDER BY k.id
    LIMIT $8)"};

Page<QueueListed> list(Call& call, const QueuesQuery& in) {
    const auto after = call.after(in.paging);
    auto rows = boards::BoardCaller::of(call)
                    .later<QueueListed>(
                        call.tx(),
                        some_queues,
                        in.board_id,
                        in.only_with_work,
                        after ? after->front() : Uuid().str(),
                        in.paging.page_size + 1
                    )
                    .all();
    return call.page(std::move(rows), in.paging, [](const QueueListed& last) {
        return std::vector{last.column_id.str()};
    });
}

// ------------------------------------------------------------------------------ list_leases

struct LeasesQuery {
    std::optional<Uuid> board_id;
    std::optional<Uuid> column_id;
    std::optional<Uuid> holder_id;
    std::optional<LeaseState> state;
    std::optional<boards::CardRef> card_id;
    Paging paging;
};
SVC_RECORD(
    LeasesQuery,
    (board_id, "Only leases on this board."),
    (column_id, "Only leases of this queue."),
    (holder_id, "Only leases of this person or agent."),
    (state, "Only leases in this state. Those that are over are listed with `card_id` alone."),
    (card_id,
     "The attempts at this card, those that are over included; the newest first, 1,000 at most."),
    (paging, "", flatten)
);

// $5 board, $6 column, $7 holder, $8 after which lease, $9 how many.
constexpr Sql live_leases{"queue.list_live_leases", R"(
    SELECT )" SVC_LIVE_LEASE("q") R"(
    FROM queue q
    )" SVC_QUEUE_BOARD("q.board_id") R"(
    WHERE q.org_id = $1 AND q.lease_id IS NOT NULL AND r.role IS NOT NULL
        AND ($5::uuid IS NULL OR q.board_id = $5)
        AND ($6::uuid IS NULL OR q.column_id = $6)
        AND ($7::uuid IS NULL OR q.holder_id = $7)
        AND q.lease_id > $8::uuid
    ORDER BY q.lease_id
    LIMIT $9)"};

// $10 the card, $11 state.
constexpr Sql leases_of_card{"queue.list_leases_of_card", R"(
    SELECT l.*
    FROM (
        SELECT )" SVC_LIVE_LEASE("q") R"( FROM queue q
        WHERE q.org_id = $1 AND q.card_id = $10 AND q.lease_id IS NOT NULL
        UNION ALL
        SELECT )" SVC_ENDED_LEASE("o") R"( FROM (
            SELECT e.* FROM lease_outcomes e
            WHERE e.org_id = $1 AND e.card_id = $10
            ORDER BY e.ended_at DESC
            LIMIT 1000
        ) o
    ) l
    )" SVC_QUEUE_BOARD("l.board_id") R"(
    WHERE r.role IS NOT NULL
        AND ($5::uuid IS NULL OR l.board_id = $5)
        AND ($6::uuid IS NULL OR l.column_id = $6)
        AND ($7::uuid IS NULL OR l.holder ->> 'id' = $7::text)
        AND ($8::uuid IS NULL OR l.id < $8)
        AND ($11::text IS NULL OR l.state = $11)
    ORDER BY l.id DESC
    LIMIT $9)"};

Page<Lease> list_all(Call& call, const LeasesQuery& in) {
    const auto after = call.after(in.paging);
    const auto from = after ? Uuid::parse(after->front()) : std::nullopt;
    const auto caller = boards::BoardCaller::of(call);
    const auto ask = [&](const Sql& sql, const std::optional<Uuid>& start, const auto&... more) {
        return caller
            .later<Lease>(
                call.tx(),
                sql,
                in.board_id,
                in.column_id,
                in.holder_id,
                start,
                in.paging.page_size + 1,
                more...
            )
            .all();
    };
    auto card = in.card_id;
    if (!card && in.state && *in.state != LeaseState::active)
        throw wrong_field(call, "state", "leases that are over are listed with card_id alone");
    if (card) boards::find_ids(call, {&*card});
    auto rows = card ? ask(leases_of_card, from, *card->id, in.state)
                     : ask(live_leases, from.value_or(Uuid()));
    return call.page(std::move(rows), in.paging, [](const Lease& last) {
        return std::vector{last.id.str()};
    });
}

}  // namespace

const Operation list_queues{
    .name = "list_queues",
    .route = "GET /v1/queues",
    .summary = "List the queues that you may claim from, with how much work there is.",
    .description =
        "Where to look for work: the queue columns of all boards on which you are an editor.",
    .access = Access::member,
    .worker = true,
    .handler = list,
};

const Operation list_leases{
    .name = "list_leases",
    .route = "GET /v1/leases",
    .summary = "List the live leases: who works on what.",
    .description =
        "On boards that you may see. With `card_id` also the card's earlier attempts, which are "
        "kept as long as the card.",
    .access = Access::member,
    .handler = list_all,
};

}  // namespace svc::queue
