#include "modules/webhooks/recorder.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace svc::webhooks {

namespace {

constexpr std::size_t rows_at_once = 2'000;  // of one statement

// One that is old and whose creation nobody has told of gets everything: the event is no longer
// kept.
constexpr Sql load_all{"webhooks.load_subscriptions", R"(
    SELECT org_id, id, board_id, events,
        coalesce(since, CASE WHEN created_time < now() - interval '1 hour' THEN 0 END) AS since
    FROM webhooks
    WHERE org_id IS NOT NULL AND deleted_at IS NULL)"};

constexpr Sql load_some{"webhooks.load_subscriptions_of", R"(
    SELECT org_id, id, board_id, events,
        coalesce(since, CASE WHEN created_time < now() - interval '1 hour' THEN 0 END) AS since
    FROM webhooks
    WHERE org_id = ANY ($1::uuid[]) AND deleted_at IS NULL)"};

constexpr Sql begin_webhook{"webhooks.begin", R"(
    UPDATE webhooks SET since = $3 WHERE org_id = $1 AND id = $2)"};

// Before deliveries are added: whoever sends and lets an endpoint go because nothing is due waits
// for this transaction, and finds them.
constexpr Sql lock_endpoints{"webhooks.lock_endpoints", R"(
    SELECT e.org_id, e.webhook_id
    FROM unnest($1::uuid[], $2::uuid[]) AS k (org_id, webhook_id)
    CROSS JOIN LATERAL (
        SELECT p.org_id, p.webhook_id FROM webhook_endpoints p
        WHERE p.org_id = k.org_id AND p.webhook_id = k.webhook_id
        FOR NO KEY UPDATE
    ) e)"};

constexpr Sql add_deliveries{"webhooks.add_deliveries", R"(
    INSERT INTO webhook_deliveries (org_id, webhook_id, id, event_id, position, kind)
    SELECT d.org_id, d.webhook_id, d.id, d.event_id, d.position, d.kind
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[], $6::text[])
        AS d (org_id, webhook_id, id, event_id, position, kind))"};

// Not before its endpoint has rested, and not while the webhook is not active: then they are held.
// What somebody sends to is looked at before it is let go.
constexpr Sql make_due{"webhooks.make_endpoints_due", R"(
    UPDATE webhook_endpoints
    SET due_at = greatest(now(), probe_at)
    WHERE org_id = $1 AND webhook_id = ANY ($2::uuid[]) AND lease IS NULL
      AND (due_at IS NULL OR due_at > greatest(now(), probe_at))
      AND EXISTS (
          SELECT FROM webhooks w
          WHERE w.org_id = $1 AND w.id = webhook_endpoints.webhook_id AND w.status = 'active'))"};

struct SubscriptionRow {
    Uuid org_id, id;
    std::optional<Uuid> board_id;
    std::vector<std::string> events;
    std::optional<std::int64_t> since;
};
SVC_RECORD(SubscriptionRow, (org_id), (id), (board_id), (events), (since));

struct EndpointKey {
    Uuid org_id, webhook_id;
    auto operator<=>(const EndpointKey&) const = default;
};
SVC_RECORD(EndpointKey, (org_id), (webhook_id));

struct Match {
    EndpointKey key;
    const StoredEvent* event;
};

void add(Tx& tx, std::span<const Match> matches) {
    std::array<std::vector<Uuid>, 4> ids;
    std::vector<std::string> positions, kinds;
    for (const Match& each : matches) {
        ids[0].push_back(each.key.org_id);
        ids[1].push_back(each.key.webhook_id);
        ids[2].push_back(new_uuid());
        ids[3].push_back(each.event->event_id);
        positions.push_back(std::to_string(each.event->position));
        kinds.push_back(each.event->kind);
    }
    tx.queue(add_deliveries, ids[0], ids[1], ids[2], ids[3], positions, kinds);
}

/// Those of them that are still there, which stay so for this transaction.
std::set<EndpointKey> lock_those_there(Tx& tx, const std::set<EndpointKey>& keys) {
    std::array<std::vector<Uuid>, 2> ids;
    for (const EndpointKey& each : keys) {
        ids[0].push_back(each.org_id);
        ids[1].push_back(each.webhook_id);
    }
    const auto rows = tx.all<EndpointKey>(lock_endpoints, ids[0], ids[1]);
    return {rows.begin(), rows.end()};
}

/// What happened before a webhook was made is not for it, though it may be recorded later.
void begin_new(Tx& tx, std::span<const StoredEvent> events, Subscriptions::Loaded& loaded) {
    for (const StoredEvent& event : events) {
        if (event.kind != webhook_created.name) continue;
        tx.queue(begin_webhook, event.org_id, event.object_id, event.position);
        for (Subscription& each : loaded[event.org_id])
            if (each.id == event.object_id) each.since = event.position;
    }
}

}  // namespace

Consumer Recorder::consumer() {
    return {
        .name = "webhooks",
        .subscribers =
            [this](const StoredEvent& event) {
                std::vector<std::string> some;
                if (subscriptions_.wanted(event)) some.emplace_back();
                return some;
            },
        .record = [this](Tx& tx, std::span<const StoredEvent> events) { record(tx, events); },
        .begin = [this] { subscriptions_.forget(); },
    };
}

Subscriptions::Loaded Recorder::load(Tx& tx, const Subscriptions::Missing& missing) const {
    Subscriptions::Loaded loaded;
    auto rows = missing.all ? tx.all<SubscriptionRow>(load_all)
                            : tx.all<SubscriptionRow>(load_some, missing.orgs);
    for (SubscriptionRow& each : rows)
        loaded[each.org_id].push_back({each.id, each.since, each.board_id, std::move(each.events)});
    return loaded;
}

void Recorder::record(Tx& tx, std::span<const StoredEvent> events) {
    const auto missing = subscriptions_.missing(events);
    Subscriptions::Loaded loaded;
    if (!missing.none()) {
        loaded = load(tx, missing);
        begin_new(tx, events, loaded);
        subscriptions_.learn(missing, loaded);
    }
    std::vector<Match> matches;
    std::set<EndpointKey> keys;
    for (const StoredEvent& event : events)
        for (const Uuid& webhook : subscriptions_.matching(event, missing, loaded)) {
            matches.push_back({{event.org_id, webhook}, &event});
            keys.insert(matches.back().key);
        }
    if (matches.empty()) return;
    const auto there = lock_those_there(tx, keys);
    std::erase_if(matches, [&](const Match& each) { return !there.contains(each.key); });
    for (std::size_t at = 0; at < matches.size(); at += rows_at_once)
        add(tx, std::span(matches).subspan(at, std::min(rows_at_once, matches.size() - at)));
    std::map<Uuid, std::vector<Uuid>> of_org;
    for (const EndpointKey& each : there) of_org[each.org_id].push_back(each.webhook_id);
    for (const auto& [org, webhooks] : of_org) tx.queue(make_due, org, webhooks);
    tx.after_commit([this, there] {
        for (const EndpointKey& each : there) sending_.wake(each.webhook_id);
    });
}

}  // namespace svc::webhooks
