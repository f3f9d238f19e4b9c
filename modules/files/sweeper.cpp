#include "modules/files/sweeper.hpp"
#include "svc/workspace_jobs.hpp"

#include "modules/files/unused.hpp"

#include <Poco/Logger.h>

namespace svc::files {

namespace {

constexpr std::int64_t batch = 50;
// In one batch: then the store is away.
constexpr int most_failures = 3;

constexpr Sql workspaces_to_sweep{"files.workspaces_to_sweep", R"(
    SELECT DISTINCT f.org_id FROM files f WHERE f.sweep_at <= now())"};

constexpr Sql orphaned_workspaces{"files.orphaned_workspaces", R"(
    SELECT DISTINCT f.org_id FROM files f
    WHERE f.deleted_at IS NULL AND NOT EXISTS (
        SELECT FROM orgs o WHERE o.id = f.org_id AND o.deleted_at IS NULL))"};

constexpr Sql mark_orphaned{"files.mark_orphaned", R"(
    UPDATE files SET deleted_at = now(), sweep_at = now()
    WHERE org_id = $1 AND deleted_at IS NULL)"};

// From here on an upload is expired, so that no commit makes it available while its bytes go.
constexpr Sql claim_batch{"files.claim_batch", R"(
    UPDATE files
    SET sweep_at = now() + interval '5 minutes',
        status = CASE WHEN status = 'pending' THEN 'expired' ELSE status END
    WHERE org_id = $1 AND id = ANY (ARRAY(
        SELECT f.id FROM files f
        WHERE f.org_id = $1 AND f.sweep_at <= now()
        ORDER BY f.sweep_at
        LIMIT $2
        FOR UPDATE SKIP LOCKED))
    RETURNING id, CASE WHEN status = 'available' AND deleted_at IS NULL THEN object_id END AS kept)"};

struct Claimed {
    Uuid id;
    std::optional<Uuid> kept;
};
SVC_RECORD(Claimed, (id), (kept));

// As long as the form may bring in something, the row stays, to be looked at once more.
constexpr Sql drop_swept{"files.drop_swept", R"(
    DELETE FROM files
    WHERE org_id = $1 AND id = ANY ($2::uuid[]) AND upload_ends_at + $3::interval <= now()
      AND (deleted_at IS NOT NULL
          OR status = 'expired' AND upload_ends_at + $3::interval + $4::interval <= now()))"};

constexpr Sql finish_swept{"files.finish_swept", R"(
    UPDATE files
    SET sweep_at = CASE
        WHEN deleted_at IS NOT NULL THEN upload_ends_at + $3::interval
        WHEN status = 'expired' THEN upload_ends_at + $3::interval + $4::interval
    END
    WHERE org_id = $1 AND id = ANY ($2::uuid[]))"};

/// Files of workspaces that were deleted.
void mark_orphans(Kernel& kernel) {
    for (const auto& each : workspaces(kernel, orphaned_workspaces))
        kernel.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope(each.org_id, std::nullopt);
            tx.run(mark_orphaned, each.org_id);
        });
}

/// False when the store refuses; then it is tried again in some minutes. One file that cannot be
/// removed is not in the way of others.
bool clear(
    const Service& service, const Uuid& org, const Uuid& file, const std::optional<Uuid>& kept
) try {
    std::optional<std::string> keep;
    if (kept) keep = object_key(org, file, *kept);
    service.store().clear(prefix_of(org, file), keep);
    return true;
} catch (const std::exception& problem) {
    Poco::Logger::get("files").warning(
        "the bytes of " + file.str() + " could not be removed yet: " + problem.what()
    );
    return false;
}

/// True when there may be more. The store is asked between two transactions, never inside one.
bool sweep_batch(const Service& service, const JobRun& run) {
    Kernel& kernel = service.kernel();
    const Uuid& org = run.org();
    std::vector<Claimed> claimed;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(org, std::nullopt);
        claimed.clear();
        if (!kernel.use<Upkeep>().may_remove_bytes(tx)) return;
        claimed = tx.all<Claimed>(claim_batch, org, batch);
    });
    std::vector<Uuid> done;
    int failed = 0;
    for (const Claimed& each : claimed) {
        if (kernel.stopping() || failed == most_failures) break;
        if (clear(service, org, each.id, each.kept)) done.push_back(each.id);
        else ++failed;
    }
    if (done.empty()) return false;
    const std::chrono::seconds kept(service.settings().expired_days * 86400);
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(org, std::nullopt);
        tx.queue(drop_swept, org, done, grace, kept);
        tx.queue(finish_swept, org, done, grace, kept);
    });
    return claimed.size() == static_cast<std::size_t>(batch) && failed < most_failures;
}

}  // namespace

void add_sweeps(const Service& service) {
    Kernel& kernel = service.kernel();
    add_recurring_job(kernel, "files.mark_orphans", std::chrono::hours(1), [&kernel] {
        mark_orphans(kernel);
    });
    add_deletion_of_unused(kernel, std::chrono::days(service.settings().unused_days));
    add_sweep(
        kernel,
        {.name = "files.sweep",
         .every = std::chrono::seconds(service.settings().sweep_seconds),
         .find = [&kernel] { return workspaces(kernel, workspaces_to_sweep); },
         .work =
             [&service](JobRun& run) {
                 while (sweep_batch(service, run))
                     if (run.should_yield()) return JobOutcome::more;
                 return JobOutcome::done;
             }}
    );
}

}  // namespace svc::files
