#include "events/audit.hpp"

#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <openssl/evp.h>

#include <algorithm>

namespace svc::events {

namespace {

constexpr Sql read_entries{"events.read_audit_entries", R"(
    SELECT a.org_id, a.sequence, a.log_id, a.id, a.occurred_at, a.action, a.outcome, a.actor_json,
           a.actor_type, a.actor_id, a.actor_name, a.actor_token_id, a.on_behalf_of_user_id, a.via,
           a.target_type, a.target_id, a.target_name, a.before, a.after, a.ip_address,
           a.user_agent, a.request_id,
           encode(a.hash, 'hex') AS hash, '' AS prev_hash
    FROM audit_events a
    WHERE a.org_id = $1 AND a.sequence > $2
    ORDER BY a.sequence
    LIMIT 500)"};

constexpr Sql read_head{"events.read_audit_head", R"(
    SELECT audit_sequence AS sequence, encode(audit_hash, 'hex') AS hash
    FROM event_heads
    WHERE org_id = $1)"};

struct Head {
    std::int64_t sequence = 0;
    std::string hash;
};
SVC_RECORD(Head, (sequence), (hash));

/// A value as `<length in bytes>:<bytes>,`, so that no value can pass for two.
void append(std::string_view value, std::string& out) {
    out += std::to_string(value.size());
    out += ':';
    out += value;
    out += ',';
}
void append(std::int64_t value, std::string& out) { append(std::to_string(value), out); }
void append(const Uuid& value, std::string& out) { append(value.str(), out); }
template <class T>
void append(const std::optional<T>& value, std::string& out) {
    if (value) append(*value, out);
    else out += "-,";
}
void append(const ActorColumns& actor, std::string& out) {
    append(actor.actor_type, out);
    append(actor.actor_id, out);
    append(actor.actor_name, out);
    append(actor.actor_token_id, out);
    append(actor.on_behalf_of_user_id, out);
    append(actor.via, out);
}

ActorColumns columns_of(const EventActor& actor) {
    return {
        .actor_type = std::string(name_of(actor.principal_type)),
        .actor_id = actor.id,
        .actor_name = actor.name,
        .actor_token_id = actor.token_id,
        .on_behalf_of_user_id = actor.on_behalf_of_user_id,
        .via = std::string(name_of(actor.via)),
    };
}

/// Whether the columns say what the JSON does, which they were filled from and which alone is in the
/// hash.
bool is_filled_from(const ActorColumns& columns, const std::string& actor_json) {
    try {
        AsJson<EventActor> was;
        was.text = actor_json;
        return columns == columns_of(was.parsed());
    } catch (const std::exception&) {
        return false;
    }
}

/// What is wrong with an entry that stands where `expected` is due.
std::optional<std::string> fault_of(const AuditEntry& entry, std::int64_t expected) {
    const std::string which = "entry " + std::to_string(expected);
    if (entry.sequence != expected) return which + " is missing";
    if (entry.hash != hash_of(entry) ||
        (entry.actor_json && !is_filled_from(entry.actor, *entry.actor_json)))
        return which + " was changed";
    return std::nullopt;
}

}  // namespace

EventActor actor_in(const ActorColumns& columns) {
    return {
        .principal_type =
            enumerator_of<PrincipalType>(columns.actor_type).value_or(PrincipalType::system),
        .id = columns.actor_id,
        .name = columns.actor_name,
        .token_id = columns.actor_token_id,
        .on_behalf_of_user_id = columns.on_behalf_of_user_id,
        .via = enumerator_of<Surface>(columns.via).value_or(Surface::system),
    };
}

const std::string& chain_start() {
    static const std::string zeros(64, '0');
    return zeros;
}

std::string canonical(const AuditEntry& entry) {
    constexpr std::size_t beside_values = 600;
    const auto size_of = [](const auto& values) { return values ? values->size() : 0; };
    std::string text;
    text.reserve(beside_values + size_of(entry.before) + size_of(entry.after));
    text = entry.actor_json ? "workboard-audit-1," : "workboard-audit-2,";
    append(entry.prev_hash, text);
    append(entry.org_id, text);
    append(entry.sequence, text);
    append(entry.id, text);
    append(entry.occurred_at.micros, text);
    append(entry.action, text);
    append(entry.outcome, text);
    if (entry.actor_json) append(*entry.actor_json, text);
    else append(entry.actor, text);
    append(entry.target_type, text);
    append(entry.target_id, text);
    append(entry.target_name, text);
    append(entry.before, text);
    append(entry.after, text);
    append(entry.ip_address, text);
    append(entry.user_agent, text);
    append(entry.request_id, text);
    return text;
}

std::string hash_of(const AuditEntry& entry) { return hex(sha256(canonical(entry))); }

AuditReport verify_audit(db::Database& database, const Uuid& org) {
    // Read before the entries: the chain may grow meanwhile, but not shrink.
    std::optional<Head> head;
    database.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(org, std::nullopt);
        head = tx.one<Head>(read_head, org);
    });
    AuditReport report{.head = chain_start()};
    std::string hash_at_head = chain_start();
    std::vector<std::int64_t> rows;  // eight bytes of each
    for (std::vector<AuditEntry> page;;) {
        database.transact(Tx::Mode::read, [&](Tx& tx) {
            tx.set_scope(org, std::nullopt);
            page = tx.all<AuditEntry>(read_entries, org, report.entries);
        });
        if (page.empty()) break;
        for (AuditEntry& entry : page) {
            entry.prev_hash = report.head;
            report.fault = fault_of(entry, report.entries + 1);
            if (report.fault) return report;
            ++report.entries;
            rows.push_back(entry.log_id);
            report.head = entry.hash;
            if (head && report.entries == head->sequence) hash_at_head = entry.hash;
        }
    }
    if (head && head->sequence > report.entries)
        report.fault = "entry " + std::to_string(report.entries + 1) + " is missing";
    else if (head && head->hash != hash_at_head)
        report.fault =
            "entry " + std::to_string(head->sequence) + " is not the one that was written";
    std::ranges::sort(rows);
    if (const auto twice = std::ranges::adjacent_find(rows); !report.fault && twice != rows.end())
        report.fault = "row " + std::to_string(*twice) + " of the log has two entries";
    return report;
}

}  // namespace svc::events
