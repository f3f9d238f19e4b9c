#include "modules/boards/board/copies.hpp"

#include "modules/boards/storage/stored_bytes.hpp"
#include "svc/workspace_jobs.hpp"

namespace svc::boards {

namespace {

constexpr std::string_view copying = "duplicate_board";  // the action, as the audit record has it
constexpr std::string_view copy_cards = "boards.copy_cards";  // the kind of job

// Ids as new_uuid() makes them, of this moment ($5: the part of one that says when) and then in the
// order of the numbers; the rest is as good as random, for $6 is, so that cards are listed in the
// order they were made.
constexpr Sql plan_cards{"boards.plan_copies_of_cards", R"(
    INSERT INTO board_copy_cards (org_id, board_id, number, source_id, card_id)
    SELECT $1, $3, s.n, s.id,
        ($5::text || '-7' || lpad(to_hex(s.n >> 4), 3, '0') || '-'
            || to_hex(8 | ((s.n >> 2) & 3)) || to_hex((s.n & 3) << 2)
            || left(s.random, 2) || '-' || substr(s.random, 3, 12))::uuid
    FROM (
        SELECT p.id, row_number() OVER (ORDER BY p.number) AS n,
            right(md5($6::text || p.id::text), 15) AS random
        FROM (
            SELECT c.id, c.number FROM cards c
            WHERE c.org_id = $1 AND c.board_id = $2 AND NOT c.is_archived AND NOT c.in_trash
            ORDER BY c.number
            LIMIT $4::bigint + 1
        ) p
    ) s)"};

constexpr Sql insert_copy{"boards.insert_board_copy", R"(
    INSERT INTO board_copies (org_id, board_id, made_by, ids) VALUES ($1, $2, $3, $4))"};

JobOutcome go_on(Kernel& kernel, const JobRun& run) {
    const Uuid board = Uuid::parse(run.key()).value();
    for (std::int64_t left = 1; left > 0;) {
        in_workspace(kernel, run.org(), copying, [&](Tx& tx, Actor& actor) {
            left = copy_next_cards(kernel, tx, actor, run.org(), board);
        });
        if (left > 0 && run.should_yield()) return JobOutcome::more;
    }
    return JobOutcome::done;
}

}  // namespace

Result plan_copies(Call& call, const Uuid& source, const Uuid& board, const NewIds& ids) {
    Tx& tx = call.tx();
    const Uuid& org = call.org();
    const auto now = new_uuid().str().substr(0, 13), seed = new_uuid().str();
    tx.queue(insert_copy, org, board, to_json(ref_of(call.caller())), ids.as_json());
    call.use<Jobs>().enqueue(tx, {.kind = copy_cards, .org = org, .key = board.str()});
    auto planned = tx.queue(plan_cards, org, source, board, most_copied, now, seed);
    store_copies(call, board);
    return planned;
}

JobKind copy_job(Kernel& kernel) {
    return {
        .name = std::string(copy_cards),
        .run = [&kernel](JobRun& run) { return go_on(kernel, run); },
    };
}

}  // namespace svc::boards
