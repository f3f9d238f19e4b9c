// The audit record, as admins read it. The kernel writes it (docs/events.md).

#include "modules/orgs/seats.hpp"

namespace svc::orgs {

namespace {

enum class AuditOutcome { success, denied };
BOOST_DESCRIBE_ENUM(AuditOutcome, success, denied)

struct AuditTarget {
    std::optional<std::string> type;
    std::optional<Uuid> id;
    std::optional<std::string> name;
};
SVC_RECORD(
    AuditTarget,
    (type, "What sort of thing it is."),
    (id, "Which one."),
    (name, "As people called it; null when it has no name.")
);

struct AuditEvent {
    Object<"audit_event"> object;
    Uuid id;
    Uuid org_id;
    std::int64_t sequence = 0;
    std::string action;
    EventActor actor;
    std::optional<AuditTarget> target;
    std::optional<JsonText> before;
    std::optional<JsonText> after;
    AuditOutcome outcome{};
    std::optional<std::string> ip_address;
    std::optional<std::string> user_agent;
    std::optional<std::string> request_id;
    std::string hash;
    std::string prev_hash;
    Timestamp occurred_at;
};
SVC_RECORD(
    AuditEvent,
    (object, "Always \"audit_event\"."),
    (id, "The entry's id; its event, where there is one, has the same."),
    (org_id, "The workspace."),
    (sequence, "Rises by one in the workspace, without gaps."),
    (action, "The operation; or what an operator or a job did."),
    (actor, "Who did it, on whose behalf, with which token and by which surface."),
    (target, "What it was about; null when that is not one thing."),
    (before, "The old values of what changed; null when there are none. Never a secret."),
    (after, "The new values; of a refusal the answer's code and message."),
    (outcome, "`denied` when the caller had not the right."),
    (ip_address, "Where it came from; null when it was the server itself."),
    (user_agent, "The program it came from."),
    (request_id, "The request's id, as in its answer's header."),
    (hash, "SHA-256 of this entry and, through `prev_hash`, of all before it."),
    (prev_hash, "The hash of the entry before; 64 zeros in the first."),
    (occurred_at, "When, by the database's clock.")
);

/// Entries that one page looks at, whatever it is asked for: a filter that few of them pass takes
/// many pages and no long statement.
constexpr std::int64_t reach = 10'000;

// From below the cursor, or from the last entry there is; `first` says from where, in one row at
// least.
constexpr Sql some_entries{"orgs.list_audit_events", R"(
    SELECT page.first, e.*
    FROM (
        SELECT coalesce($2::bigint, max(c.audit_sequence) + 1, 1) AS first
        FROM event_chain c
        WHERE c.org_id = $1 AND ($2::bigint IS NULL OR c.audit_sequence = $2)
    ) page
    LEFT JOIN LATERAL (
        SELECT id, org_id, sequence, action,
            json_build_object('principal_type', actor_type, 'id', actor_id, 'name', actor_name,
                'token_id', actor_token_id, 'on_behalf_of_user_id', on_behalf_of_user_id,
                'via', via) AS actor,
            CASE WHEN target_type IS NOT NULL OR target_id IS NOT NULL THEN
                json_build_object('type', target_type, 'id', target_id, 'name', target_name)
            END AS target,
            before, after, outcome, ip_address, user_agent, request_id,
            encode(hash, 'hex') AS hash, encode(prev_hash, 'hex') AS prev_hash, occurred_at
        FROM audit_events
        WHERE org_id = $1 AND sequence < page.first AND sequence >= page.first - $11
          AND ($3::text IS NULL OR action = $3)
          AND ($4::uuid IS NULL OR actor_id = $4)
          AND ($5::text IS NULL OR target_type = $5)
          AND ($6::uuid IS NULL OR target_id = $6)
          AND ($7::text IS NULL OR outcome = $7)
          AND ($8::timestamptz IS NULL OR occurred_at >= $8)
          AND ($9::timestamptz IS NULL OR occurred_at < $9)
        ORDER BY sequence DESC
        LIMIT $10
    ) e ON true
    ORDER BY e.sequence DESC)"};

struct Start {
    std::int64_t first = 0;
};
SVC_RECORD(Start, (first));

struct Numbered {
    std::optional<std::int64_t> sequence;
};
SVC_RECORD(Numbered, (sequence));

struct AuditQuery {
    Uuid org_id;
    std::optional<std::string> action;
    std::optional<Uuid> actor_id;
    std::optional<std::string> target_type;
    std::optional<Uuid> target_id;
    std::optional<AuditOutcome> outcome;
    std::optional<Timestamp> since;
    std::optional<Timestamp> until;
    Paging paging;
};
SVC_RECORD(
    AuditQuery,
    (org_id, "A workspace that the caller looks after."),
    (action, "Only this operation, such as `update_member`.", length(1, 100)),
    (actor_id, "Only what this person, agent or automation did."),
    (target_type, "Only what was about such things, such as `card`.", length(1, 100)),
    (target_id, "Only what was about this thing."),
    (outcome, "Only what was done, or only what was refused."),
    (since, "Only what happened then or later."),
    (until, "Only what happened before."),
    (paging, "", flatten)
);

template <Described Row>
Row row_of(Result& result, std::size_t number) {
    Row row;
    result.read(number, record_of<Row>(), &row);
    return row;
}

Page<AuditEvent> list(Call& call, const AuditQuery& in) {
    const Uuid& org = require_here(call, in.org_id);
    const auto after = call.after(in.paging);
    auto found = call.tx().queue(
        some_entries,
        org,
        after ? std::optional(after->front()) : std::nullopt,
        in.action,
        in.actor_id,
        in.target_type,
        in.target_id,
        in.outcome,
        in.since,
        in.until,
        in.paging.page_size + 1,
        reach
    );
    std::vector<AuditEvent> rows;
    for (std::size_t i = 0; i < found.rows(); ++i)
        if (row_of<Numbered>(found, i).sequence) rows.push_back(row_of<AuditEvent>(found, i));
    auto page = call.page(std::move(rows), in.paging, [](const AuditEvent& last) {
        return std::vector{std::to_string(last.sequence)};
    });
    const auto end = row_of<Start>(found, 0).first - reach;
    if (!page.next_cursor && end > 1) page.next_cursor = call.cursor({std::to_string(end)});
    return page;
}

const Operation list_audit_events{
    .name = "list_audit_events",
    .route = "GET /v1/orgs/{org_id}/audit-events",
    .summary = "List a workspace's audit entries, newest first.",
    .description =
        "Every write, and every call that was refused for want of rights, some milliseconds "
        "after it; of many refusals of one call to one caller within a minute ten, and an entry "
        "with their `count`. The entries form a chain of hashes that `workboard audit verify` "
        "checks. A page looks at 10,000 entries: with a filter it may be short or empty and yet "
        "have a next one.",
    .access = Access::admin,
    .handler = list,
};

}  // namespace

void add_audit_operations(Kernel& kernel) { kernel.add(list_audit_events); }

}  // namespace svc::orgs
