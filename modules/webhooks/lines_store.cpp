#include "modules/webhooks/lines_store.hpp"

#include "modules/webhooks/webhooks.hpp"

#include <algorithm>

namespace svc::webhooks {

SVC_RECORD(LineKey, (org_id), (webhook_id));

namespace {

constexpr std::chrono::seconds lease_time{30};
constexpr std::size_t read_at_once = 8;  // deliveries of a line

constexpr Sql find_due{"webhooks.find_due_endpoints", R"(
    SELECT e.org_id, e.webhook_id FROM webhook_endpoints e
    WHERE e.org_id IS NOT NULL AND e.due_at <= now()
    ORDER BY e.due_at
    LIMIT $1)"};

// By key, as what follows: whatever the planner believes of the table, only these are read.
constexpr Sql take_due{"webhooks.take_endpoints", R"(
    UPDATE webhook_endpoints
    SET lease = $3, due_at = now() + $4::interval
    WHERE org_id = $1 AND webhook_id = ANY (ARRAY(
        SELECT e.webhook_id
        FROM unnest($2::uuid[]) AS k (webhook_id)
        CROSS JOIN LATERAL (
            SELECT p.webhook_id FROM webhook_endpoints p
            WHERE p.org_id = $1 AND p.webhook_id = k.webhook_id AND p.due_at <= now()
            FOR UPDATE SKIP LOCKED
        ) e))
    RETURNING webhook_id)"};

// What is leased without the server's knowledge, for it never heard that its COMMIT was done, runs
// out and is taken again.
constexpr Sql extend_lease{"webhooks.extend_leases", R"(
    UPDATE webhook_endpoints e
    SET due_at = now() + $4::interval
    FROM unnest($2::uuid[]) AS k (webhook_id)
    WHERE e.org_id = $1 AND e.webhook_id = k.webhook_id AND e.lease = $3
      AND e.due_at > now() AND e.due_at <= now() + $4::interval
    RETURNING e.webhook_id)"};

constexpr Sql shorten_lease{"webhooks.shorten_leases", R"(
    UPDATE webhook_endpoints e
    SET due_at = now() + $4::interval
    FROM unnest($2::uuid[]) AS k (webhook_id)
    WHERE e.org_id = $1 AND e.webhook_id = k.webhook_id AND e.lease = $3
      AND e.due_at > now() + $4::interval)"};

constexpr Sql read_webhooks{"webhooks.read_endpoints", R"(
    SELECT w.id, w.url, w.status, w.version, encode(w.secret, 'hex') AS secret,
        CASE WHEN w.old_secret_until > now() THEN encode(w.old_secret, 'hex') END AS old_secret,
        w.epoch, w.consecutive_failures, w.proven,
        CASE WHEN w.probe_at > now()
            THEN (extract(epoch FROM w.probe_at - now()) * 1000)::bigint END AS rest_ms
    FROM unnest($2::uuid[]) AS k (webhook_id)
    CROSS JOIN LATERAL (
        SELECT h.*, e.epoch, e.consecutive_failures, e.proven, e.probe_at
        FROM webhooks h
        JOIN webhook_endpoints e ON e.org_id = $1 AND e.webhook_id = k.webhook_id
        JOIN orgs o ON o.id = $1 AND o.deleted_at IS NULL
        WHERE h.org_id = $1 AND h.id = k.webhook_id AND h.deleted_at IS NULL
        OFFSET 0
    ) w)"};

constexpr Sql read_due{"webhooks.read_due", R"(
    SELECT d.webhook_id, d.id, d.event_id, d.position, d.attempt_count, d.retries, d.redeliveries,
        d.attempts
    FROM unnest($2::uuid[], $3::bigint[]) AS k (webhook_id, most)
    CROSS JOIN LATERAL (
        SELECT x.* FROM webhook_deliveries x
        WHERE x.org_id = $1 AND x.webhook_id = k.webhook_id AND x.next_attempt_at <= now()
        ORDER BY x.next_attempt_at, x.id
        LIMIT k.most
        OFFSET 0
    ) d)"};

constexpr Sql read_versions{"webhooks.read_versions", R"(
    SELECT w.id, w.version
    FROM unnest($2::uuid[]) AS k (webhook_id)
    CROSS JOIN LATERAL (
        SELECT h.id, h.version FROM webhooks h
        JOIN orgs o ON o.id = $1 AND o.deleted_at IS NULL
        WHERE h.org_id = $1 AND h.id = k.webhook_id AND h.status = 'active'
          AND h.deleted_at IS NULL
        OFFSET 0
    ) w)"};

struct IdRow {
    Uuid webhook_id;
};
SVC_RECORD(IdRow, (webhook_id));

struct WebhookRow {
    Uuid id;
    std::string url;
    WebhookStatus status = WebhookStatus::active;
    std::int64_t version = 0;
    std::string secret;
    std::optional<std::string> old_secret;
    std::int64_t epoch = 0, consecutive_failures = 0;
    bool proven = false;
    std::optional<std::int64_t> rest_ms;
};
SVC_RECORD(
    WebhookRow,
    (id),
    (url),
    (status),
    (version),
    (secret),
    (old_secret),
    (epoch),
    (consecutive_failures),
    (proven),
    (rest_ms)
);

struct VersionRow {
    Uuid id;
    std::int64_t version = 0;
};
SVC_RECORD(VersionRow, (id), (version));

struct DueRow {
    Uuid webhook_id, id, event_id;
    std::int64_t position = 0, attempt_count = 0, retries = 0, redeliveries = 0;
    std::vector<DeliveryAttempt> attempts;
};
SVC_RECORD(
    DueRow,
    (webhook_id),
    (id),
    (event_id),
    (position),
    (attempt_count),
    (retries),
    (redeliveries),
    (attempts)
);

using IdsOfOrgs = std::map<Uuid, std::vector<Uuid>>;

IdsOfOrgs ids_of_orgs(const std::vector<LineKey>& keys) {
    IdsOfOrgs out;
    for (const LineKey& each : keys) out[each.org_id].push_back(each.webhook_id);
    return out;
}

/// What statements give, one for each workspace.
class AnsweredKeys {
public:
    void add(const Uuid& org, DeferredRows<IdRow> rows) { rows_.emplace_back(org, rows); }
    std::vector<LineKey> all() {
        std::vector<LineKey> out;
        for (auto& [org, rows] : rows_)
            for (const IdRow& each : rows.all()) out.push_back({org, each.webhook_id});
        return out;
    }

private:
    std::vector<std::pair<Uuid, DeferredRows<IdRow>>> rows_;
};

void set_target(const Kernel& kernel, Reach reach, Line& line, const WebhookRow& row) {
    line.open = row.status == WebhookStatus::active;
    line.version = row.version;
    line.epoch = row.epoch;
    line.consecutive_failures = row.consecutive_failures;
    line.proven = row.proven;
    line.rest.reset();
    if (row.rest_ms) line.rest = std::chrono::milliseconds(*row.rest_ms);
    line.fault = fault_of_target(row.url, reach);
    line.secrets.clear();
    if (line.fault.empty()) line.to = WebAddress::parse(row.url);
    if (auto secret = unsealed(kernel, row.id, row.secret))
        line.secrets.push_back(*std::move(secret));
    else line.fault = "the server's key is another since the secret was made; rotate the secret";
    if (row.old_secret)
        if (auto old = unsealed(kernel, row.id, *row.old_secret))
            line.secrets.push_back(*std::move(old));
}

void add_due(Line& line, DueRow&& row) {
    if (line.busy.contains(row.id) || line.waiting.size() >= read_at_once) return;
    line.waiting.push_back(
        {row.id,
         row.event_id,
         row.position,
         row.attempt_count,
         row.retries,
         row.redeliveries,
         std::move(row.attempts)}
    );
}

}  // namespace

Taken take_lines(Tx& tx, const Uuid& lease, std::int64_t most) {
    const auto due = tx.all<LineKey>(find_due, most);
    AnsweredKeys taken;
    for (const auto& [org, ids] : ids_of_orgs(due))
        taken.add(org, tx.later<IdRow>(take_due, org, ids, lease, lease_time));
    return {taken.all(), static_cast<std::int64_t>(due.size()) == most};
}

std::vector<LineKey> extend(Tx& tx, const Uuid& lease, const std::vector<LineKey>& lines) {
    AnsweredKeys held;
    for (const auto& [org, ids] : ids_of_orgs(lines))
        held.add(org, tx.later<IdRow>(extend_lease, org, ids, lease, lease_time));
    return held.all();
}

void shorten(
    Tx& tx, const Uuid& lease, const std::vector<LineKey>& lines, std::chrono::seconds left
) {
    for (const auto& [org, ids] : ids_of_orgs(lines))
        tx.queue(shorten_lease, org, ids, lease, left);
}

void read_lines(Kernel& kernel, Reach reach, Tx& tx, const std::vector<Line*>& lines) {
    struct OfOrg {
        std::vector<Uuid> ids;
        std::vector<std::string> most;
    };
    std::map<Uuid, OfOrg> orgs;
    std::map<Uuid, Line*> by_id;
    for (Line* each : lines) {
        OfOrg& org = orgs[each->org_id];
        org.ids.push_back(each->webhook_id);
        org.most.push_back(std::to_string(read_at_once + each->busy.size()));
        by_id[each->webhook_id] = each;
    }
    std::vector<DeferredRows<WebhookRow>> webhooks;
    std::vector<DeferredRows<DueRow>> due;
    for (const auto& [id, org] : orgs) {
        webhooks.push_back(tx.later<WebhookRow>(read_webhooks, id, org.ids));
        due.push_back(tx.later<DueRow>(read_due, id, org.ids, org.most));
    }
    for (Line* each : lines) {
        each->open = false;
        each->waiting.clear();
        each->look = false;
        each->looked_at = Line::Clock::now();
    }
    for (auto& rows : webhooks)
        for (const WebhookRow& each : rows.all())
            set_target(kernel, reach, *by_id.at(each.id), each);
    for (auto& rows : due)
        for (DueRow& each : rows.all()) add_due(*by_id.at(each.webhook_id), std::move(each));
    for (Line* each : lines) {
        if (!each->waiting.empty()) each->active_at = each->looked_at;
        if (!each->open || each->rest) each->waiting.clear();
        each->look = each->waiting.size() >= read_at_once;
    }
}

Fetched fetch(Tx& tx, const std::set<const Line*>& lines, const std::set<std::int64_t>& positions) {
    std::map<Uuid, std::map<Uuid, const Line*>> orgs;
    for (const Line* each : lines) orgs[each->org_id][each->webhook_id] = each;
    std::vector<std::pair<Uuid, DeferredRows<VersionRow>>> versions;
    for (const auto& [org, of_org] : orgs) {
        std::vector<Uuid> ids;
        for (const auto& [id, line] : of_org) ids.push_back(id);
        versions.emplace_back(org, tx.later<VersionRow>(read_versions, org, ids));
    }
    Fetched out;
    if (!positions.empty()) out.events = events_at(tx, {positions.begin(), positions.end()});
    for (const Line* each : lines) out.changed.insert(key_of(*each));
    for (auto& [org, rows] : versions)
        for (const VersionRow& each : rows.all())
            if (orgs.at(org).at(each.id)->version == each.version)
                out.changed.erase({org, each.id});
    return out;
}

}  // namespace svc::webhooks
