#include "modules/notifications/digest.hpp"

#include "modules/boards/api/access.hpp"
#include "modules/notifications/mails.hpp"
#include "modules/notifications/rows.hpp"
#include "modules/notifications/visible.hpp"
#include "svc/workspace_pages.hpp"

namespace svc::notifications {

namespace {

constexpr std::int64_t inboxes_at_once = 25;
constexpr std::int64_t most_looked_at = 200, most_listed = 20;

// From workspace to workspace by the index, however many digests are due in each.
constexpr Sql orgs_with_due{"notifications.orgs_with_digests", R"(
    WITH RECURSIVE each AS (
        (SELECT i.org_id, i.digest_at FROM notification_inboxes i
         WHERE i.org_id > $1 AND i.digest_at IS NOT NULL
         ORDER BY i.org_id, i.digest_at
         LIMIT 1)
        UNION ALL
        SELECT f.org_id, f.digest_at
        FROM each e
        CROSS JOIN LATERAL (
            SELECT i.org_id, i.digest_at FROM notification_inboxes i
            WHERE i.org_id > e.org_id AND i.digest_at IS NOT NULL
            ORDER BY i.org_id, i.digest_at
            LIMIT 1
        ) f
    )
    SELECT e.org_id, e.digest_at <= now() AS is_due
    FROM (SELECT x.org_id, x.digest_at FROM each x LIMIT $2) e)"};

// Whoever is not in the workspace any more, or cannot be mailed, gets none.
constexpr Sql take_due{"notifications.take_digests", R"(
    SELECT d.user_id, d.digested_at, m.role, u.email, u.name, o.name AS org_name,
        coalesce(u.email_verified AND u.disabled_at IS NULL, false) AS may_be_mailed,
        coalesce(u.preferences, '{}') AS chosen
    FROM (
        SELECT i.user_id, i.digested_at FROM notification_inboxes i
        WHERE i.org_id = $1 AND i.digest_at <= now()
        ORDER BY i.digest_at
        LIMIT $2
        FOR NO KEY UPDATE SKIP LOCKED
    ) d
    JOIN orgs o ON o.id = $1
    LEFT JOIN LATERAL (
        SELECT s.role FROM memberships s WHERE s.org_id = $1 AND s.user_id = d.user_id OFFSET 0
    ) m ON true
    LEFT JOIN LATERAL (
        SELECT p.email, p.name, p.email_verified, p.disabled_at, p.preferences
        FROM users p WHERE p.id = d.user_id
        OFFSET 0
    ) u ON true
    ORDER BY d.user_id)"};

// What came since the last one, is unread, and may be seen now.
constexpr Sql what_is_new{
    "notifications.digest", "SELECT " SVC_NOTIFICATION("n.epoch", "NULL::timestamptz") R"(,
        count(*) OVER () AS many
    FROM (
        SELECT x.* FROM notifications x
        WHERE x.org_id = $1 AND x.user_id = $2 AND x.read_at IS NULL
            AND x.epoch = (SELECT i.epoch FROM notification_inboxes i
                WHERE i.org_id = $1 AND i.user_id = $2)
            AND x.created_time > $5
        ORDER BY x.created_time DESC, x.id DESC
        LIMIT $6
    ) n
    )" SVC_NOTIFIED_PLACE R"(
    WHERE )" SVC_NOTIFICATION_SEEN R"(
    ORDER BY n.created_time DESC, n.id DESC
    LIMIT $7)"
};

constexpr Sql note_digested{"notifications.note_digested", R"(
    UPDATE notification_inboxes
    SET digest_at = NULL, digested_at = CASE WHEN $3 THEN now() ELSE digested_at END
    WHERE org_id = $1 AND user_id = $2)"};

constexpr Sql change_times{"notifications.change_digest_times", R"(
    UPDATE notification_inboxes
    SET digest_at = notification_digest_time($2, $3::bigint, $4, $5, now())
    WHERE user_id = $1 AND digest_at IS NOT NULL AND org_id = ANY (ARRAY(
        SELECT m.org_id FROM memberships m WHERE m.user_id = $1)))"};

struct DueRow {
    Uuid user_id;
    Timestamp digested_at;
    std::optional<OrgRole> role;
    std::optional<Email> email;
    std::optional<std::string> name;
    std::string org_name;
    bool may_be_mailed = false;
    auth::Preferences chosen;

    bool is_wanted() const {
        return role && email && may_be_mailed && chosen.email_digest != auth::EmailDigest::off;
    }
};
SVC_RECORD(
    DueRow, (user_id), (digested_at), (role), (email), (name), (org_name), (may_be_mailed), (chosen)
);

struct NewRow {
    NotificationRow row;
    std::int64_t many = 0;
};
SVC_RECORD(NewRow, (row, "", flatten), (many));

mail::MailItem item_of(const Kernel& kernel, const NotificationRow& row) {
    const NotificationResponse whole = shown(kernel, row);
    const std::string times =
        row.event_count > 1 ? " (" + std::to_string(row.event_count) + " times)" : "";
    return {whole.title + times, whole.target->url};
}

mail::MailTemplate mail_of(
    const Kernel& kernel, const DueRow& to, const std::vector<NewRow>& news
) {
    const auto many = news.front().many;
    const bool is_daily = to.chosen.email_digest == auth::EmailDigest::daily;
    const std::string count =
        many == 1 ? "a new notification" : std::to_string(many) + " new notifications";
    mail::MailTemplate mail{
        .kind = "notification_digest",
        .to = *to.email,
        .subject = to.org_name + ": " + count,
        .opening = {"You have " + count + " in " + to.org_name + "."},
        .link = kernel.base_url() + "/",
        .link_label = "Open Workboard",
    };
    for (const NewRow& each : news) mail.items.push_back(item_of(kernel, each.row));
    if (const auto more = many - static_cast<std::int64_t>(news.size()); more > 0)
        mail.items.push_back({"and " + std::to_string(more) + " more"});
    mail.closing = {
        std::string("You get this ") + (is_daily ? "once a day" : "once a week") +
        " while there is something that you have not read."
    };
    mail.unsubscribe = unsubscribe_url(kernel, {to.user_id, std::nullopt});
    return mail;
}

/// How many were due.
std::size_t send_some(Kernel& kernel, Tx& tx, const Uuid& org) {
    const auto due = tx.all<DueRow>(take_due, org, inboxes_at_once);
    std::vector<std::optional<DeferredRows<NewRow>>> asked;
    for (const DueRow& each : due)
        if (each.is_wanted())
            asked.emplace_back(tx.later<NewRow>(
                what_is_new,
                org,
                each.user_id,
                boards::CallerKind::person,
                *each.role,
                each.digested_at,
                most_looked_at,
                most_listed
            ));
        else asked.emplace_back();
    auto* outbox = kernel.find<mail::Outbox>();
    for (std::size_t i = 0; i < due.size(); ++i) {
        const auto news = asked[i] ? asked[i]->all() : std::vector<NewRow>();
        if (outbox && !news.empty()) outbox->post(tx, org, mail_of(kernel, due[i], news));
        tx.queue(note_digested, org, due[i].user_id, due[i].is_wanted());
    }
    return due.size();
}

}  // namespace

void DigestTimes::changed(Tx& tx, const Uuid& person, const auth::Preferences& chosen) {
    tx.queue(
        change_times,
        person,
        chosen.email_digest,
        chosen.digest_hour,
        chosen.week_start,
        chosen.timezone
    );
}

void add_digests(Kernel& kernel) {
    add_sweep(
        kernel,
        {
            .name = "notifications.digest",
            .every = std::chrono::seconds(30),
            .find = [&kernel] { return workspaces_by_page(kernel, orgs_with_due); },
            .work =
                [&kernel](JobRun& run) {
                    return in_batches(
                        kernel,
                        run,
                        run.org(),
                        "notifications.digest",
                        static_cast<std::size_t>(inboxes_at_once),
                        [&](Tx& tx, Actor&) { return send_some(kernel, tx, run.org()); }
                    );
                },
        }
    );
}

}  // namespace svc::notifications
