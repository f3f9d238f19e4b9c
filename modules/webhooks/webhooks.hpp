#pragma once

#include "modules/webhooks/settings.hpp"
#include "modules/webhooks/shapes.hpp"
#include "svc/kernel.hpp"

namespace svc::webhooks {

extern const EventKind webhook_created, webhook_updated, webhook_deleted, webhook_disabled,
    webhook_test;

inline constexpr Sql find_webhook{"webhooks.find", R"(
    SELECT * FROM webhook_view WHERE org_id = $1 AND id = $2)"};

struct WebhookId {
    Uuid webhook_id;
};
SVC_SHARED_RECORD(WebhookId, (webhook_id, "A webhook of the workspace."));

/// The webhook; a Failure 404 when there is none.
WebhookResponse found(Call& call, const Uuid& id);

/// What people call it: its URL, when it has no name.
std::string name_of_webhook(const WebhookResponse& webhook);

/// A 422 for what is no filter of events, or no address that events may be sent to.
void require_filters(Call& call, const std::vector<std::string>& events);
void require_target(Call& call, const std::string& url);

/// A new secret, and how it is kept: encrypted, with the id of its webhook.
std::string new_secret();
std::string sealed(const Kernel& kernel, const Uuid& webhook, std::string_view secret);
/// Nothing when the server's key is another than the one it was sealed under.
std::optional<std::string> unsealed(
    const Kernel& kernel, const Uuid& webhook, const std::string& hex_of_sealed
);
std::string hint_of(std::string_view secret);

/// Offered to the operations by whoever sends.
class Sending {
public:
    static constexpr std::string_view name = "webhooks.Sending";

    /// Something is due that was not, or a webhook is to be sent to otherwise. Any thread; after
    /// the commit.
    virtual void wake(const Uuid& webhook) = 0;

protected:
    ~Sending() = default;
};

/// Put the operations and events into the kernel.
void add_webhook_operations(Kernel& kernel);
void add_webhook_changes(Kernel& kernel);
void add_delivery_operations(Kernel& kernel);

}  // namespace svc::webhooks
