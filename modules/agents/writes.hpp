#pragma once

#include "svc/tx.hpp"

/// The end of a right is the end of what was being done by it.
///
/// Every transaction that writes by a token holds a lock, shared, under the name of the agent (or
/// of the integration token) until it is committed, and learns who it is after it got the lock.
/// Whoever takes the right away takes that lock for itself first: so it waits for the writes that
/// are under way, and those that come later find the right gone. Nothing of it touches a row.
namespace svc::agents {

inline constexpr Sql hold_writes{"agents.hold_writes", R"(
    SELECT pg_advisory_xact_lock_shared(hashtextextended($1::text, 0)))"};

inline constexpr Sql await_writes{"agents.await_writes", R"(
    SELECT pg_advisory_xact_lock(hashtextextended(id::text, 0))
    FROM agents WHERE org_id = $1 AND id = $2)"};

/// Of a token, as far as it is the caller's business: see Reach.
inline constexpr Sql await_writes_of_token{"agents.await_writes_of_token", R"(
    SELECT pg_advisory_xact_lock(hashtextextended(coalesce(agent_id, id)::text, 0))
    FROM tokens
    WHERE org_id = $1 AND id = $2
      AND ($3::uuid IS NULL OR owner_user_id = $3)
      AND ($4::uuid IS NULL OR agent_id = $4))"};

}  // namespace svc::agents
