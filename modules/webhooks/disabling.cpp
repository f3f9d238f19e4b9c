#include "modules/webhooks/disabling.hpp"

#include "modules/mail/api.hpp"
#include "modules/webhooks/webhooks.hpp"
#include "svc/actor.hpp"
#include "svc/workspace_jobs.hpp"

namespace svc::webhooks {

const EventKind webhook_disabled{
    .name = "webhook.disabled",
    .object = "webhook",
    .summary = "A webhook was disabled, because its endpoint failed for days or is gone.",
    .record = &record_of<WebhookResponse>,
    .vetoable = false,
};

namespace {

constexpr std::string_view disabling = "webhooks.disable", telling = "webhooks.tell";

constexpr Sql lock_active{"webhooks.lock_active", R"(
    SELECT now() AS now FROM webhooks
    WHERE org_id = $1 AND id = $2 AND status = 'active' AND deleted_at IS NULL
    FOR NO KEY UPDATE)"};

// Behind the lock of its webhook, without which nobody begins another epoch.
constexpr Sql read_epoch{"webhooks.read_epoch", R"(
    SELECT epoch FROM webhook_endpoints WHERE org_id = $1 AND webhook_id = $2)"};

constexpr Sql write_disabled{"webhooks.write_disabled", R"(
    UPDATE webhooks
    SET status = 'disabled', disabled_reason = $3,
        last_edited_by = '00000000-0000-0000-0000-000000000000', last_edited_time = now(),
        version = version + 1
    WHERE org_id = $1 AND id = $2)"};

// Nothing when somebody has told of it, or it answers again.
constexpr Sql count_alert{"webhooks.count_alert", R"(
    UPDATE webhook_endpoints SET alerts = $4
    WHERE org_id = $1 AND webhook_id = $2 AND epoch = $3 AND alerts < $4
      AND failing_since IS NOT NULL
    RETURNING webhook_id)"};

// Who may do something about it, and has not chosen to get no mail of it.
constexpr Sql read_admins{"webhooks.read_admins", R"(
    SELECT u.email, o.name AS org_name
    FROM memberships m
    CROSS JOIN LATERAL (
        SELECT p.email, p.preferences FROM users p
        WHERE p.id = m.user_id AND p.email_verified AND p.disabled_at IS NULL
        OFFSET 0
    ) u
    JOIN orgs o ON o.id = m.org_id AND o.deleted_at IS NULL
    WHERE m.org_id = $1 AND m.role IN ('owner', 'admin') AND coalesce(
        (u.preferences #>> '{notifications,webhook_disabled,email}')::boolean, true)
    ORDER BY m.joined_at
    LIMIT 50)"};

struct Locked {
    Timestamp now;
};
SVC_RECORD(Locked, (now));

struct Epoch {
    std::int64_t epoch = 0;
};
SVC_RECORD(Epoch, (epoch));

struct Told {
    Uuid webhook_id;
};
SVC_RECORD(Told, (webhook_id));

struct Admin {
    Email email;
    std::string org_name;
};
SVC_RECORD(Admin, (email), (org_name));

/// The paragraphs of a mail about this webhook.
using Words = std::function<std::vector<std::string>(const std::string& name)>;

void mail_admins(
    Kernel& kernel,
    Tx& tx,
    const WebhookResponse& webhook,
    const std::string& subject,
    const Words& words
) {
    auto* outbox = kernel.find<mail::Outbox>();
    if (!outbox) return;
    const std::string name = name_of_webhook(webhook);
    for (const Admin& each : tx.all<Admin>(read_admins, webhook.org_id))
        outbox->post(
            tx,
            webhook.org_id,
            {
                .kind = "webhook_failing",
                .to = each.email,
                .subject = subject + " in " + each.org_name + ": " + name,
                .opening = words(name),
                .link = kernel.base_url() + "/",
                .link_label = "Open Workboard",
                .closing = {"You get this because you administer the workspace."},
            }
        );
}

std::string days(std::int64_t count) {
    return count == 1 ? "a day" : std::to_string(count) + " days";
}

}  // namespace

void disable(
    Kernel& kernel,
    const Uuid& org,
    const Uuid& webhook,
    std::int64_t epoch,
    const std::string& reason
) {
    in_workspace(kernel, org, disabling, [&](Tx& tx, Actor& actor) {
        auto locked = tx.later<Locked>(lock_active, org, webhook);
        auto now_in = tx.later<Epoch>(read_epoch, org, webhook);
        auto found = tx.later<WebhookResponse>(find_webhook, org, webhook);
        const auto lock = locked.one();
        const auto in = now_in.one();
        const auto before = found.one();
        if (!lock || !before || !in || in->epoch != epoch) return;
        WebhookResponse after = *before;
        after.status = WebhookStatus::disabled;
        after.disabled_reason = reason;
        after.last_edited_time = lock->now;
        after.last_edited_by = {{}, {}, PrincipalType::system, std::nullopt};
        after.version += 1;
        tx.queue(write_disabled, org, webhook, reason);
        Event event = changed(webhook_disabled, *before, after);
        event.name = name_of_webhook(after);
        actor.emit(event);
        mail_admins(kernel, tx, after, "A webhook was disabled", [&](const std::string& name) {
            return std::vector<std::string>{
                "The webhook " + name + " was disabled. " + reason,
                "What happens from now on is held for it. Once its endpoint answers again, make it "
                "active, and everything that is held is sent."
            };
        });
    });
}

void tell_of_failing(
    Kernel& kernel,
    const Uuid& org,
    const Uuid& webhook,
    std::int64_t epoch,
    int alert,
    std::int64_t disable_days
) {
    in_workspace(kernel, org, telling, [&](Tx& tx, Actor&) {
        auto counted = tx.later<Told>(count_alert, org, webhook, epoch, alert);
        auto found = tx.later<WebhookResponse>(find_webhook, org, webhook);
        const bool is_new = counted.one().has_value();
        const auto about = found.one();
        if (!is_new || !about || about->status != WebhookStatus::active) return;
        const std::string since = days(alert == 1 ? 1 : 3);
        mail_admins(kernel, tx, *about, "A webhook fails", [&](const std::string& name) {
            return std::vector<std::string>{
                "The endpoint of the webhook " + name + " has taken nothing for " + since + ".",
                "Its deliveries are tried again and again. When it has failed for " +
                    days(disable_days) + " the webhook is disabled."
            };
        });
    });
}

}  // namespace svc::webhooks
