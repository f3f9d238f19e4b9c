// The end of a workspace: what it takes with it, bit by bit.
//
// Whoever deletes it takes the seats, and with them everybody's rights, in the transaction that is
// answered. The rest may be a million rows; a job takes them in batches, each a transaction of its
// own, until the row of the workspace itself is gone. A batch that a crash undoes is done again.

#include "modules/orgs/deletion.hpp"

#include <Poco/Logger.h>

#include <algorithm>

namespace svc::orgs {

namespace {

constexpr std::int64_t most_rows = 1'000;
constexpr std::string_view deleting = "orgs.delete";

// The slug is another's to take: no slug that anybody chooses looks like this one.
constexpr Sql mark_deleted{"orgs.mark_deleted", R"(
    WITH seats AS (
        DELETE FROM memberships WHERE org_id = $1
    ), invited AS (
        DELETE FROM invitations WHERE org_id = $1
    )
    UPDATE orgs
    SET deleted_at = now(), slug = '~' || id::text, security_epoch = security_epoch + 1
    WHERE id = $1)"};

// Held while a batch is taken: nothing new comes in meanwhile.
constexpr Sql lock_deleted{"orgs.lock_deleted", R"(
    SELECT id FROM orgs WHERE id = $1 AND deleted_at IS NOT NULL FOR UPDATE)"};

constexpr Sql take_some{"orgs.take_some", R"(
    SELECT svc_empty_org($1, $2) AS rows)"};

// Whatever came in since goes with it, by the foreign keys of every module's tables.
constexpr Sql drop_org{"orgs.drop_deleted", R"(
    DELETE FROM orgs WHERE id = $1 AND deleted_at IS NOT NULL)"};

struct Deleted {
    Uuid id;
};
SVC_RECORD(Deleted, (id));

struct Taken {
    std::int64_t rows = 0;
};
SVC_RECORD(Taken, (rows));

/// False when there is nothing left of it.
bool take_batch(Kernel& kernel, const Uuid& org, std::int64_t rows) {
    bool left = false;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        left = tx.one<Deleted>(lock_deleted, org) &&
               tx.later<Taken>(take_some, org, rows).one_or_retry().rows > 0;
        if (left) return;
        tx.queue(drop_org, org);
        kernel.use<Jobs>().cancel_all_of(tx, org);
    });
    return left;
}

JobOutcome empty(Kernel& kernel, JobRun& run) {
    const Uuid org = Uuid::parse(run.key()).value();
    // More as long as it goes well; after a failure few, which may be done in time.
    std::int64_t rows = run.attempt() == 1 ? 100 : 1;
    while (take_batch(kernel, org, rows)) {
        rows = std::min(2 * rows, most_rows);
        if (run.should_yield()) return JobOutcome::more;
    }
    Poco::Logger::get("orgs").information("deleted workspace " + org.str());
    return JobOutcome::done;
}

}  // namespace

void mark_as_deleted(Kernel& kernel, Tx& tx, const Uuid& org) {
    tx.queue(mark_deleted, org);
    kernel.use<Jobs>().enqueue(tx, {.kind = deleting, .key = org.str()});
}

JobKind deletion_job(Kernel& kernel) {
    return {
        .name = std::string(deleting),
        .run = [&kernel](JobRun& run) { return empty(kernel, run); },
        .at_once = 2,
        .at_once_per_workspace = 2,
        .most_attempts = 1'000'000'000,  // nobody else would see to it
        .longest_pause = std::chrono::minutes(10),
    };
}

}  // namespace svc::orgs
