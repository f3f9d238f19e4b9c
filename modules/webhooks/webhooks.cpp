// Webhooks: making one, reading them.

#include "modules/webhooks/webhooks.hpp"

#include "modules/webhooks/lib/target.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <algorithm>

namespace svc::webhooks {

const EventKind webhook_created{
    .name = "webhook.created",
    .object = "webhook",
    .summary = "A webhook was made. Its secret is in no event.",
    .record = &record_of<WebhookResponse>,
};

namespace {

constexpr std::string_view purpose = "webhook secret";

// Of two that are made at once the second counts the first.
constexpr Sql lock_count{"webhooks.lock_count", R"(
    SELECT WHERE pg_advisory_xact_lock(hashtextextended('webhooks ' || $1, 0)) IS NULL)"};

constexpr Sql count_webhooks{"webhooks.count", R"(
    SELECT count(*) AS webhooks,
        $2::uuid IS NULL OR EXISTS (
            SELECT FROM boards b WHERE b.org_id = $1 AND b.id = $2 AND NOT b.in_trash) AS has_board
    FROM webhooks
    WHERE org_id = $1 AND deleted_at IS NULL)"};

constexpr Sql insert_webhook{"webhooks.insert", R"(
    INSERT INTO webhooks (
        org_id, id, board_id, name, url, events, secret, secret_hint, created_by, last_edited_by)
    VALUES ($1, $2, $3, $4, $5, $6, decode($7, 'hex'), $8, $9, $9))"};

constexpr Sql insert_endpoint{"webhooks.insert_endpoint", R"(
    INSERT INTO webhook_endpoints (org_id, webhook_id) VALUES ($1, $2))"};

constexpr Sql some_webhooks{"webhooks.list", R"(
    SELECT * FROM webhook_view
    WHERE org_id = $1
      AND ($2::uuid IS NULL OR board_id = $2)
      AND ($3::text IS NULL OR status = $3)
      AND ($4::uuid IS NULL OR id < $4)
    ORDER BY id DESC
    LIMIT $5)"};

struct Counted {
    std::int64_t webhooks = 0;
    bool has_board = false;
};
SVC_RECORD(Counted, (webhooks), (has_board));

/// Whether the filter takes any kind that there is.
bool is_filter(const Kernel& kernel, const std::string& filter) {
    return std::ranges::any_of(kernel.event_kinds(), [&](const EventKind* each) {
        return each->record && kind_matches(filter, each->name);
    });
}

}  // namespace

WebhookResponse found(Call& call, const Uuid& id) {
    auto webhook = call.tx().one<WebhookResponse>(find_webhook, call.org(), id);
    if (!webhook) not_found("webhook");
    return *std::move(webhook);
}

std::string name_of_webhook(const WebhookResponse& webhook) {
    return webhook.name && !webhook.name->empty() ? *webhook.name : webhook.url;
}

void require_filters(Call& call, const std::vector<std::string>& events) {
    for (std::size_t i = 0; i < events.size(); ++i)
        if (!is_filter(call.kernel(), events[i]))
            throw wrong_at(
                call,
                "\"events\"," + std::to_string(i),
                "no kind of events is called so; list_event_kinds has them, `card.*` and `*` take "
                "several"
            );
}

void require_target(Call& call, const std::string& url) {
    const bool anywhere = call.use<Settings>().allow_private_targets;
    const std::string fault = fault_of_target(url, anywhere ? Reach::anywhere : Reach::public_only);
    if (!fault.empty()) throw wrong_field(call, "url", fault);
}

// As Standard Webhooks has them: 24 bytes in base64. Those with a + or / are left out, so that a
// secret is one word, to whoever copies it and to what hides secrets in texts.
std::string new_secret() {
    for (;;) {
        const std::string key = base64(random_bytes(24), Base64::padded);
        if (key.find_first_of("+/") == key.npos) return "whsec_" + key;
    }
}

std::string sealed(const Kernel& kernel, const Uuid& webhook, std::string_view secret) {
    return hex(kernel.seal(purpose, webhook.str(), secret));
}

std::optional<std::string> unsealed(
    const Kernel& kernel, const Uuid& webhook, const std::string& hex_of_sealed
) {
    return kernel.unseal(purpose, webhook.str(), from_hex(hex_of_sealed).value_or(""));
}

std::string hint_of(std::string_view secret) {
    return std::string(secret.substr(secret.size() - 4));
}

namespace {

// --------------------------------------------------------------------------- create

std::vector<std::string> everything() { return {"*"}; }

struct CreateWebhookRequest {
    std::string url;
    std::vector<std::string> events = everything();
    std::optional<std::string> name;
    std::optional<Uuid> board_id;
    std::optional<std::string> secret;
};
SVC_RECORD(
    CreateWebhookRequest,
    (url,
     "Where events are sent to: an https address on the public internet, port 443 or 8443.",
     length(1, 2000)),
    (events,
     "Which kinds it gets, of list_event_kinds: `card.moved`, all of a noun by `card.*`, or `*`.",
     length(1, 100),
     items_up_to(100),
     defaulted),
    (name, "What it is for.", length(0, 100), trimmed),
    (board_id, "Only what happens on this board; left out: in all of the workspace."),
    (secret,
     "What deliveries are to be signed with; left out: one is made.",
     length(24, 128),
     matches("[!-~]*"),
     secret)
);

void require_room(Call& call, const CreateWebhookRequest& in) {
    call.tx().queue(lock_count, call.org());
    const auto counted =
        call.tx().later<Counted>(count_webhooks, call.org(), in.board_id).one_or_retry();
    if (!counted.has_board) throw wrong_field(call, "board_id", "the workspace has no such board");
    const auto most = call.use<Settings>().per_workspace;
    if (counted.webhooks < most) return;
    throw Failure(
        Fault::plan_limit,
        "The workspace has " + std::to_string(counted.webhooks) +
            " webhooks, as many as it may; delete one."
    )
        .with("limit", "webhooks");
}

WebhookResponse create(Call& call, const CreateWebhookRequest& in) {
    require_target(call, in.url);
    require_filters(call, in.events);
    require_room(call, in);
    const Uuid id = new_uuid();
    const std::string secret = in.secret.value_or(new_secret());
    Tx& tx = call.tx();
    tx.queue(
        insert_webhook,
        call.org(),
        id,
        in.board_id,
        in.name,
        in.url,
        AsJson(in.events).text,
        sealed(call.kernel(), id, secret),
        hint_of(secret),
        call.caller().id
    );
    tx.queue(insert_endpoint, call.org(), id);
    WebhookResponse webhook =
        tx.later<WebhookResponse>(find_webhook, call.org(), id).one_or_retry();
    Event event = created(webhook_created, webhook);
    event.name = name_of_webhook(webhook);
    call.check(event);
    call.emit(event);
    webhook.secret = secret;
    return webhook;
}

const Operation create_webhook{
    .name = "create_webhook",
    .route = "POST /v1/webhooks",
    .summary = "Subscribe a URL to events of the workspace.",
    .description =
        "Every event from now on that `events` and `board_id` let pass is sent to the URL as a "
        "signed POST, at least once, whoever may see the board it is on; the answer is the only "
        "place where the secret is shown. Tried again for three days until it is answered with "
        "2xx. Beyond what a workspace may have it is 402 `plan_limit_reached`.",
    .access = Access::admin,
    .status = 201,
    .handler = create,
};

// ----------------------------------------------------------------------------- read

struct WebhooksQuery {
    std::optional<Uuid> board_id;
    std::optional<WebhookStatus> status;
    Paging paging;
};
SVC_RECORD(
    WebhooksQuery,
    (board_id, "Only those of this board."),
    (status, "Only those with this status."),
    (paging, "", flatten)
);

Page<WebhookResponse> list(Call& call, const WebhooksQuery& in) {
    const auto after = call.after(in.paging);
    auto rows = call.tx().all<WebhookResponse>(
        some_webhooks,
        call.org(),
        in.board_id,
        in.status,
        after ? std::optional(after->front()) : std::nullopt,
        in.paging.page_size + 1
    );
    return call.page(std::move(rows), in.paging, [](const WebhookResponse& last) {
        return std::vector{last.id.str()};
    });
}

const Operation list_webhooks{
    .name = "list_webhooks",
    .route = "GET /v1/webhooks",
    .summary = "List the workspace's webhooks, newest first.",
    .access = Access::admin,
    .handler = list,
};

WebhookResponse get(Call& call, const WebhookId& in) { return found(call, in.webhook_id); }

const Operation get_webhook{
    .name = "get_webhook",
    .route = "GET /v1/webhooks/{webhook_id}",
    .summary = "Read a webhook: what it gets, and whether its endpoint takes it.",
    .access = Access::admin,
    .handler = get,
};

}  // namespace

void add_webhook_operations(Kernel& kernel) {
    kernel.add(webhook_created);
    for (const Operation* each : {&list_webhooks, &create_webhook, &get_webhook}) kernel.add(*each);
}

}  // namespace svc::webhooks
