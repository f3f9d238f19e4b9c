// Looking at a lease.

#include "modules/boards/api/access.hpp"
#include "modules/queue/lib/rows.hpp"
#include "modules/queue/operations.hpp"

namespace svc::queue {

namespace {

struct LeaseId {
    Uuid lease_id;
};
SVC_RECORD(LeaseId, (lease_id));

/// A lease, and what the caller may do on its board.
struct Seen {
    Lease lease;
    std::optional<boards::BoardRole> role;
};
SVC_RECORD(Seen, (lease, "", flatten), (role));

constexpr Sql see_live{"queue.get_live_lease", R"(
    SELECT )" SVC_LIVE_LEASE("q") R"(,
        )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role
    FROM queue q
    JOIN boards b ON b.org_id = $1 AND b.id = q.board_id
    )" SVC_BOARD_GRANT("b.id") R"(
    WHERE q.org_id = $1 AND q.lease_id = $5)"};

constexpr Sql see_ended{"queue.get_ended_lease", R"(
    SELECT )" SVC_ENDED_LEASE("o") R"(,
        )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role
    FROM lease_outcomes o
    JOIN boards b ON b.org_id = $1 AND b.id = o.board_id
    )" SVC_BOARD_GRANT("b.id") R"(
    WHERE o.org_id = $1 AND o.lease_id = $5)"};

/// Its holder may look whatever the board says.
std::optional<Lease> if_visible(
    const Call& call, const Lease& lease, const std::optional<boards::BoardRole>& role
) {
    if (lease.holder.id == call.caller().id || role) return lease;
    return std::nullopt;
}

Lease get(Call& call, const LeaseId& in) {
    if (auto lease = find_lease(call, in.lease_id)) return *std::move(lease);
    not_found("lease");
}

}  // namespace

std::optional<Lease> find_lease(Call& call, const Uuid& id) {
    const auto caller = boards::BoardCaller::of(call);
    auto live = caller.later<Seen>(call.tx(), see_live, id);
    auto over = caller.later<Seen>(call.tx(), see_ended, id);
    if (const auto seen = live.one()) return if_visible(call, seen->lease, seen->role);
    if (const auto seen = over.one()) return if_visible(call, seen->lease, seen->role);
    return std::nullopt;
}

const Operation get_lease{
    .name = "get_lease",
    .route = "GET /v1/leases/{lease_id}",
    .summary = "Read a lease, live or over.",
    .description =
        "Attempts are kept as long as their card, leases that were released or revoked for a week.",
    .access = Access::member,
    .handler = get,
};

}  // namespace svc::queue
