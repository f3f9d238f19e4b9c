#include "modules/files/unused.hpp"
#include "svc/actor.hpp"
#include "svc/workspace_jobs.hpp"

namespace svc::files {

namespace {

constexpr std::int64_t batch = 100;
constexpr std::string_view deleting = "files.delete_unused";

// Pictures and screenshots are shown elsewhere than on cards.
constexpr Sql workspaces_with_unused{"files.workspaces_with_unused", R"(
    SELECT DISTINCT f.org_id
    FROM files f
    CROSS JOIN LATERAL (
        SELECT EXISTS (
            SELECT FROM file_places l WHERE l.org_id = f.org_id AND l.file_id = f.id) AS hangs
    ) p
    WHERE f.purpose = 'attachment' AND f.status = 'available' AND f.deleted_at IS NULL
        AND ((f.idle_since IS NULL) <> p.hangs OR f.idle_since < now() - $1::interval))"};

// Whoever is about to hang one has locked it, and next time it is looked at again.
constexpr Sql note_unused{"files.note_unused", R"(
    UPDATE files
    SET idle_since = CASE WHEN idle_since IS NULL THEN now() END
    WHERE org_id = $1 AND id = ANY (ARRAY(
        SELECT f.id
        FROM files f
        WHERE f.org_id = $1 AND f.purpose = 'attachment' AND f.status = 'available'
            AND f.deleted_at IS NULL
            AND (f.idle_since IS NULL) <> EXISTS (
                SELECT FROM file_places l WHERE l.org_id = $1 AND l.file_id = f.id)
        FOR NO KEY UPDATE SKIP LOCKED)))"};

constexpr Sql lock_unused{"files.lock_unused", R"(
    SELECT f.id FROM files f
    WHERE f.org_id = $1 AND f.purpose = 'attachment' AND f.status = 'available'
        AND f.deleted_at IS NULL AND f.idle_since < now() - $2::interval
        AND NOT EXISTS (SELECT FROM file_places l WHERE l.org_id = $1 AND l.file_id = f.id)
    LIMIT $3
    FOR NO KEY UPDATE SKIP LOCKED)"};

// Somebody may have hung one up to the moment when it was locked.
constexpr Sql drop_unused{"files.drop_unused", R"(
    UPDATE files f
    SET deleted_at = now(), sweep_at = now(), version = version + 1
    WHERE f.org_id = $1 AND f.id = ANY ($2::uuid[])
        AND NOT EXISTS (SELECT FROM file_places l WHERE l.org_id = $1 AND l.file_id = f.id)
    RETURNING f.id, f.filename, f.version)"};

struct LockedFile {
    Uuid id;
};
SVC_RECORD(LockedFile, (id));

struct Dropped {
    Uuid id;
    std::string filename;
    std::int64_t version = 1;
};
SVC_RECORD(Dropped, (id), (filename), (version));

std::size_t delete_some(Tx& tx, Actor& actor, const Uuid& org, std::chrono::seconds kept) {
    std::vector<Uuid> ids;
    for (const LockedFile& each : tx.all<LockedFile>(lock_unused, org, kept, batch))
        ids.push_back(each.id);
    for (const Dropped& each : tx.all<Dropped>(drop_unused, org, ids))
        actor.emit(
            {.kind = &file_removed, .id = each.id, .version = each.version, .name = each.filename}
        );
    return ids.size();
}

JobOutcome work(Kernel& kernel, const JobRun& run, std::chrono::seconds kept) {
    const Uuid& org = run.org();
    in_workspace(kernel, org, deleting, [&](Tx& tx, Actor&) { tx.queue(note_unused, org); });
    return in_batches(kernel, run, org, deleting, batch, [&](Tx& tx, Actor& actor) {
        return delete_some(tx, actor, org, kept);
    });
}

}  // namespace

void add_deletion_of_unused(Kernel& kernel, std::chrono::seconds kept) {
    add_sweep(
        kernel,
        {.name = std::string(deleting),
         .every = std::chrono::hours(1),
         .find = [&kernel, kept] { return workspaces(kernel, workspaces_with_unused, kept); },
         .work = [&kernel, kept](JobRun& run) { return work(kernel, run, kept); }}
    );
}

}  // namespace svc::files
