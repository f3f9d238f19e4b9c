#include "modules/webhooks/recorder.hpp"

#include "modules/webhooks/holding.hpp"
#include "modules/webhooks/removal.hpp"

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
    SELECT e.webhook_id
    FROM unnest($2::uuid[]) AS k (webhook_id)
    CROSS JOIN LATERAL (
        SELECT p.webhook_id FROM webhook_endpoints p
        WHERE p.org_id = $1 AND p.webhook_id = k.webhook_id
        FOR NO KEY UPDATE
    ) e)"};

constexpr Sql add_deliveries{"webhooks.add_deliveries", R"(
    INSERT INTO webhook_deliveries (org_id, webhook_id, id, event_id, position, kind)
    SELECT w.org_id, w.id, d.id, d.event_id, d.position, d.kind
    FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[], $6::text[])
        AS d (webhook_id, id, event_id, position, kind)
    CROSS JOIN LATERAL (
        SELECT h.org_id, h.id FROM webhooks h
        WHERE h.org_id = $1 AND h.id = d.webhook_id
        OFFSET 0
    ) w)"};

// Not before its endpoint has rested, and not while the webhook is not active: then they are held.
// What somebody sends to is looked at before it is let go.
constexpr Sql make_due{"webhooks.make_endpoints_due", R"(
    UPDATE webhook_endpoints e
    SET due_at = greatest(t.at, e.probe_at)
    FROM (SELECT now() AS at) t
    WHERE e.org_id = $1 AND e.webhook_id = ANY ($2::uuid[]) AND e.lease IS NULL
      AND (e.due_at IS NULL OR e.due_at > greatest(t.at, e.probe_at))
      AND EXISTS (
          SELECT FROM webhooks w
          WHERE w.org_id = $1 AND w.id = e.webhook_id AND w.status = 'active'))"};

struct SubscriptionRow {
    Uuid org_id, id;
    std::optional<Uuid> board_id;
    std::vector<std::string> events;
    std::optional<std::int64_t> since;
};
SVC_RECORD(SubscriptionRow, (org_id), (id), (board_id), (events), (since));

struct EndpointRow {
    Uuid webhook_id;
};
SVC_RECORD(EndpointRow, (webhook_id));

using Matches = std::map<Uuid, std::vector<Match>>;  // of each workspace
using Endpoints = std::map<Uuid, std::set<Uuid>>;

/// Locks the endpoints and forgets what is for those that are gone; those that are there.
Endpoints lock_those_there(Tx& tx, Matches& matches) {
    std::vector<std::pair<Uuid, DeferredRows<EndpointRow>>> rows;
    for (const auto& [org, all] : matches) {
        std::set<Uuid> ids;
        for (const Match& each : all) ids.insert(each.webhook_id);
        const std::vector<Uuid> list(ids.begin(), ids.end());
        rows.emplace_back(org, tx.later<EndpointRow>(lock_endpoints, org, list));
    }
    Endpoints there;
    for (auto& [org, locked] : rows) {
        std::set<Uuid>& ids = there[org];
        for (const EndpointRow& each : locked.all()) ids.insert(each.webhook_id);
        std::erase_if(matches[org], [&](const Match& each) {
            return !ids.contains(each.webhook_id);
        });
        if (ids.empty()) {
            there.erase(org);
            matches.erase(org);
        }
    }
    return there;
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

/// Deliveries of a workspace, in batches of so many rows.
void Recorder::write(Tx& tx, const Uuid& org, std::span<const Match> matches) {
    for (std::size_t at = 0; at < matches.size(); at += rows_at_once) {
        std::array<std::vector<Uuid>, 3> ids;
        std::vector<std::string> positions, kinds;
        for (const Match& each : matches.subspan(at, std::min(rows_at_once, matches.size() - at))) {
            ids[0].push_back(each.webhook_id);
            ids[1].push_back(new_uuid());
            ids[2].push_back(each.event->event_id);
            positions.push_back(std::to_string(each.event->position));
            kinds.push_back(each.event->kind);
        }
        tx.queue(add_deliveries, org, ids[0], ids[1], ids[2], positions, kinds);
    }
    std::int64_t added = added_[org] + static_cast<std::int64_t>(matches.size());
    if (added >= look_after(settings_)) {
        enqueue_drop(kernel_, tx, org);
        added = 0;
    }
    tx.after_commit([this, org, added] { added_[org] = added; });
}

void Recorder::record(Tx& tx, std::span<const StoredEvent> events) {
    const auto missing = subscriptions_.missing(events);
    Subscriptions::Loaded loaded;
    if (!missing.none()) {
        loaded = load(tx, missing);
        begin_new(tx, events, loaded);
        subscriptions_.learn(missing, loaded);
    }
    Matches matches;
    for (const StoredEvent& event : events)
        for (const Uuid& webhook : subscriptions_.matching(event, missing, loaded))
            matches[event.org_id].push_back({webhook, &event});
    if (matches.empty()) return;
    const Endpoints there = lock_those_there(tx, matches);
    for (const auto& [org, all] : matches) write(tx, org, all);
    for (const auto& [org, ids] : there)
        tx.queue(make_due, org, std::vector<Uuid>(ids.begin(), ids.end()));
    tx.after_commit([this, there] {
        for (const auto& [org, ids] : there)
            for (const Uuid& each : ids) sending_.wake(each);
    });
}

}  // namespace svc::webhooks
