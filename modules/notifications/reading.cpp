// Counting what a caller has not read, and marking it.

#include "modules/notifications/operations.hpp"
#include "modules/notifications/push.hpp"
#include "modules/notifications/removal.hpp"
#include "modules/notifications/rows.hpp"
#include "modules/notifications/visible.hpp"

namespace svc::notifications {

namespace {

using boards::BoardCaller;

constexpr std::string_view nobody = "00000000-0000-0000-0000-000000000000";

// By what was counted when they were made, not by the notifications themselves.
constexpr Sql count_unread{
    "notifications.count_unread",
    R"(
    SELECT coalesce(sum(c.unread) FILTER (WHERE c.board_id = $5 OR )" SVC_NOTIFIED_BOARD_SEEN
    R"(), 0) + (
        SELECT count(*) FROM (
            SELECT FROM personal_notifications n
            WHERE n.user_id = $2 AND n.read_at IS NULL
                AND (n.expires_at IS NULL OR n.expires_at > now())
            LIMIT 1000
        ) p) AS unread_count
    FROM notification_counts c
    )" SVC_NOTIFIED_BOARD("c.board_id") R"(
    WHERE c.org_id = $1 AND c.user_id = $2 AND c.unread > 0
        AND )" SVC_NOTIFIED_ROLE("c.least_role")
};

constexpr Sql find_one{
    "notifications.find", "SELECT " SVC_NOTIFICATION("i.epoch", "i.read_all_at") R"(
    FROM notifications n
    JOIN notification_inboxes i ON i.org_id = $1 AND i.user_id = $2
    )" SVC_NOTIFIED_PLACE R"(
    WHERE n.org_id = $1 AND n.user_id = $2 AND n.id = $5
        AND )" SVC_NOTIFICATION_SEEN
};
constexpr Sql find_personal{"notifications.find_personal", "SELECT " SVC_PERSONAL_NOTIFICATION R"(
    FROM personal_notifications p
    WHERE p.user_id = $1 AND p.id = $2 AND (p.expires_at IS NULL OR p.expires_at > now()))"};

constexpr Sql lock_inbox{"notifications.lock_inbox", R"(
    SELECT user_id FROM notification_inboxes WHERE org_id = $1 AND user_id = $2
    FOR NO KEY UPDATE)"};

constexpr Sql mark_read{"notifications.mark_read", R"(
    WITH marked AS (
        UPDATE notifications n SET read_at = now()
        WHERE n.org_id = $1 AND n.user_id = $2 AND n.id = $3 AND n.read_at IS NULL
        RETURNING n.board_id, n.least_role, n.epoch, n.read_at
    ), counted AS (
        UPDATE notification_counts c SET unread = c.unread - 1
        FROM marked m
        JOIN notification_inboxes i
            ON i.org_id = $1 AND i.user_id = $2 AND i.epoch = m.epoch
        WHERE c.org_id = $1 AND c.user_id = $2
            AND c.board_id = (SELECT coalesce(m.board_id, '00000000-0000-0000-0000-000000000000'))
            AND c.least_role = m.least_role
    ), noted AS (
        UPDATE notification_inboxes i SET news = i.news + 1, changed_at = now()
        FROM marked m
        WHERE i.org_id = $1 AND i.user_id = $2
    )
    SELECT read_at FROM marked)"};

// From here on all that there is counts as read.
constexpr Sql begin_epoch{"notifications.begin_epoch", R"(
    UPDATE notification_inboxes
    SET epoch = epoch + 1, read_all_at = now(), news = news + 1, changed_at = now()
    WHERE org_id = $1 AND user_id = $2
    RETURNING read_all_at AS read_at)"};
constexpr Sql count_none{"notifications.count_none", R"(
    UPDATE notification_counts SET unread = 0
    WHERE org_id = $1 AND user_id = $2 AND unread > 0)"};
constexpr Sql read_personal{"notifications.read_personal", R"(
    UPDATE personal_notifications SET read_at = now() WHERE user_id = $1 AND read_at IS NULL)"};
constexpr Sql mark_personal{"notifications.mark_personal", R"(
    UPDATE personal_notifications SET read_at = now()
    WHERE user_id = $1 AND id = $2 AND read_at IS NULL
    RETURNING read_at)"};
constexpr Sql now_is{"notifications.now", "SELECT now() AS read_at"};

struct Counted {
    std::int64_t unread_count = 0;
};
SVC_RECORD(Counted, (unread_count));

struct Marked {
    Timestamp read_at;
};
SVC_RECORD(Marked, (read_at));

/// Open pages hear of it on every server: those of the call's workspace and of `others`.
void show(Call& call, const std::vector<Workspace>& others = {}) {
    std::set<Uuid> orgs;
    if (call.caller().org_id) orgs.insert(*call.caller().org_id);
    for (const Workspace& each : others) orgs.insert(each.org_id);
    call.after_commit([&push = call.kernel().use<Push>(), orgs = std::move(orgs)] {
        for (const Uuid& each : orgs) push.changed(each);
    });
}

// ---------------------------------------------------------------------------------- count

struct OrgQuery {
    std::optional<Uuid> org_id;
};
SVC_RECORD(OrgQuery, (org_id, "A workspace of yours; without it the one that you work in."));

DeferredRows<Counted> unread_of(Call& call) {
    return reader_of(call).later<Counted>(call.tx(), count_unread, nobody);
}

UnreadCountResponse count(Call& call, const OrgQuery&) {
    return {{}, call.caller().org_id, unread_of(call).one_or_retry().unread_count};
}

const Operation count_notifications{
    .name = "count_notifications",
    .route = "GET /v1/notifications/count",
    .summary = "Count the notifications that you have not read.",
    .description = "Those of a workspace that you may see.",
    .access = Access::me,
    .names_org = true,
    .handler = count,
};

// ----------------------------------------------------------------------------------- read

struct ReadRequest {
    Uuid notification_id;
    std::optional<Uuid> org_id;
};
SVC_RECORD(
    ReadRequest,
    (notification_id, "One of your notifications."),
    (org_id, "The workspace it is in; without it the one that you work in.", in_query)
);

/// When it was marked just now. Somebody else may have done so at this moment: then once more.
Timestamp marked_at(DeferredRows<Marked> mark) {
    const auto done = mark.one();
    if (!done) throw RetryTransaction("a notification was read at the same time");
    return done->read_at;
}

Timestamp mark_in_workspace(Call& call, const BoardCaller& reader, const Uuid& id) {
    Tx& tx = call.tx();
    tx.queue(lock_inbox, reader.org, reader.principal);
    const auto read_at = marked_at(tx.later<Marked>(mark_read, reader.org, reader.principal, id));
    show(call);
    return read_at;
}

/// It is listed in each of the person's workspaces.
Timestamp mark_everywhere(Call& call, const Uuid& person, const Uuid& id) {
    auto changed = note_personal_news(call.tx(), person);
    const auto read_at = marked_at(call.tx().later<Marked>(mark_personal, person, id));
    show(call, changed.all());
    return read_at;
}

NotificationResponse read(Call& call, const ReadRequest& in) {
    const BoardCaller reader = reader_of(call);
    Tx& tx = call.tx();
    auto found = reader.later<NotificationRow>(tx, find_one, in.notification_id);
    auto personal = tx.later<NotificationRow>(find_personal, reader.principal, in.notification_id);
    auto row = found.one();
    const bool is_personal = !row;
    if (is_personal) row = personal.one();
    if (!row) not_found("notification");
    if (row->read_at) return shown(call.kernel(), *std::move(row));
    row->read_at = is_personal ? mark_everywhere(call, reader.principal, row->id)
                               : mark_in_workspace(call, reader, row->id);
    return shown(call.kernel(), *std::move(row));
}

const Operation read_notification{
    .name = "read_notification",
    .route = "POST /v1/notifications/{notification_id}:read",
    .summary = "Mark a notification as read.",
    .description = "Once more changes nothing: `read_at` stays as it was.",
    .access = Access::me,
    .idempotent = true,
    .when_past_due = true,
    .names_org = true,
    .handler = read,
};

// ------------------------------------------------------------------------------- read all

struct ReadAllRequest {
    std::optional<Uuid> org_id;
};
SVC_RECORD(
    ReadAllRequest, (org_id, "A workspace of yours; without it the one that you work in.", in_query)
);

NotificationsRead read_all(Call& call, const ReadAllRequest&) {
    const BoardCaller reader = reader_of(call);
    Tx& tx = call.tx();
    std::optional<DeferredRows<Workspace>> elsewhere;
    if (call.caller().is_person()) elsewhere = note_personal_news_if_unread(tx, reader.principal);
    tx.queue(lock_inbox, reader.org, reader.principal);
    auto before = unread_of(call);
    auto begun = tx.later<Marked>(begin_epoch, reader.org, reader.principal);
    tx.queue(count_none, reader.org, reader.principal);
    if (call.caller().is_person()) tx.queue(read_personal, reader.principal);
    auto now = tx.later<Marked>(now_is);
    NotificationsRead out;
    out.org_id = call.caller().org_id;
    out.updated_count = before.one_or_retry().unread_count;
    out.read_at = now.one_or_retry().read_at;
    if (begun.one() && out.updated_count > 0)
        enqueue_settling(call.kernel(), tx, reader.org, reader.principal);
    show(call, elsewhere ? elsewhere->all() : std::vector<Workspace>());
    return out;
}

const Operation read_all_notifications{
    .name = "read_all_notifications",
    .route = "POST /v1/notifications:readAll",
    .summary = "Mark all your notifications in a workspace as read.",
    .access = Access::me,
    .idempotent = true,
    .when_past_due = true,
    .names_org = true,
    .handler = read_all,
};

}  // namespace

void add_reading(Kernel& kernel) {
    for (const Operation* each :
         {&count_notifications, &read_notification, &read_all_notifications})
        kernel.add(*each);
}

}  // namespace svc::notifications
