#include "modules/queue/rights.hpp"
#include "modules/boards/api/card_queue.hpp"
#include "svc/actor.hpp"
#include "svc/workspace_jobs.hpp"

#include "modules/queue/lib/each_by_itself.hpp"
#include "modules/queue/lib/rows.hpp"

#include <Poco/Logger.h>

#include <algorithm>
#include <mutex>
#include <set>

namespace svc::queue {

namespace {

// What hold_claims() holds.
// A statement of its own: what comes after it sees what was committed while it waited.
constexpr Sql await{"queue.await_claims", R"(
    SELECT pg_advisory_xact_lock(hashtextextended('queue.claims ' || $1::uuid, 0)))"};

// Whose role in the workspace is what: of a person the seat's, of a token the least of its own, its
// agent's and their owners'. One whose seat, agent or token is gone has none, nor has whoever is
// shut out. What neither a person nor an agent holds is nobody's to lose. On a board that is
// archived or in the trash nobody works.
constexpr std::string_view unentitled = R"(
    SELECT )" SVC_QUEUE_ROW ", " SVC_HOLDER("q") R"(, q.last_error
    FROM queue q
    JOIN columns k ON k.org_id = $1 AND k.id = q.column_id
    JOIN boards b ON b.org_id = $1 AND b.id = q.board_id
    CROSS JOIN LATERAL (
        SELECT w.id, p.type,
            CASE WHEN p.type = 'agent' THEN 'agent'
                WHEN q.token_id IS NOT NULL THEN 'token' ELSE 'person' END AS kind
        FROM (SELECT q.holder_id AS id) w
        LEFT JOIN principals p ON p.org_id = $1 AND p.id = w.id
        OFFSET 0
    ) h
    )" SVC_BOARD_GRANT_OF("h.id", "q.board_id") R"(
    LEFT JOIN tokens t ON t.org_id = $1 AND t.id = q.token_id
    LEFT JOIN agents a ON a.org_id = $1 AND a.id = h.id
    LEFT JOIN memberships m
        ON m.org_id = $1
        AND m.user_id = CASE WHEN q.token_id IS NULL THEN h.id ELSE t.owner_user_id END
    LEFT JOIN users u ON u.id = m.user_id
    LEFT JOIN memberships o ON o.org_id = $1 AND o.user_id = a.owner_user_id
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN u.disabled_at IS NOT NULL THEN NULL
            WHEN h.type = 'agent' AND a.status IS DISTINCT FROM 'active' THEN NULL
            WHEN q.token_id IS NOT NULL AND (
                t.id IS NULL OR t.revoked_at IS NOT NULL OR t.expires_at <= now()
                OR m.role IS NULL) THEN NULL
            WHEN q.token_id IS NOT NULL
                THEN lower_role(lower_role(t.role, a.role), lower_role(m.role, o.role))
            WHEN h.type = 'agent' THEN lower_role(a.role, o.role)
            ELSE m.role
        END AS role
        OFFSET 0
    ) s
    WHERE q.org_id = $1 AND q.lease_id IS NOT NULL
        AND (b.is_archived OR b.in_trash
            OR h.type IN ('user', 'agent') AND (s.role IS NULL OR coalesce(
                )" SVC_BOARD_ROLE_OF("h.id", "h.kind", "s.role", "b.visibility", "b.created_by") R"(,
                'viewer') = 'viewer')))";
// Whoever has the row of a card may want those of others that waited for it, so that nobody who
// holds some waits for another: what somebody is at is left out, and is then asked for by itself.
constexpr std::string_view some_of_them = R"(
    ORDER BY q.card_id
    LIMIT $2
    FOR UPDATE OF q SKIP LOCKED)";
constexpr std::string_view those_left = R"(
    ORDER BY q.card_id
    LIMIT $2)";
constexpr std::string_view that_one = R"(
        AND q.card_id = $2
    FOR UPDATE OF q)";
constexpr Sql take_unentitled{"queue.take_unentitled", SqlText<unentitled, some_of_them>::view};
constexpr Sql see_unentitled{"queue.see_unentitled", SqlText<unentitled, those_left>::view};
constexpr Sql take_one_unentitled{"queue.take_one_unentitled", SqlText<unentitled, that_one>::view};

struct Unentitled {
    QueueRow held;
    std::optional<std::string> last_error;
};
SVC_RECORD(Unentitled, (held, "", flatten), (last_error));

constexpr std::int64_t batch = 500;
constexpr std::string_view ending = "queue.end_leases";

/// The card is ready for others; its holder has neither succeeded nor failed, so no attempt counts.
void revoke(Kernel& kernel, Tx& tx, Actor& actor, const Uuid& org, const Unentitled& row) {
    const QueueRow& held = row.held;
    const Lease after = ended(lease_of(org, held), LeaseState::revoked, held.now);
    boards::CardQueue standing;
    standing.state = boards::QueueState::ready;
    standing.attempts = held.attempt - 1;
    standing.last_error = row.last_error;
    end_leases(kernel, tx, actor, org, {{&lease_revoked, after, held, {standing}}});
}

// --------------------------------------------------------------------------------- when

/// Those after which somebody may have less than before.
constexpr std::string_view narrowing[] = {
    "agent.updated",
    "agent.disabled",
    "agent.deleted",
    "token.revoked",
    "member.role_changed",
    "member.removed",
    "member.disabled",
    "grant.created",  // it confines an agent, and lowers what a person has by the role
    "grant.updated",
    "grant.deleted",
    "board.updated",
    "board.deleted",
};

bool may_narrow(std::string_view kind) {
    return std::ranges::find(narrowing, kind) != std::end(narrowing);
}

/// Not to be thrown at a change that is committed: the events come once more.
void try_to_end_leases(Kernel& kernel, const Uuid& org) noexcept {
    try {
        end_leases_without_right(kernel, org);
    } catch (const std::exception& problem) {
        Poco::Logger::get("queue").warning(
            "leases of workspace " + org.str() + " are looked at again: " + problem.what()
        );
    }
}

void end_leases_after(Call& call, const Event& event) {
    const Uuid org = event.org_id ? *event.org_id : call.org();
    call.after_commit([&kernel = call.kernel(), org] { try_to_end_leases(kernel, org); });
}

}  // namespace

void hold_claims(Tx& tx, const Uuid& org) { tx.hold("queue.claims " + org.str()); }

namespace {

/// Of those that somebody is at just now. Nobody waits for us while we wait for them.
void end_the_others(Kernel& kernel, const Uuid& org) {
    for (;;) {
        std::vector<Unentitled> left;
        kernel.transact(Tx::Mode::read, [&](Tx& tx) {
            tx.set_scope(org, {});
            left = tx.all<Unentitled>(see_unentitled, org, batch);
        });
        if (left.empty()) return;
        for (const Unentitled& each : left)
            in_workspace(kernel, org, ending, [&](Tx& tx, Actor& actor) {
                const Uuid& card = each.held.card_id;
                for (const Unentitled& row : tx.all<Unentitled>(take_one_unentitled, org, card))
                    revoke(kernel, tx, actor, org, row);
            });
    }
}

}  // namespace

void end_leases_without_right(Kernel& kernel, const Uuid& org) {
    in_batches(kernel, org, ending, batch, [&](Tx& tx, Actor& actor) {
        tx.queue(await, org);
        const auto found = tx.all<Unentitled>(take_unentitled, org, batch);
        for (const Unentitled& row : found) revoke(kernel, tx, actor, org, row);
        return found.size();
    });
    end_the_others(kernel, org);
}

void watch_rights(Kernel& kernel, NarrowedRights& rights) {
    for (const std::string_view each : narrowing)
        kernel.in_transaction(kernel.event_kind(each), end_leases_after);
    kernel.listen([&rights](std::span<const StoredEvent> events) { rights.note(events); });
}

void NarrowedRights::note(std::span<const StoredEvent> events) {
    for (const StoredEvent& each : events) {
        if (!may_narrow(each.kind)) continue;
        const std::scoped_lock lock(mutex_);
        orgs_.insert(each.org_id);
    }
}

void NarrowedRights::end_leases(Kernel& kernel) {
    std::set<Uuid> orgs;
    {
        const std::scoped_lock lock(mutex_);
        orgs.swap(orgs_);
    }
    each_by_itself(orgs, [&](const Uuid& org) {
        try {
            end_leases_without_right(kernel, org);
        } catch (...) {
            const std::scoped_lock lock(mutex_);
            orgs_.insert(org);
            throw;
        }
    });
}

}  // namespace svc::queue
