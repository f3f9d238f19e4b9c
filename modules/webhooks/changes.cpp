// What happens to a webhook: changes, a new secret, a test, its end.

#include "modules/webhooks/removal.hpp"
#include "modules/webhooks/webhooks.hpp"

namespace svc::webhooks {

const EventKind webhook_updated{
    .name = "webhook.updated",
    .object = "webhook",
    .summary = "A webhook was changed, or its secret rotated.",
    .record = &record_of<WebhookResponse>,
};
const EventKind webhook_deleted{
    .name = "webhook.deleted",
    .object = "webhook",
    .summary = "A webhook was deleted.",
    .record = &record_of<WebhookResponse>,
    .vetoable = false,
};
const EventKind webhook_test{
    .name = "webhook.test",
    .object = "webhook",
    .summary = "Somebody tests a webhook; it alone gets this.",
    .record = &record_of<WebhookResponse>,
};

namespace {

constexpr Sql lock_webhook{"webhooks.lock", R"(
    SELECT now() AS now FROM webhooks
    WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL
    FOR NO KEY UPDATE)"};

constexpr Sql write_webhook{"webhooks.update", R"(
    UPDATE webhooks
    SET name = $3, url = $4, events = $5, status = $6, disabled_reason = $7, last_edited_by = $8,
        last_edited_time = now(), version = version + 1
    WHERE org_id = $1 AND id = $2)"};

// It starts with what is held. What was sent before says nothing of it any more.
constexpr Sql start_endpoint{"webhooks.start_endpoint", R"(
    UPDATE webhook_endpoints e
    SET due_at = CASE WHEN e.lease IS NULL THEN t.at ELSE e.due_at END, epoch = e.epoch + 1,
        proven = false, consecutive_failures = 0, failing_since = NULL, probe_at = NULL, alerts = 0
    FROM (SELECT now() AS at) t
    WHERE e.org_id = $1 AND e.webhook_id = $2)"};

constexpr Sql mark_deleted{"webhooks.delete", R"(
    UPDATE webhooks
    SET deleted_at = now(), last_edited_by = $3, last_edited_time = now(), version = version + 1
    WHERE org_id = $1 AND id = $2)"};

constexpr Sql rotate_secret{"webhooks.rotate_secret", R"(
    UPDATE webhooks
    SET secret = decode($3, 'hex'), secret_hint = $4,
        old_secret = CASE WHEN $5::timestamptz IS NOT NULL THEN secret END, old_secret_until = $5,
        last_edited_by = $6, last_edited_time = now(), version = version + 1
    WHERE org_id = $1 AND id = $2)"};

struct LockedWebhook {
    Timestamp now;
};
SVC_RECORD(LockedWebhook, (now));

/// A webhook that is to be changed, locked.
class Change {
public:
    Change(Call& call, const Uuid& id) : call_(call) {
        Tx& tx = call.tx();
        auto locked = tx.later<LockedWebhook>(lock_webhook, call.org(), id);
        auto rows = tx.later<WebhookResponse>(find_webhook, call.org(), id);
        const auto lock = locked.one();
        auto webhook = rows.one();
        if (!lock || !webhook) not_found("webhook");
        call.require_version(webhook->version);
        now_ = lock->now;
        before = *std::move(webhook);
        after = before;
    }

    bool changes_anything() const { return to_json(after) != to_json(before); }
    /// Stores it by `write` and emits it; whoever sends goes by it from then on.
    template <class Write>
    WebhookResponse finish(const EventKind& kind, Write write) {
        after.last_edited_time = now_;
        after.last_edited_by = ref_of(call_.caller());
        after.version += 1;
        Event event = changed(kind, before, after);
        event.name = name_of_webhook(after);
        call_.check(event);
        write(call_.tx());
        call_.emit(event);
        if (auto* sending = call_.kernel().find<Sending>())
            call_.after_commit([sending, id = after.id] { sending->wake(id); });
        return after;
    }

    const Timestamp& now() const { return now_; }
    WebhookResponse before, after;

private:
    Call& call_;
    Timestamp now_;
};

// --------------------------------------------------------------------------- update

/// What people may make of it; `disabled` it becomes by itself.
enum class WebhookSwitch { active, paused };
BOOST_DESCRIBE_ENUM(WebhookSwitch, active, paused)

struct UpdateWebhookRequest {
    Uuid webhook_id;
    Patch<std::string> url;
    Patch<std::vector<std::string>> events;
    Patch<std::optional<std::string>> name;
    Patch<WebhookSwitch> status;
};
SVC_RECORD(
    UpdateWebhookRequest,
    (webhook_id, "A webhook of the workspace."),
    (url, "Where events are sent to, those that wait included.", length(1, 2000)),
    (events, "Which kinds it gets from now on.", length(1, 100), items_up_to(100)),
    (name, "What it is for; null removes it.", length(0, 100), trimmed),
    (status,
     "`paused`: events are held. `active`: they are sent, what was held first; so a disabled one "
     "is "
     "enabled.")
);

WebhookResponse update(Call& call, const UpdateWebhookRequest& in) {
    if (in.url.given()) require_target(call, in.url.value());
    if (in.events.given()) require_filters(call, in.events.value());
    Change change(call, in.webhook_id);
    WebhookResponse& webhook = change.after;
    in.url.apply_to(webhook.url);
    in.events.apply_to(webhook.events);
    in.name.apply_to(webhook.name);
    if (in.status.given()) {
        const bool on = in.status.value() == WebhookSwitch::active;
        webhook.status = on ? WebhookStatus::active : WebhookStatus::paused;
        webhook.disabled_reason.reset();
    }
    if (!change.changes_anything()) return webhook;
    // What one URL failed at is not held against another.
    const bool is_fresh =
        change.before.status != WebhookStatus::active || webhook.url != change.before.url;
    const bool starts = webhook.status == WebhookStatus::active && is_fresh;
    if (starts) webhook.consecutive_failures = 0;
    return change.finish(webhook_updated, [&](Tx& tx) {
        tx.queue(
            write_webhook,
            call.org(),
            webhook.id,
            webhook.name,
            webhook.url,
            AsJson(webhook.events).text,
            webhook.status,
            webhook.disabled_reason,
            call.caller().id
        );
        if (starts) tx.queue(start_endpoint, call.org(), webhook.id);
    });
}

const Operation update_webhook{
    .name = "update_webhook",
    .route = "PATCH /v1/webhooks/{webhook_id}",
    .summary = "Change a webhook: its URL, events, name or status.",
    .description =
        "Changes only the fields that are sent. Deliveries that wait go to the new URL; those that "
        "were recorded stay, whatever `events` says now.",
    .access = Access::admin,
    .idempotent = true,
    .versioned = true,
    .handler = update,
};

// --------------------------------------------------------------------------- rotate

struct RotateWebhookSecretRequest {
    Uuid webhook_id;
    std::int64_t overlap_seconds = 0;
};
SVC_RECORD(
    RotateWebhookSecretRequest,
    (webhook_id, "A webhook of the workspace."),
    (overlap_seconds,
     "How long deliveries are signed with the old secret as well, in a second `v1`.",
     range(0, 86'400),
     defaulted)
);

WebhookResponse rotate(Call& call, const RotateWebhookSecretRequest& in) {
    Change change(call, in.webhook_id);
    const std::string secret = new_secret();
    WebhookResponse& webhook = change.after;
    webhook.secret_hint = hint_of(secret);
    webhook.old_secret_until.reset();
    if (in.overlap_seconds > 0)
        webhook.old_secret_until = Timestamp{change.now().micros + in.overlap_seconds * 1'000'000};
    WebhookResponse rotated = change.finish(webhook_updated, [&](Tx& tx) {
        tx.queue(
            rotate_secret,
            call.org(),
            webhook.id,
            sealed(call.kernel(), webhook.id, secret),
            webhook.secret_hint,
            webhook.old_secret_until,
            call.caller().id
        );
    });
    rotated.secret = secret;
    return rotated;
}

const Operation rotate_webhook_secret{
    .name = "rotate_webhook_secret",
    .route = "POST /v1/webhooks/{webhook_id}:rotate-secret",
    .summary = "Rotate a webhook's secret: it gets a new one.",
    .description =
        "The answer is the only place where the new secret is shown. With `overlap_seconds` the "
        "old "
        "one signs beside it for so long; a receiver that reads one `v1` only needs 0.",
    .access = Access::admin,
    .destructive = true,
    .versioned = true,
    .handler = rotate,
};

// ----------------------------------------------------------------------------- test

WebhookResponse test(Call& call, const WebhookId& in) {
    WebhookResponse webhook = found(call, in.webhook_id);
    if (webhook.status != WebhookStatus::active)
        throw Failure(Fault::conflict, "The webhook is not active; make it so by update_webhook.")
            .with("reason", "webhook_not_active");
    Event event = created(webhook_test, webhook);
    event.name = name_of_webhook(webhook);
    call.check(event);
    call.emit(event);
    return webhook;
}

const Operation test_webhook{
    .name = "test_webhook",
    .route = "POST /v1/webhooks/{webhook_id}:test",
    .summary = "Send a webhook an event `webhook.test`, whatever it subscribes to.",
    .description =
        "It is delivered as any other event; list_webhook_deliveries shows what the endpoint made "
        "of it. One that is not active is 409, reason `webhook_not_active`.",
    .access = Access::admin,
    .status = 202,
    .open_world = true,
    .handler = test,
};

// --------------------------------------------------------------------------- delete

void remove(Call& call, const WebhookId& in) {
    Change change(call, in.webhook_id);
    change.finish(webhook_deleted, [&](Tx& tx) {
        tx.queue(mark_deleted, call.org(), in.webhook_id, call.caller().id);
        enqueue_removal(call, in.webhook_id);
    });
}

const Operation delete_webhook{
    .name = "delete_webhook",
    .route = "DELETE /v1/webhooks/{webhook_id}",
    .summary = "Delete a webhook with its deliveries; nothing more is sent.",
    .access = Access::admin,
    .status = 204,
    .destructive = true,
    .idempotent = true,
    .versioned = true,
    .handler = remove,
};

}  // namespace

void add_webhook_changes(Kernel& kernel) {
    for (const EventKind* each :
         {&webhook_updated, &webhook_deleted, &webhook_disabled, &webhook_test})
        kernel.add(*each);
    for (const Operation* each :
         {&update_webhook, &delete_webhook, &rotate_webhook_secret, &test_webhook})
        kernel.add(*each);
}

}  // namespace svc::webhooks
