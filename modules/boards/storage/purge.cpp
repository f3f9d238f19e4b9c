#include "modules/boards/storage/purge.hpp"
#include "modules/boards/api/events.hpp"
#include "svc/workspace_jobs.hpp"

#include "modules/boards/link/waiting.hpp"
#include "modules/boards/placement/moves.hpp"

#include <algorithm>

namespace svc::boards {

namespace {

constexpr std::int64_t most_cards = 100;      // of a batch
constexpr std::int64_t most_things = 10'000;  // blocks and comments on them; one card may have more
constexpr std::string_view purging = "boards.purge_trash";

constexpr Sql workspaces_with_old_trash{"boards.workspaces_with_old_trash", R"(
    SELECT c.org_id FROM cards c
    WHERE c.in_trash AND c.last_edited_time < now() - $1::interval
    UNION
    SELECT b.org_id FROM boards b
    WHERE b.in_trash AND b.last_edited_time < now() - $1::interval)"};

struct OldThing {
    Uuid id;
    Uuid board_id;
    std::string name;
    std::int64_t version = 0;
    bool open = false;
};
SVC_RECORD(OldThing, (id), (board_id), (name), (version), (open));

// ------------------------------------------------------------------------------------- cards

// As many as one statement can drop in its time, at least one: $3 cards, $4 things on them. Those
// that somebody holds are left to the next time.
constexpr std::string_view taken = R"(
    SELECT c.id, c.board_id, c.name, c.version, c.open
    FROM (
        SELECT s.id
        FROM (
            SELECT o.id, row_number() OVER up_to_it AS n, sum(o.things) OVER up_to_it AS things
            FROM (
                SELECT k.id, k.block_count + k.comment_count AS things, )";
constexpr std::string_view as_rank = R"( AS rank
                FROM cards k
                WHERE k.org_id = $1 AND )";
constexpr std::string_view until_full = R"(
                ORDER BY rank
                LIMIT $3
            ) o
            WINDOW up_to_it AS (ORDER BY o.rank, o.id ROWS UNBOUNDED PRECEDING)
        ) s
        WHERE s.things <= $4::bigint OR s.n = 1
        ORDER BY s.n
    ) w
    CROSS JOIN LATERAL (
        SELECT k.id, k.board_id, k.title AS name, k.version,
            card_is_open(k.completed_at, k.is_archived, k.in_trash) AS open
        FROM cards k
        WHERE k.org_id = $1 AND k.id = w.id AND )";
constexpr std::string_view locked = R"(
        OFFSET 0
        FOR UPDATE SKIP LOCKED
    ) c)";
// Nothing changes a card in the trash but whoever brings it back, so its last edit put it there.
constexpr std::string_view is_old = "k.in_trash AND k.last_edited_time < now() - $2::interval";
constexpr std::string_view by_age = "k.last_edited_time";
constexpr Sql take_cards{
    "boards.take_old_cards",
    SqlText<taken, by_age, as_rank, is_old, until_full, is_old, locked>::view
};

constexpr std::string_view of_board = "k.board_id = $2";
constexpr std::string_view by_number = "k.number";
constexpr Sql take_cards_of_board{
    "boards.take_cards_of_old_board",
    SqlText<taken, by_number, as_rank, of_board, until_full, of_board, locked>::view
};

constexpr Sql lock_waiting{"boards.lock_waiting_for_old_cards", R"(
    SELECT id FROM cards
    WHERE org_id = $1 AND id IN (
        SELECT l.target_id FROM card_links l
        WHERE l.org_id = $1 AND l.card_id = ANY ($2::uuid[]) AND l.kind = 'blocks')
    ORDER BY id
    FOR NO KEY UPDATE)"};

constexpr Sql forget_blockers{"boards.forget_old_blockers", R"(
    UPDATE cards SET blocked_by = blocked_by - $2::uuid[]::text[]
    WHERE org_id = $1 AND id IN (
        SELECT l.target_id FROM card_links l
        WHERE l.org_id = $1 AND l.card_id = ANY ($2::uuid[]) AND l.kind = 'blocks'))"};

constexpr Sql forget_parents{"boards.forget_old_parents", R"(
    UPDATE cards SET parent_card_id = NULL
    WHERE org_id = $1 AND parent_card_id = ANY ($2::uuid[]))"};

// What is written on them, their links and versions, and the places of files go with them.
constexpr Sql drop_cards{"boards.drop_old_cards", R"(
    DELETE FROM cards WHERE org_id = $1 AND id = ANY ($2::uuid[]))"};

Event purged(const EventKind& kind, const OldThing& thing) {
    Event event;
    event.kind = &kind;
    event.id = thing.id;
    event.version = thing.version;
    event.name = thing.name;
    return std::move(event).on_board(thing.board_id);
}

/// Those who wait for cards that were open until their board went; on other boards, for theirs
/// goes as well.
std::vector<Waiting> freed(Tx& tx, const Uuid& org, const std::vector<OldThing>& cards) {
    std::vector<Uuid> open;
    for (const OldThing& each : cards)
        if (each.open) open.push_back(each.id);
    if (open.empty()) return {};
    auto waiting = waiting_for(tx, org, open).all();
    std::erase_if(waiting, [&](const Waiting& each) {
        return each.board_id == cards.front().board_id;
    });
    return waiting;
}

void drop(
    Kernel& kernel, Tx& tx, Actor& actor, const Uuid& org, const std::vector<OldThing>& cards
) {
    if (cards.empty()) return;
    std::vector<Uuid> ids;
    for (const OldThing& each : cards) ids.push_back(each.id);
    tx.queue(lock_waiting, org, ids);
    const auto waiting = freed(tx, org, cards);
    tx.queue(forget_blockers, org, ids);
    tx.queue(forget_parents, org, ids);
    tx.queue(drop_cards, org, ids);
    for (const OldThing& each : cards) actor.emit(purged(card_purged, each));
    tell_waiting(tx, MovesImpl::of(kernel), actor, org, waiting, Blockers::closed);
}

// ------------------------------------------------------------------------------------ boards

// From here on it does not come back, however long the rest takes.
constexpr Sql mark_boards{"boards.mark_old_boards", R"(
    UPDATE boards SET purged_at = now()
    WHERE org_id = $1 AND in_trash AND purged_at IS NULL
        AND last_edited_time < now() - $2::interval)"};

constexpr Sql find_marked{"boards.find_marked_boards", R"(
    SELECT b.id, b.id AS board_id, b.name, b.version, false AS open
    FROM boards b
    WHERE b.org_id = $1 AND b.in_trash AND b.purged_at IS NOT NULL)"};

constexpr Sql drop_board{"boards.drop_old_board", R"(
    DELETE FROM boards b
    WHERE b.org_id = $1 AND b.id = $2
        AND NOT EXISTS (SELECT FROM cards c WHERE c.org_id = $1 AND c.board_id = $2))"};

// ------------------------------------------------------------------------------------ the job

/// Batch by batch, until `take` finds no more.
template <class Take>
JobOutcome drop_all(Kernel& kernel, const JobRun& run, Take take) {
    return in_batches(kernel, run, run.org(), purging, 1, [&](Tx& tx, Actor& actor) {
        const std::vector<OldThing> cards = take(tx);
        drop(kernel, tx, actor, run.org(), cards);
        return cards.size();
    });
}

JobOutcome purge_boards(Kernel& kernel, const JobRun& run, std::chrono::seconds kept) {
    const Uuid& org = run.org();
    std::vector<OldThing> boards;
    in_workspace(kernel, org, purging, [&](Tx& tx, Actor&) {
        tx.queue(mark_boards, org, kept);
        boards = tx.all<OldThing>(find_marked, org);
    });
    for (const OldThing& board : boards) {
        const auto outcome = drop_all(kernel, run, [&](Tx& tx) {
            return tx.all<OldThing>(take_cards_of_board, org, board.id, most_cards, most_things);
        });
        if (outcome == JobOutcome::more) return outcome;
        in_workspace(kernel, org, purging, [&](Tx& tx, Actor& actor) {
            if (tx.run(drop_board, org, board.id) == 1) actor.emit(purged(board_purged, board));
        });
        if (run.should_yield()) return JobOutcome::more;
    }
    return JobOutcome::done;
}

JobOutcome purge(Kernel& kernel, const JobRun& run, std::chrono::seconds kept) {
    const auto outcome = drop_all(kernel, run, [&](Tx& tx) {
        return tx.all<OldThing>(take_cards, run.org(), kept, most_cards, most_things);
    });
    return outcome == JobOutcome::more ? outcome : purge_boards(kernel, run, kept);
}

}  // namespace

void add_purge(Kernel& kernel, std::chrono::seconds kept) {
    add_sweep(
        kernel,
        {.name = std::string(purging),
         .every = std::chrono::hours(1),
         .find = [&kernel, kept] { return workspaces(kernel, workspaces_with_old_trash, kept); },
         .work = [&kernel, kept](JobRun& run) { return purge(kernel, run, kept); }}
    );
}

}  // namespace svc::boards
