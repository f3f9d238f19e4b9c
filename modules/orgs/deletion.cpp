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
/// The jobs of a server share a thread: the others get their turn.
constexpr auto turn = std::chrono::milliseconds(400);

// The slug is another's to take: no slug that anybody chooses looks like this one.
constexpr Sql mark_deleted{"orgs.mark_deleted", R"(
    WITH seats AS (
        DELETE FROM memberships WHERE org_id = $1
    ), invited AS (
        DELETE FROM invitations WHERE org_id = $1
    )
    UPDATE orgs
    SET deleted_at = now(), slug = '~' || id::text, standing = standing + 1
    WHERE id = $1)"};

// Held while a batch is taken: servers share the work, and nothing new comes in meanwhile.
constexpr Sql next_deleted{"orgs.next_deleted", R"(
    SELECT id FROM orgs
    WHERE deleted_at IS NOT NULL
    ORDER BY deleted_at LIMIT 1
    FOR UPDATE SKIP LOCKED)"};

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

/// False when no workspace waits to be emptied.
bool take_batch(Kernel& kernel, std::int64_t rows) {
    std::optional<Deleted> org;
    bool gone = false;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.act_for_all_orgs();
        gone = false;
        org = tx.one<Deleted>(next_deleted);
        if (!org) return;
        gone = tx.later<Taken>(take_some, org->id, rows).must().rows == 0;
        if (gone) tx.queue(drop_org, org->id);
    });
    if (gone) Poco::Logger::get("orgs").information("deleted workspace " + org->id.str());
    return org.has_value();
}

}  // namespace

void mark_as_deleted(Tx& tx, const Uuid& org) { tx.queue(mark_deleted, org); }

void Deletions::go_on() {
    const auto until = std::chrono::steady_clock::now() + turn;
    try {
        while (std::chrono::steady_clock::now() < until && take_batch(kernel_, rows_)) {
            rows_ = std::min(2 * rows_, most_rows);
            if (kernel_.stopping()) return;
        }
    } catch (const std::exception&) {
        rows_ = std::max<std::int64_t>(rows_ / 10, 1);  // a smaller one may be done in time
        throw;
    }
}

}  // namespace svc::orgs
