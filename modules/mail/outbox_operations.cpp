// What an admin sees of a workspace's mails, and trying one again.

#include "modules/mail/outbox.hpp"

namespace svc::mail {

namespace {

enum class OutboxStatus { queued, sending, sent, failed };
BOOST_DESCRIBE_ENUM(OutboxStatus, queued, sending, sent, failed)

struct EmailOutboxResponse {
    Object<"email_outbox"> object;
    Uuid id, org_id;
    OutboxStatus status{};
    std::string template_;
    Email recipient;
    std::string subject;
    std::int64_t attempts = 0;
    std::optional<std::string> last_error;
    std::optional<Timestamp> next_attempt_at;
    Timestamp created_time;
    std::optional<Timestamp> sent_at;
};
SVC_RECORD(
    EmailOutboxResponse,
    (object, "Always \"email_outbox\"."),
    (id, "The mail's id."),
    (org_id, "The workspace that sends it."),
    (status,
     "`queued` until its time has come, `sending` in the hands of a server, `sent`, or `failed`: "
     "nobody tries again until it is requeued."),
    (template_, "What sort of mail it is, such as `org_invitation`."),
    (recipient, "The address it goes to."),
    (subject, "Its subject. The rest of it is never shown, for its link may be a credential."),
    (attempts, "How often it was tried."),
    (last_error, "Why the latest attempt failed; null when none did."),
    (next_attempt_at, "When it is tried next; null while it is tried, and when it will not be."),
    (created_time, "When it was written."),
    (sent_at, "When it was handed over; null before that.")
);

struct EmailOutboxRequeueResponse {
    Object<"email_outbox_requeue"> object;
    Uuid id, org_id;
    OutboxStatus status{};
    bool requeued = false;
    std::string template_;
    Email recipient;
    std::int64_t attempts = 0;
    std::optional<std::string> last_error;
    std::optional<Timestamp> next_attempt_at;
};
SVC_RECORD(
    EmailOutboxRequeueResponse,
    (object, "Always \"email_outbox_requeue\"."),
    (id, "The mail's id."),
    (org_id, "The workspace that sends it."),
    (status, "Its status now: `queued` when it was `failed`."),
    (requeued, "Whether this request did it; false when the mail was not failed."),
    (template_, "What sort of mail it is."),
    (recipient, "The address it goes to."),
    (attempts, "How often it was tried; reset when it is requeued."),
    (last_error, "Why the latest attempt failed; null when none did."),
    (next_attempt_at, "When it is tried next; null while it is tried, and when it will not be.")
);

constexpr EventKind mail_requeued{
    .name = "email_outbox.requeued",
    .object = "email_outbox",
    .summary = "An admin has a failed mail tried again.",
};

// $2: only those of this status. $3: after this one.
constexpr Sql some_mails{"mail.list_outbox", R"(
    SELECT m.id, m.org_id, m.status, m.template, m.recipient, m.subject, m.attempts, m.last_error,
        CASE WHEN m.status = 'queued' THEN j.due_at END AS next_attempt_at,
        m.created_time, m.sent_at
    FROM mail_outbox m
    LEFT JOIN jobs j ON j.org_id = $1 AND j.kind = 'mail.send' AND j.key = m.id::text
    WHERE m.org_id = $1
      AND ($2::text IS NULL OR m.status = $2)
      AND ($3::uuid IS NULL OR m.id < $3)
    ORDER BY m.id DESC
    LIMIT $4)"};

// Of two requests at once the second waits for the row and finds it queued.
constexpr Sql requeue_failed{"mail.requeue", R"(
    WITH found AS MATERIALIZED (
        SELECT id, org_id, status, template, recipient, attempts, last_error
        FROM mail_outbox
        WHERE org_id = $1 AND id = $2
        FOR UPDATE
    ), again AS (
        UPDATE mail_outbox m
        SET status = 'queued', attempts = 0
        FROM found
        WHERE m.org_id = $1 AND m.id = $2 AND found.status = 'failed'
        RETURNING m.id
    )
    SELECT f.id, f.org_id, f.template, f.recipient, f.last_error,
        again.id IS NOT NULL AS requeued,
        CASE WHEN again.id IS NULL THEN f.status ELSE 'queued' END AS status,
        CASE WHEN again.id IS NULL THEN f.attempts ELSE 0 END AS attempts,
        CASE
            WHEN again.id IS NOT NULL THEN now()
            WHEN f.status = 'queued' THEN j.due_at
        END AS next_attempt_at
    FROM found f
    LEFT JOIN again ON again.id = f.id
    LEFT JOIN jobs j ON j.org_id = $1 AND j.kind = 'mail.send' AND j.key = f.id::text)"};

// ----------------------------------------------------------------------------- list

struct OutboxQuery {
    Uuid org_id;
    std::optional<OutboxStatus> status;
    Paging paging;
};
SVC_RECORD(
    OutboxQuery,
    (org_id, "A workspace that you administer."),
    (status, "Only mails of this status."),
    (paging, "", flatten)
);

Page<EmailOutboxResponse> list(Call& call, const OutboxQuery& in) {
    const auto after = call.after(in.paging);
    auto rows = call.tx().all<EmailOutboxResponse>(
        some_mails,
        call.org(),
        in.status,
        after ? std::optional(after->front()) : std::nullopt,
        in.paging.page_size + 1
    );
    return call.page(std::move(rows), in.paging, [](const EmailOutboxResponse& last) {
        return std::vector{last.id.str()};
    });
}

const Operation list_email_outbox{
    .name = "list_email_outbox",
    .route = "GET /v1/orgs/{org_id}/email-outbox",
    .summary = "List the mails that the workspace sends, newest first.",
    .description =
        "Mails wait here until they are handed over. A mail that cannot be is tried again at "
        "growing intervals and is `failed` in the end, or at once when the other side will never "
        "take it.",
    .access = Access::admin,
    .handler = list,
};

// --------------------------------------------------------------------------- requeue

struct OutboxId {
    Uuid org_id, outbox_id;
};
SVC_RECORD(
    OutboxId, (org_id, "A workspace that you administer."), (outbox_id, "A mail of the workspace.")
);

EmailOutboxRequeueResponse requeue(Call& call, const OutboxId& in) {
    auto mail = call.tx().one<EmailOutboxRequeueResponse>(requeue_failed, call.org(), in.outbox_id);
    if (!mail) not_found("mail");
    if (!mail->requeued) return *std::move(mail);
    Event event;
    event.kind = &mail_requeued;
    event.id = mail->id;
    event.name = mail->template_ + " to " + mail->recipient.str();
    call.check(event);
    call.emit(event);
    call.use<Mailer>().enqueue(call.tx(), call.org(), mail->id);
    return *std::move(mail);
}

const Operation requeue_email{
    .name = "requeue_email",
    .route = "POST /v1/orgs/{org_id}/email-outbox/{outbox_id}:requeue",
    .summary = "Retry a failed mail.",
    .description =
        "The mail is due at once and gets as many attempts as a new one. A mail that is not "
        "`failed` is left as it is, so repeating this is safe.",
    .access = Access::admin,
    .idempotent = true,
    .open_world = true,
    .handler = requeue,
};

}  // namespace

void add_outbox_operations(Kernel& kernel) {
    kernel.add(mail_requeued);
    kernel.add(list_email_outbox);
    kernel.add(requeue_email);
}

}  // namespace svc::mail
