// What attempts came to is written down, and endpoints are let go.

#include "modules/webhooks/lines_store.hpp"

namespace svc::webhooks {

namespace {

// A statement of its own in front of others, which so see what was recorded or changed before.
constexpr Sql lock_leased{"webhooks.lock_leased", R"(
    SELECT webhook_id, epoch FROM webhook_endpoints
    WHERE org_id = $1 AND webhook_id = $2 AND lease = $3
    FOR NO KEY UPDATE)"};

// A delivery that another server has attempted meanwhile, for it has the lease, stays as it is.
constexpr Sql write_attempt{"webhooks.write_attempt", R"(
    UPDATE webhook_deliveries
    SET attempt_count = $5, attempts = $6, response_excerpt = $7, status = $9, retries = $10,
        next_attempt_at = now() + $11::bigint * interval '1 millisecond'
    WHERE org_id = $1 AND webhook_id = $2 AND id = $3 AND attempt_count = $5 - 1
      AND redeliveries = $8
      AND EXISTS (
          SELECT FROM webhook_endpoints e
          WHERE e.org_id = $1 AND e.webhook_id = $2 AND e.lease = $4)
    RETURNING id)"};

// It was asked for once more meanwhile, and stays due.
constexpr Sql list_attempt{"webhooks.list_attempt", R"(
    UPDATE webhook_deliveries
    SET attempt_count = $5, attempts = $6, response_excerpt = $7
    WHERE org_id = $1 AND webhook_id = $2 AND id = $3 AND attempt_count = $5 - 1
      AND redeliveries > $8
      AND EXISTS (
          SELECT FROM webhook_endpoints e
          WHERE e.org_id = $1 AND e.webhook_id = $2 AND e.lease = $4)
    RETURNING id)"};

constexpr Sql write_endpoint{"webhooks.write_endpoint", R"(
    UPDATE webhook_endpoints e
    SET consecutive_failures = $5,
        failing_since = CASE WHEN $5 > 0 THEN coalesce(e.failing_since, t.at) END,
        alerts = CASE WHEN $5 > 0 THEN e.alerts ELSE 0 END,
        proven = e.proven OR $6,
        last_success_at = CASE WHEN $6 THEN t.at ELSE e.last_success_at END,
        last_failure_at = CASE WHEN $7::boolean THEN t.at ELSE e.last_failure_at END,
        probe_at = now() + $8::bigint * interval '1 millisecond'
    FROM (SELECT now() AS at) t
    WHERE e.org_id = $1 AND e.webhook_id = $2 AND e.lease = $3 AND e.epoch = $4
    RETURNING extract(epoch FROM t.at - e.failing_since)::bigint AS seconds, e.alerts)"};

constexpr Sql let_go{"webhooks.release_endpoint", R"(
    UPDATE webhook_endpoints e
    SET lease = NULL, due_at = (
        SELECT greatest(d.next_attempt_at, e.probe_at)
        FROM webhook_deliveries d
        WHERE d.org_id = $1 AND d.webhook_id = $2 AND d.next_attempt_at IS NOT NULL
          AND EXISTS (
              SELECT FROM webhooks w
              JOIN orgs o ON o.id = $1 AND o.deleted_at IS NULL
              WHERE w.org_id = $1 AND w.id = $2 AND w.status = 'active'
                AND w.deleted_at IS NULL)
        ORDER BY d.next_attempt_at
        LIMIT 1)
    FROM (SELECT now() AS at) t
    WHERE e.org_id = $1 AND e.webhook_id = $2 AND e.lease = $3
    RETURNING coalesce(e.due_at <= t.at, false) AS is_due)"};

struct EpochRow {
    Uuid webhook_id;
    std::int64_t epoch = 0;
};
SVC_RECORD(EpochRow, (webhook_id), (epoch));

struct WrittenRow {
    Uuid id;
};
SVC_RECORD(WrittenRow, (id));

struct FailingRow {
    std::optional<std::int64_t> seconds;
    std::int64_t alerts = 0;
};
SVC_RECORD(FailingRow, (seconds), (alerts));

struct ReleasedRow {
    bool is_due = false;
};
SVC_RECORD(ReleasedRow, (is_due));

std::string text_of(const std::vector<DeliveryAttempt>& attempts) {
    std::string text;
    Json<std::vector<DeliveryAttempt>>::write(attempts, text);
    return text;
}

std::optional<std::int64_t> count_of(const std::optional<std::chrono::milliseconds>& span) {
    return span ? std::optional(span->count()) : std::nullopt;
}

DeferredRows<FailingRow> write_line(Tx& tx, const Uuid& lease, const Settled& each) {
    const Line& line = *each.line;
    return tx.later<FailingRow>(
        write_endpoint,
        line.org_id,
        line.webhook_id,
        lease,
        line.epoch,
        line.consecutive_failures,
        each.succeeded,
        each.failed,
        count_of(line.rest)
    );
}

/// Queues the writing of an attempt; the parameters that `sql` has behind those that both have.
template <class... More>
DeferredRows<WrittenRow> write_one(
    Tx& tx,
    const Sql& sql,
    const Uuid& lease,
    const Line& line,
    const Attempted& attempt,
    const More&... more
) {
    return tx.later<WrittenRow>(
        sql,
        line.org_id,
        line.webhook_id,
        attempt.id,
        lease,
        attempt.attempt_count,
        text_of(attempt.attempts),
        attempt.response_excerpt,
        attempt.redeliveries,
        more...
    );
}

/// Writes attempts down, and remembers which it could not.
class AttemptWriter {
public:
    AttemptWriter(Tx& tx, const Uuid& lease) : tx_(tx), lease_(lease) {}

    void add(const Line& line, const Attempted& attempt) {
        written_.push_back(
            {&line,
             &attempt,
             write_one(
                 tx_,
                 write_attempt,
                 lease_,
                 line,
                 attempt,
                 attempt.status,
                 attempt.retries,
                 count_of(attempt.next_after)
             )}
        );
    }
    /// Lists those of deliveries that were asked for once more meanwhile; the lines that these are
    /// of.
    std::set<LineKey> list_others() {
        std::vector<std::pair<LineKey, DeferredRows<WrittenRow>>> listed;
        for (auto& [line, attempt, row] : written_)
            if (!row.one())
                listed.emplace_back(
                    key_of(*line), write_one(tx_, list_attempt, lease_, *line, *attempt)
                );
        std::set<LineKey> out;
        for (auto& [key, row] : listed)
            if (row.one()) out.insert(key);
        return out;
    }

private:
    struct One {
        const Line* line;
        const Attempted* attempt;
        DeferredRows<WrittenRow> row;
    };
    Tx& tx_;
    const Uuid& lease_;
    std::vector<One> written_;
};

}  // namespace

std::map<LineKey, std::int64_t> lock_epochs(
    Tx& tx, const Uuid& lease, const std::set<LineKey>& lines
) {
    std::vector<std::pair<LineKey, DeferredRows<EpochRow>>> rows;
    for (const LineKey& each : lines)
        rows.emplace_back(
            each, tx.later<EpochRow>(lock_leased, each.org_id, each.webhook_id, lease)
        );
    std::map<LineKey, std::int64_t> out;
    for (auto& [key, row] : rows)
        if (const auto epoch = row.one()) out[key] = epoch->epoch;
    return out;
}

Written write(Tx& tx, const Uuid& lease, const std::vector<Settled>& settled) {
    std::vector<std::pair<LineKey, DeferredRows<FailingRow>>> rows;
    AttemptWriter attempts(tx, lease);
    // The endpoint in front of its deliveries, in which order everybody locks them.
    for (const Settled& each : settled) {
        if (each.succeeded || each.failed)
            rows.emplace_back(key_of(*each.line), write_line(tx, lease, each));
        for (const Attempted& attempt : each.attempts) attempts.add(*each.line, attempt);
    }
    Written out;
    for (auto& [key, rows_of_line] : rows)
        if (const auto row = rows_of_line.one(); row && row->seconds)
            out.failing[key] = {*row->seconds, row->alerts};
    out.asked_again = attempts.list_others();
    return out;
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
