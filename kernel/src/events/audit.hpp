#pragma once

#include "db/database.hpp"
#include "svc/envelope.hpp"
#include "svc/events.hpp"

/// The audit record: one chain of entries per workspace (docs/events.md has the canonical form).
namespace svc::events {

/// Who did it, in the columns of event_log. Whatever stands there can be read: who changed it is to
/// be found out, and keeps nobody from reading on.
struct ActorColumns {
    std::string actor_type;
    Uuid actor_id;
    std::optional<std::string> actor_name;
    std::optional<Uuid> actor_token_id, on_behalf_of_user_id;
    std::string via;
    bool operator==(const ActorColumns&) const = default;
};
SVC_SHARED_RECORD(
    ActorColumns,
    (actor_type),
    (actor_id),
    (actor_name),
    (actor_token_id),
    (on_behalf_of_user_id),
    (via)
);

/// As it is shown; what has no name of ours is the system.
EventActor actor_in(const ActorColumns& columns);

/// An entry of the chain. JSON is kept as text, hashes as lower-case hex.
struct AuditEntry {
    Uuid org_id;
    std::int64_t sequence = 0;
    std::int64_t log_id = 0;  ///< of the row of the log
    Uuid id;
    Timestamp occurred_at;
    std::string action, outcome;
    std::optional<std::string> actor_json;  ///< as it was written before it had columns
    ActorColumns actor;
    std::optional<std::string> target_type;
    std::optional<Uuid> target_id;
    std::optional<std::string> target_name, before, after, ip_address, user_agent, request_id;
    std::string hash;
    std::string prev_hash;  ///< of the entry before: kept with that one
};
SVC_SHARED_RECORD(
    AuditEntry,
    (org_id),
    (sequence),
    (log_id),
    (id),
    (occurred_at),
    (action),
    (outcome),
    (actor_json),
    (actor, "", flatten),
    (target_type),
    (target_id),
    (target_name),
    (before),
    (after),
    (ip_address),
    (user_agent),
    (request_id),
    (hash),
    (prev_hash)
);

/// What the first entry of every chain has before it: 64 zeros.
const std::string& chain_start();

/// The text of an entry that its hash is made of: every column but the hash itself; where there is
/// an `actor_json`, that in place of the actor's columns.
std::string canonical(const AuditEntry& entry);
/// SHA-256 of canonical(entry), in hex.
std::string hash_of(const AuditEntry& entry);

/// What a walk along a workspace's chain found.
struct AuditReport {
    std::int64_t entries = 0;            ///< that are in order
    std::string head;                    ///< the hash of the last of them: note it down elsewhere
    std::optional<std::string> fault{};  ///< the first thing that is wrong, for people
};
AuditReport verify_audit(db::Database& database, const Uuid& org);

}  // namespace svc::events
