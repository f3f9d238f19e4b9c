#include "modules/webhooks/lines_store.hpp"

#include "modules/webhooks/webhooks.hpp"

#include <algorithm>
#include <array>

namespace svc::webhooks {

namespace {

constexpr std::chrono::seconds lease_time{30};
constexpr std::size_t read_at_once = 8;  // deliveries of a line

constexpr Sql take_due{"webhooks.take_endpoints", R"(
    UPDATE webhook_endpoints
    SET lease = $1, due_at = now() + $2::interval
    WHERE org_id IS NOT NULL AND ctid = ANY (ARRAY(
        SELECT e.ctid FROM webhook_endpoints e
        WHERE e.org_id IS NOT NULL AND e.due_at <= now()
        ORDER BY e.due_at
        LIMIT $3
        FOR UPDATE SKIP LOCKED))
    RETURNING org_id, webhook_id, consecutive_failures, last_success_at IS NOT NULL AS proven)"};

// By key: what is leased without the server's knowledge, for it never heard that its COMMIT was
// done, runs out and is taken again.
constexpr Sql extend_lease{"webhooks.extend_leases", R"(
    UPDATE webhook_endpoints e
    SET due_at = now() + $2::interval
    FROM unnest($3::uuid[], $4::uuid[]) AS k (org_id, webhook_id)
    WHERE e.org_id = k.org_id AND e.webhook_id = k.webhook_id AND e.lease = $1
      AND e.due_at > now() AND e.due_at <= now() + $2::interval
    RETURNING e.org_id, e.webhook_id)"};

constexpr Sql read_webhooks{"webhooks.read_endpoints", R"(
    SELECT w.id, w.url, w.status, encode(w.secret, 'hex') AS secret,
        CASE WHEN w.old_secret_until > now() THEN encode(w.old_secret, 'hex') END AS old_secret
    FROM unnest($1::uuid[], $2::uuid[]) AS k (org_id, webhook_id)
    CROSS JOIN LATERAL (
        SELECT h.* FROM webhooks h
        JOIN orgs o ON o.id = h.org_id AND o.deleted_at IS NULL
        WHERE h.org_id = k.org_id AND h.id = k.webhook_id AND h.deleted_at IS NULL
        OFFSET 0
    ) w)"};

constexpr Sql read_due{"webhooks.read_due", R"(
    SELECT d.webhook_id, d.id, d.event_id, d.position, d.attempt_count, d.retries, d.attempts
    FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS k (org_id, webhook_id, most)
    CROSS JOIN LATERAL (
        SELECT x.* FROM webhook_deliveries x
        WHERE x.org_id = k.org_id AND x.webhook_id = k.webhook_id AND x.next_attempt_at <= now()
        ORDER BY x.next_attempt_at, x.id
        LIMIT k.most
        OFFSET 0
    ) d)"};

// A delivery that somebody else has made meanwhile stays as it is.
constexpr Sql write_attempt{"webhooks.write_attempt", R"(
    UPDATE webhook_deliveries
    SET status = $4, attempt_count = $5, retries = $6,
        next_attempt_at = now() + $7::bigint * interval '1 millisecond',
        attempts = $8, response_excerpt = $9
    WHERE org_id = $1 AND webhook_id = $2 AND id = $3 AND next_attempt_at IS NOT NULL)"};

constexpr Sql write_endpoint{"webhooks.write_endpoint", R"(
    UPDATE webhook_endpoints
    SET consecutive_failures = $4,
        failing_since = CASE WHEN $4 > 0 THEN coalesce(failing_since, now()) END,
        alerts = CASE WHEN $4 > 0 THEN alerts ELSE 0 END,
        last_success_at = CASE WHEN $5::boolean THEN now() ELSE last_success_at END,
        last_failure_at = CASE WHEN $6::boolean THEN now() ELSE last_failure_at END,
        probe_at = now() + $7::bigint * interval '1 millisecond'
    WHERE org_id = $1 AND webhook_id = $2 AND lease = $3
    RETURNING extract(epoch FROM now() - failing_since)::bigint AS seconds, alerts)"};

// A statement of its own in front of the next, which so sees whatever was recorded before.
constexpr Sql lock_leased{"webhooks.lock_leased", R"(
    SELECT webhook_id FROM webhook_endpoints
    WHERE org_id = $1 AND webhook_id = $2 AND lease = $3
    FOR NO KEY UPDATE)"};

constexpr Sql let_go{"webhooks.release_endpoint", R"(
    UPDATE webhook_endpoints
    SET lease = NULL, due_at = (
        SELECT greatest(d.next_attempt_at, webhook_endpoints.probe_at)
        FROM webhook_deliveries d
        WHERE d.org_id = $1 AND d.webhook_id = $2 AND d.next_attempt_at IS NOT NULL
          AND EXISTS (
              SELECT FROM webhooks w
              JOIN orgs o ON o.id = w.org_id AND o.deleted_at IS NULL
              WHERE w.org_id = $1 AND w.id = $2 AND w.status = 'active'
                AND w.deleted_at IS NULL)
        ORDER BY d.next_attempt_at
        LIMIT 1)
    WHERE org_id = $1 AND webhook_id = $2 AND lease = $3
    RETURNING coalesce(due_at <= now(), false) AS is_due)"};

struct TakenRow {
    Uuid org_id, webhook_id;
    std::int64_t consecutive_failures = 0;
    bool proven = false;
};
SVC_RECORD(TakenRow, (org_id), (webhook_id), (consecutive_failures), (proven));

struct KeyRow {
    Uuid org_id, webhook_id;
};
SVC_RECORD(KeyRow, (org_id), (webhook_id));

struct WebhookRow {
    Uuid id;
    std::string url;
    WebhookStatus status = WebhookStatus::active;
    std::string secret;
    std::optional<std::string> old_secret;
};
SVC_RECORD(WebhookRow, (id), (url), (status), (secret), (old_secret));

struct DueRow {
    Uuid webhook_id, id, event_id;
    std::int64_t position = 0, attempt_count = 0, retries = 0;
    std::vector<DeliveryAttempt> attempts;
};
SVC_RECORD(
    DueRow, (webhook_id), (id), (event_id), (position), (attempt_count), (retries), (attempts)
);

struct FailingRow {
    std::optional<std::int64_t> seconds;
    std::int64_t alerts = 0;
};
SVC_RECORD(FailingRow, (seconds), (alerts));

struct ReleasedRow {
    bool is_due = false;
};
SVC_RECORD(ReleasedRow, (is_due));

void set_target(const Kernel& kernel, Reach reach, Line& line, const WebhookRow& row) {
    line.open = row.status == WebhookStatus::active;
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
        {row.id, row.event_id, row.position, row.attempt_count, row.retries, std::move(row.attempts)
        }
    );
}

std::string text_of(const std::vector<DeliveryAttempt>& attempts) {
    std::string text;
    Json<std::vector<DeliveryAttempt>>::write(attempts, text);
    return text;
}

std::optional<std::int64_t> count_of(const std::optional<std::chrono::milliseconds>& span) {
    return span ? std::optional(span->count()) : std::nullopt;
}

/// The endpoint in front of its deliveries, in which order everybody locks them.
DeferredRows<FailingRow> queue_writes(Tx& tx, const Uuid& lease, const Settled& each) {
    const Line& line = *each.line;
    auto failing = tx.later<FailingRow>(
        write_endpoint,
        line.org_id,
        line.webhook_id,
        lease,
        line.consecutive_failures,
        each.succeeded,
        each.failed,
        count_of(line.rest)
    );
    for (const Attempted& attempt : each.attempts)
        tx.queue(
            write_attempt,
            line.org_id,
            line.webhook_id,
            attempt.id,
            attempt.status,
            attempt.attempt_count,
            attempt.retries,
            count_of(attempt.next_after),
            text_of(attempt.attempts),
            attempt.response_excerpt
        );
    return failing;
}

}  // namespace

std::vector<Line> take_lines(Tx& tx, const Uuid& lease, std::int64_t most) {
    std::vector<Line> lines;
    for (const TakenRow& each : tx.all<TakenRow>(take_due, lease, lease_time, most)) {
        Line& line = lines.emplace_back();
        line.org_id = each.org_id;
        line.webhook_id = each.webhook_id;
        line.consecutive_failures = each.consecutive_failures;
        line.proven = each.proven;
    }
    return lines;
}

std::vector<LineKey> extend(Tx& tx, const Uuid& lease, const std::vector<LineKey>& lines) {
    std::vector<Uuid> orgs, webhooks;
    for (const LineKey& each : lines) {
        orgs.push_back(each.org_id);
        webhooks.push_back(each.webhook_id);
    }
    std::vector<LineKey> held;
    for (const KeyRow& each : tx.all<KeyRow>(extend_lease, lease, lease_time, orgs, webhooks))
        held.push_back({each.org_id, each.webhook_id});
    return held;
}

void read_lines(Kernel& kernel, Reach reach, Tx& tx, const std::vector<Line*>& lines) {
    std::array<std::vector<Uuid>, 2> keys;
    std::vector<std::string> most;
    std::map<Uuid, Line*> by_id;
    for (Line* each : lines) {
        keys[0].push_back(each->org_id);
        keys[1].push_back(each->webhook_id);
        most.push_back(std::to_string(read_at_once + each->busy.size()));
        by_id[each->webhook_id] = each;
    }
    auto webhooks = tx.later<WebhookRow>(read_webhooks, keys[0], keys[1]);
    auto due = tx.later<DueRow>(read_due, keys[0], keys[1], most);
    for (Line* each : lines) {
        each->open = false;
        each->waiting.clear();
        each->look = false;
        each->looked_at = Line::Clock::now();
    }
    for (const WebhookRow& each : webhooks.all())
        set_target(kernel, reach, *by_id.at(each.id), each);
    for (DueRow& each : due.all()) add_due(*by_id.at(each.webhook_id), std::move(each));
    for (Line* each : lines) {
        each->look = each->waiting.size() >= read_at_once;
        if (!each->waiting.empty()) each->active_at = each->looked_at;
        if (!each->open) each->waiting.clear();
    }
}

std::map<LineKey, Failing> write(Tx& tx, const Uuid& lease, const std::vector<Settled>& settled) {
    std::vector<DeferredRows<FailingRow>> rows;
    for (const Settled& each : settled) rows.push_back(queue_writes(tx, lease, each));
    std::map<LineKey, Failing> failing;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (const auto row = rows[i].one(); row && row->seconds)
            failing[{settled[i].line->org_id, settled[i].line->webhook_id}] = {
                *row->seconds, row->alerts
            };
    return failing;
}

bool release(Tx& tx, const Uuid& lease, const std::vector<const Line*>& lines) {
    std::vector<DeferredRows<ReleasedRow>> rows;
    for (const Line* each : lines) {
        tx.queue(lock_leased, each->org_id, each->webhook_id, lease);
        rows.push_back(tx.later<ReleasedRow>(let_go, each->org_id, each->webhook_id, lease));
    }
    bool is_due = false;
    for (auto& each : rows)
        if (const auto row = each.one()) is_due |= row->is_due;
    return is_due;
}

}  // namespace svc::webhooks
