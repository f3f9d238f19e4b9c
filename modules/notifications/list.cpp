// A caller's notifications, newest first, as far as they may be seen.

#include "modules/notifications/mails.hpp"
#include "modules/notifications/operations.hpp"
#include "modules/notifications/rows.hpp"
#include "modules/notifications/visible.hpp"

namespace svc::notifications {

namespace {

// How many one page looks at: of those that are passed by it is told where it stopped.
constexpr std::int64_t most_looked_at = 500;

// The workspace's, by the index that gives their order, and those that are of none; $5 and $6 are
// the last of the page before. Of the workspace's $8 are looked at and no more; the last of them
// stands at the end, where there may be others behind.
constexpr std::string_view list_begin = R"(
    WITH looked AS MATERIALIZED (
        SELECT n.* FROM notifications n
        WHERE n.org_id = $1 AND n.user_id = $2
            AND (n.created_time, n.id) < (coalesce($5::timestamptz, 'infinity'),
                coalesce($6::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')))";
constexpr std::string_view only_unread = R"(
            AND n.read_at IS NULL AND n.epoch = (SELECT x.epoch FROM notification_inboxes x
                WHERE x.org_id = $1 AND x.user_id = $2))";
constexpr std::string_view list_middle = R"(
        ORDER BY n.created_time DESC, n.id DESC
        LIMIT $8
    ), inbox AS MATERIALIZED (
        SELECT x.epoch, x.read_all_at FROM notification_inboxes x
        WHERE x.org_id = $1 AND x.user_id = $2
    ), last AS MATERIALIZED (
        SELECT l.* FROM looked l
        ORDER BY l.created_time DESC, l.id DESC
        OFFSET $8 - 1
    ), personal AS MATERIALIZED (
        SELECT )" SVC_PERSONAL_NOTIFICATION R"(
        FROM personal_notifications p
        WHERE p.user_id = $2
            AND (p.created_time, p.id) < (coalesce($5::timestamptz, 'infinity'),
                coalesce($6::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
            AND (p.created_time, p.id) >= (
                coalesce((SELECT l.created_time FROM last l), '-infinity'),
                coalesce((SELECT l.id FROM last l), '00000000-0000-0000-0000-000000000000'))
            AND (p.expires_at IS NULL OR p.expires_at > now()))";
constexpr std::string_view only_unread_personal = R"( AND p.read_at IS NULL)";
constexpr std::string_view list_end = R"(
        ORDER BY p.created_time DESC, p.id DESC
        LIMIT $7
    ), seen AS (
        (SELECT )" SVC_NOTIFICATION("i.epoch", "i.read_all_at") R"(
        FROM looked n
        CROSS JOIN inbox i
        )" SVC_NOTIFIED_PLACE R"(
        WHERE )" SVC_NOTIFICATION_SEEN R"(
        ORDER BY n.created_time DESC, n.id DESC
        LIMIT $7)
        UNION ALL
        SELECT p.* FROM personal p
    )
    SELECT s.*, false AS is_end
    FROM (SELECT x.* FROM seen x ORDER BY x.created_time DESC, x.id DESC LIMIT $7) s
    UNION ALL
    SELECT )" SVC_NOTIFICATION("NULL::bigint", "NULL::timestamptz") R"(, true
    FROM last n
    ORDER BY is_end, created_time DESC, id DESC)";

constexpr Sql list_all{"notifications.list", SqlText<list_begin, list_middle, list_end>::view};
constexpr Sql list_unread{
    "notifications.list_unread",
    SqlText<list_begin, only_unread, list_middle, only_unread_personal, list_end>::view
};

struct ListedRow {
    NotificationRow row;
    bool is_end = false;  ///< not of the page: where looking stopped
};
SVC_RECORD(ListedRow, (row, "", flatten), (is_end));

struct ListQuery {
    std::optional<Uuid> org_id;
    bool unread = false;
    Paging paging;
};
SVC_RECORD(
    ListQuery,
    (org_id, "A workspace of yours; without it the one that you work in."),
    (unread, "Only those that you have not read.", defaulted),
    (paging, "", flatten)
);

/// With its microseconds, which an answer does not have.
std::vector<std::string> cursor_keys(const Timestamp& time, const Uuid& id) {
    return {std::to_string(time.micros), id.str()};
}

Page<NotificationResponse> list(Call& call, const ListQuery& in) {
    const auto after = call.after(in.paging);
    std::optional<Timestamp> time;
    std::optional<Uuid> id;
    if (after) {
        time = Timestamp{std::stoll(after->at(0))};
        id = Uuid::parse(after->at(1));
    }
    auto rows = reader_of(call)
                    .later<ListedRow>(
                        call.tx(),
                        in.unread ? list_unread : list_all,
                        time,
                        id,
                        in.paging.page_size + 1,
                        most_looked_at
                    )
                    .all();
    std::vector<NotificationResponse> shown_rows;
    std::optional<std::vector<std::string>> end;
    for (ListedRow& each : rows)
        if (each.is_end) end = cursor_keys(each.row.created_time, each.row.id);
        else shown_rows.push_back(shown(call.kernel(), std::move(each.row)));
    auto page = call.page(std::move(shown_rows), in.paging, [](const NotificationResponse& last) {
        return cursor_keys(last.created_time, last.id);
    });
    if (!page.next_cursor && end) page.next_cursor = call.cursor(*end);
    return page;
}

const Operation list_notifications{
    .name = "list_notifications",
    .route = "GET /v1/notifications",
    .summary = "List your notifications in a workspace, newest first.",
    .description =
        "What mentions you, is assigned to you, or happens to cards that you watch, and what else "
        "your preferences name. What you may not see any more is not shown. A page may be short, "
        "and others follow all the same: go by `has_more`.",
    .access = Access::me,
    .names_org = true,
    .handler = list,
};

}  // namespace

void add_list(Kernel& kernel) { kernel.add(list_notifications); }

NotificationResponse shown(const Kernel& kernel, NotificationRow row) {
    NotificationResponse out;
    out.id = row.id;
    out.org_id = row.org_id;
    out.user_id = row.user_id;
    out.kind = row.kind;
    out.title = std::move(row.title);
    out.body = std::move(row.body);
    out.actor = std::move(row.actor);
    out.target = NotificationTarget{
        std::move(row.target_type), row.target_id, row.board_id, row.card_id, {}
    };
    out.target->url = url_of(kernel, *out.target);
    out.event_id = row.event_id;
    out.event_count = row.event_count;
    out.read = row.read_at.has_value();
    out.read_at = row.read_at;
    out.created_time = row.created_time;
    return out;
}

}  // namespace svc::notifications
