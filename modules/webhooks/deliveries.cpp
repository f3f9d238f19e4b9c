// The log of deliveries, as admins read it, and sending what is in it once more.

#include "modules/webhooks/webhooks.hpp"

namespace svc::webhooks {

namespace {

constexpr EventKind deliveries_redelivered{
    .name = "webhook.redelivered",
    .object = "webhook",
    .summary = "An admin has deliveries of a webhook made once more.",
};

#define DELIVERY                                                                         \
    "id, webhook_id, event_id, kind, status, attempt_count, next_attempt_at, attempts, " \
    "response_excerpt, created_time"

constexpr Sql some_deliveries{
    "webhooks.list_deliveries", "SELECT " DELIVERY R"( FROM webhook_deliveries
    WHERE org_id = $1 AND webhook_id = $2 AND ($3::uuid IS NULL OR id < $3)
    ORDER BY id DESC
    LIMIT $4)"
};

// By the index of what failed, however much succeeded besides.
constexpr Sql some_failed{
    "webhooks.list_failed_deliveries", "SELECT " DELIVERY R"( FROM webhook_deliveries
    WHERE org_id = $1 AND webhook_id = $2 AND ($3::uuid IS NULL OR id < $3)
      AND status IN ('failed', 'abandoned')
    ORDER BY id DESC
    LIMIT $4)"
};

// Held while deliveries are made due, so that whoever sends and finds none before finds them after.
constexpr Sql lock_endpoint{"webhooks.lock_endpoint", R"(
    SELECT webhook_id FROM webhook_endpoints WHERE org_id = $1 AND webhook_id = $2
    FOR NO KEY UPDATE)"};

// Somebody wants it now, so nothing waits for the endpoint to have rested.
constexpr Sql make_due{"webhooks.make_due", R"(
    UPDATE webhook_endpoints e
    SET due_at = CASE WHEN e.lease IS NULL THEN t.at ELSE e.due_at END, probe_at = NULL
    FROM (SELECT now() AS at) t
    WHERE e.org_id = $1 AND e.webhook_id = $2)"};

constexpr Sql make_pending{"webhooks.redeliver", R"(
    UPDATE webhook_deliveries
    SET status = 'pending', retries = 0, redeliveries = redeliveries + 1, next_attempt_at = now()
    WHERE org_id = $1 AND webhook_id = $2 AND id = $3
    RETURNING )" DELIVERY};

constexpr Sql make_failed_pending{"webhooks.redeliver_failed", R"(
    UPDATE webhook_deliveries
    SET status = 'pending', retries = 0, redeliveries = redeliveries + 1, next_attempt_at = now()
    WHERE org_id = $1 AND webhook_id = $2 AND id = ANY (ARRAY(
        SELECT d.id FROM webhook_deliveries d
        WHERE d.org_id = $1 AND d.webhook_id = $2 AND d.id >= $3 AND d.id < $4
          AND d.status IN ('failed', 'abandoned')
        ORDER BY d.id
        LIMIT $5
        FOR UPDATE SKIP LOCKED))
    RETURNING id)"};

#undef DELIVERY

struct Id {
    Uuid id;
};
SVC_RECORD(Id, (id));

// ----------------------------------------------------------------------------- list

struct DeliveriesQuery {
    Uuid webhook_id;
    bool failed = false;
    Paging paging;
};
SVC_RECORD(
    DeliveriesQuery,
    (webhook_id, "A webhook of the workspace."),
    (failed, "Only those that failed: `failed` and `abandoned`.", defaulted),
    (paging, "", flatten)
);

Page<DeliveryResponse> list(Call& call, const DeliveriesQuery& in) {
    const auto after = call.after(in.paging);
    auto webhook = call.tx().later<WebhookResponse>(find_webhook, call.org(), in.webhook_id);
    auto rows = call.tx().later<DeliveryResponse>(
        in.failed ? some_failed : some_deliveries,
        call.org(),
        in.webhook_id,
        after ? std::optional(after->front()) : std::nullopt,
        in.paging.page_size + 1
    );
    if (!webhook.one()) not_found("webhook");
    return call.page(rows.all(), in.paging, [](const DeliveryResponse& last) {
        return std::vector{last.id.str()};
    });
}

const Operation list_webhook_deliveries{
    .name = "list_webhook_deliveries",
    .route = "GET /v1/webhooks/{webhook_id}/deliveries",
    .summary = "List what was sent to a webhook, newest first, and what came back.",
    .access = Access::admin,
    .handler = list,
};

// ------------------------------------------------------------------------- redeliver

/// Emits that it was asked for, and has it sent once that is committed.
void announce(Call& call, const WebhookResponse& webhook, const std::string& which) {
    Event event;
    event.kind = &deliveries_redelivered;
    event.id = webhook.id;
    event.version = webhook.version;
    event.name = name_of_webhook(webhook);
    event.changes = which;
    call.check(event);
    call.emit(event);
    call.tx().queue(make_due, call.org(), webhook.id);
    if (auto* sending = call.kernel().find<Sending>())
        call.after_commit([sending, id = webhook.id] { sending->wake(id); });
}

struct DeliveryId {
    Uuid webhook_id, delivery_id;
};
SVC_RECORD(
    DeliveryId, (webhook_id, "A webhook of the workspace."), (delivery_id, "One of its deliveries.")
);

DeliveryResponse redeliver(Call& call, const DeliveryId& in) {
    auto webhook = call.tx().later<WebhookResponse>(find_webhook, call.org(), in.webhook_id);
    call.tx().queue(lock_endpoint, call.org(), in.webhook_id);
    auto delivery =
        call.tx().later<DeliveryResponse>(make_pending, call.org(), in.webhook_id, in.delivery_id);
    const auto of = webhook.one();
    if (!of) not_found("webhook");
    auto begun = delivery.one();
    if (!begun) not_found("delivery");
    announce(call, *of, "{\"delivery_id\":\"" + in.delivery_id.str() + "\"}");
    return *std::move(begun);
}

const Operation redeliver_webhook{
    .name = "redeliver_webhook",
    .route = "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}:redeliver",
    .summary = "Make a delivery once more, whatever became of it.",
    .description =
        "It has the same bytes and the same ids, and is tried at once, or as soon as the webhook "
        "is active.",
    .access = Access::admin,
    .open_world = true,
    .handler = redeliver,
};

// ------------------------------------------------------------------- redeliver a range

constexpr std::int64_t most_redelivered = 1'000;

struct RedeliverFailedRequest {
    Uuid webhook_id;
    std::optional<Timestamp> since, until;
};
SVC_RECORD(
    RedeliverFailedRequest,
    (webhook_id, "A webhook of the workspace."),
    (since, "Only those recorded at or after this time."),
    (until, "Only those recorded before it.")
);

struct Redelivery {
    Object<"redelivery"> object;
    std::int64_t count = 0;
    bool has_more = false;
};
SVC_RECORD(
    Redelivery,
    (object, "Always \"redelivery\"."),
    (count, "How many deliveries are made once more."),
    (has_more, "There are others; ask again.")
);

Redelivery redeliver_failed(Call& call, const RedeliverFailedRequest& in) {
    auto webhook = call.tx().later<WebhookResponse>(find_webhook, call.org(), in.webhook_id);
    call.tx().queue(lock_endpoint, call.org(), in.webhook_id);
    auto rows = call.tx().later<Id>(
        make_failed_pending,
        call.org(),
        in.webhook_id,
        in.since ? first_id_at(*in.since) : Uuid{},
        in.until ? first_id_at(*in.until) : last_id(),
        most_redelivered
    );
    const auto of = webhook.one();
    if (!of) not_found("webhook");
    Redelivery out;
    out.count = static_cast<std::int64_t>(rows.all().size());
    out.has_more = out.count == most_redelivered;
    if (out.count > 0) announce(call, *of, "{\"count\":" + std::to_string(out.count) + "}");
    return out;
}

const Operation redeliver_failed_deliveries{
    .name = "redeliver_failed_deliveries",
    .route = "POST /v1/webhooks/{webhook_id}:redeliver",
    .summary = "Make a webhook's failed deliveries once more, those of a span of time if given.",
    .description =
        "What is `failed` or `abandoned`, oldest first, up to 1,000 at once; ask again while "
        "`has_more` is true.",
    .access = Access::admin,
    .open_world = true,
    .handler = redeliver_failed,
};

}  // namespace

void add_delivery_operations(Kernel& kernel) {
    kernel.add(deliveries_redelivered);
    for (const Operation* each :
         {&list_webhook_deliveries, &redeliver_webhook, &redeliver_failed_deliveries})
        kernel.add(*each);
}

}  // namespace svc::webhooks
