#include "modules/content/purge.hpp"
#include "svc/actor.hpp"
#include "svc/workspace_jobs.hpp"

#include "modules/files/api.hpp"

namespace svc::content {

namespace {

constexpr std::int64_t most_things = 100;     // of a batch
constexpr std::int64_t most_blocks = 10'000;  // that go with them; one may have more below it
constexpr std::string_view purging = "content.purge_trash";

constexpr Sql workspaces_with_old_trash{"content.workspaces_with_old_trash", R"(
    SELECT b.org_id FROM blocks b
    WHERE b.trashed_by = b.id AND b.trashed_at < now() - $1::interval
    UNION
    SELECT m.org_id FROM comments m
    WHERE m.trashed_at < now() - $1::interval)"};

/// A block or a comment on a card.
struct OldThing {
    Uuid id;
    Uuid card_id;
};
SVC_RECORD(OldThing, (id), (card_id));

// As many as one statement can drop in its time, at least one: $3 things, $4 blocks. The card's
// lock is that of its blocks: nobody brings them back meanwhile. Those that somebody holds are left
// to the next time.
constexpr Sql take_blocks{"content.take_old_blocks", R"(
    WITH oldest AS MATERIALIZED (
        SELECT b.id, b.card_id, b.trashed_at FROM blocks b
        WHERE b.org_id = $1 AND b.trashed_by = b.id AND b.trashed_at < now() - $2::interval
        ORDER BY b.trashed_at, b.id
        LIMIT $3
    )
    SELECT s.id, s.card_id
    FROM (
        SELECT o.id, o.card_id, row_number() OVER up_to_it AS n,
            sum(z.blocks) OVER up_to_it AS blocks
        FROM oldest o
        CROSS JOIN LATERAL (
            SELECT count(*) AS blocks FROM blocks b
            WHERE b.org_id = $1 AND b.trashed_by = o.id
            OFFSET 0
        ) z
        WINDOW up_to_it AS (ORDER BY o.trashed_at, o.id ROWS UNBOUNDED PRECEDING)
    ) s
    CROSS JOIN LATERAL (
        SELECT k.id FROM cards k
        WHERE k.org_id = $1 AND k.id = s.card_id
        OFFSET 0
        FOR UPDATE SKIP LOCKED
    ) c
    WHERE s.blocks <= $4::bigint OR s.n = 1)"};

// With all that went into the trash with them; what somebody had deleted below them before was
// deleted earlier. Whatever was brought back before the lock is left alone.
constexpr Sql drop_blocks{"content.drop_old_blocks", R"(
    DELETE FROM blocks
    WHERE org_id = $1 AND card_id = ANY ($2::uuid[]) AND trashed_by = ANY ($3::uuid[])
        AND trashed_at < now() - $4::interval
    RETURNING id, card_id)"};

constexpr Sql drop_comments{"content.drop_old_comments", R"(
    DELETE FROM comments
    WHERE org_id = $1 AND id = ANY (ARRAY(
        SELECT m.id FROM comments m
        WHERE m.org_id = $1 AND m.trashed_at < now() - $2::interval
        ORDER BY m.trashed_at
        LIMIT $3
        FOR UPDATE SKIP LOCKED))
    RETURNING id, card_id)"};

using NoFiles = std::vector<Uuid>;

/// The files that they showed hang there no more.
void let_files_go(Kernel& kernel, Tx& tx, const Uuid& org, const std::vector<OldThing>& gone) {
    const auto* files = kernel.find<files::Files>();
    if (!files) return;
    std::map<Uuid, files::Files::Shown> by_card;
    for (const OldThing& each : gone) by_card[each.card_id].emplace_back(each.id, NoFiles());
    for (const auto& [card, none] : by_card) files->attach(tx, org, card, none);
}

std::size_t drop_some_blocks(Kernel& kernel, Tx& tx, const Uuid& org, std::chrono::seconds kept) {
    std::vector<Uuid> cards, roots;
    for (const OldThing& each :
         tx.all<OldThing>(take_blocks, org, kept, most_things, most_blocks)) {
        cards.push_back(each.card_id);
        roots.push_back(each.id);
    }
    if (!roots.empty())
        let_files_go(kernel, tx, org, tx.all<OldThing>(drop_blocks, org, cards, roots, kept));
    return roots.size();
}

std::size_t drop_some_comments(Kernel& kernel, Tx& tx, const Uuid& org, std::chrono::seconds kept) {
    const auto gone = tx.all<OldThing>(drop_comments, org, kept, most_things);
    let_files_go(kernel, tx, org, gone);
    return gone.size();
}

JobOutcome purge(Kernel& kernel, const JobRun& run, std::chrono::seconds kept) {
    for (const auto drop : {&drop_some_blocks, &drop_some_comments}) {
        const auto drop_some = [&](Tx& tx, Actor&) { return drop(kernel, tx, run.org(), kept); };
        if (in_batches(kernel, run, run.org(), purging, 1, drop_some) == JobOutcome::more)
            return JobOutcome::more;
    }
    return JobOutcome::done;
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

}  // namespace svc::content
