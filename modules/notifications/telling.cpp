#include "modules/notifications/telling.hpp"

#include "modules/notifications/choices.hpp"
#include "modules/notifications/mails.hpp"
#include "modules/notifications/push.hpp"
#include "modules/notifications/visible.hpp"

#include <algorithm>

namespace svc::notifications {

namespace {

constexpr std::size_t people_at_once = 500;  // of one statement

// Of $2 those who may see what it is about: are in the workspace, with that role at least, and see
// the board $3, if it is on one. Each by key, whatever is believed of the tables.
constexpr Sql judge_readers{
    "notifications.judge_readers",
    R"(
    SELECT q.id, p.kind = 'agent' AS is_agent, p.email,
        coalesce(p.email_verified AND p.disabled_at IS NULL, false) AS may_be_mailed,
        coalesce(p.preferences, '{}') AS chosen
    FROM unnest($2::uuid[]) AS q (id)
    CROSS JOIN LATERAL (
        SELECT 'person' AS kind, m.role, u.email, u.email_verified, u.disabled_at, u.preferences
        FROM memberships m
        JOIN users u ON u.id = m.user_id
        WHERE m.org_id = $1 AND m.user_id = q.id
        UNION ALL
        SELECT 'agent', a.role, NULL, NULL, NULL, NULL
        FROM agents a
        WHERE a.org_id = $1 AND a.id = q.id AND a.status = 'active'
        OFFSET 0
    ) p
    )" SVC_NOTIFIED_BOARD_OF("q.id", "$3") R"(
    WHERE ($3::uuid IS NULL OR b.id IS NOT NULL AND )" SVC_BOARD_ROLE_OF(
        "q.id", "p.kind", "p.role", "b.visibility", "b.created_by"
    ) R"( IS NOT NULL)
        AND )" SVC_NOTIFIED_ROLE_OF("p.role", "$4::text") R"(
    ORDER BY q.id)"
};

constexpr Sql open_inboxes{"notifications.open_inboxes", R"(
    INSERT INTO notification_inboxes (org_id, user_id)
    SELECT $1, t.user_id FROM unnest($2::uuid[]) AS t (user_id)
    ON CONFLICT DO NOTHING)"};

constexpr Sql lock_inboxes{"notifications.lock_inboxes", R"(
    SELECT i.user_id AS id, i.epoch,
        CASE WHEN i.mails_since > now() - interval '1 hour' THEN i.mails ELSE 0 END AS mails
    FROM unnest($2::uuid[]) AS t (user_id)
    CROSS JOIN LATERAL (
        SELECT n.user_id, n.epoch, n.mails, n.mails_since FROM notification_inboxes n
        WHERE n.org_id = $1 AND n.user_id = t.user_id
        FOR NO KEY UPDATE
    ) i)"};

// Who has not read yet what was told of the same, by the keys of inboxes that are locked.
constexpr Sql find_unread{"notifications.find_unread", R"(
    SELECT t.user_id AS id
    FROM unnest($2::uuid[], $3::bigint[]) AS t (user_id, epoch)
    WHERE coalesce((SELECT true FROM notifications n
        WHERE n.org_id = $1 AND n.user_id = t.user_id AND n.kind = $4 AND n.subject_id = $5
            AND n.epoch = t.epoch AND n.read_at IS NULL), false))"};

// $2 to $4: for whom, under which id, and whether in the product. What is unread of the same kind
// about the same is brought up to date in place of another. A digest that was made while this
// waited for the inbox does not have it; the next one does.
constexpr Sql add_notifications{"notifications.add", R"(
    WITH merged AS (
        INSERT INTO notifications AS n (
            org_id, user_id, id, kind, epoch, subject_id, least_role, board_id, card_id,
            target_type, target_id, actor, title, body, event_id, event_count, created_time)
        SELECT $1, t.user_id, t.id, $5, i.epoch, $6, $7, $8::uuid, $9::uuid, $10, $11,
            $12::json, $13, nullif($14::text, ''), $15::uuid, $16::bigint,
            greatest(now(), i.digested_at + interval '1 microsecond')
        FROM unnest($2::uuid[], $3::uuid[], $4::boolean[]) AS t (user_id, id, in_app)
        CROSS JOIN LATERAL (
            SELECT x.epoch, x.digested_at FROM notification_inboxes x
            WHERE x.org_id = $1 AND x.user_id = t.user_id
            OFFSET 0
        ) i
        WHERE t.in_app
        ON CONFLICT (org_id, user_id, kind, subject_id, epoch) WHERE read_at IS NULL
        DO UPDATE SET target_type = excluded.target_type, target_id = excluded.target_id,
            actor = excluded.actor, title = excluded.title, body = excluded.body,
            event_id = excluded.event_id, event_count = n.event_count + excluded.event_count,
            created_time = excluded.created_time
        RETURNING n.user_id, n.id
    )
    INSERT INTO notification_counts AS c (org_id, user_id, board_id, least_role, unread)
    SELECT $1, m.user_id, coalesce($8::uuid, '00000000-0000-0000-0000-000000000000'), $7, 1
    FROM merged m
    WHERE m.id = ANY ($3::uuid[])
    ORDER BY m.user_id
    ON CONFLICT (org_id, user_id, board_id, least_role) DO UPDATE SET unread = c.unread + 1)"};

// $2 to $4 as above, $5 whether by mail, $6 to $9 when they want digests.
constexpr Sql note_news{"notifications.note_news", R"(
    UPDATE notification_inboxes n
    SET news = n.news + t.in_app::integer,
        changed_at = CASE WHEN t.in_app THEN now() ELSE n.changed_at END,
        mails = CASE WHEN NOT t.mailed THEN n.mails
            WHEN n.mails_since > now() - interval '1 hour' THEN n.mails + 1 ELSE 1 END,
        mails_since = CASE
            WHEN NOT t.mailed OR n.mails_since > now() - interval '1 hour' THEN n.mails_since
            ELSE now() END,
        digest_at = CASE WHEN t.in_app THEN coalesce(n.digest_at,
            notification_digest_time(t.often, t.hour, t.week_start, t.zone, now()))
            ELSE n.digest_at END
    FROM unnest($2::uuid[], $3::boolean[], $4::boolean[], $5::text[], $6::bigint[], $7::text[],
        $8::text[]) AS t (user_id, in_app, mailed, often, hour, week_start, zone)
    WHERE n.org_id = $1 AND n.user_id = t.user_id)"};

constexpr Sql find_stranger{"notifications.find_stranger", R"(
    SELECT u.id, false AS is_agent, u.email, u.email_verified AS may_be_mailed,
        u.preferences AS chosen
    FROM users u WHERE u.id = $1 AND u.disabled_at IS NULL)"};

// Nothing when the person has it already. Who wants it by mail alone ($12) has it as one that has
// ended, so that nobody is mailed twice.
constexpr Sql add_personal{"notifications.add_personal", R"(
    INSERT INTO personal_notifications (
        user_id, id, kind, about_org, target_type, target_id, actor, title, body, event_id,
        expires_at, read_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7::json, $8, nullif($9::text, ''), $10::uuid,
        CASE WHEN $12::boolean THEN now() ELSE $11::timestamptz END,
        CASE WHEN $12::boolean THEN now() END)
    ON CONFLICT DO NOTHING
    RETURNING user_id AS id)"};

struct Id {
    Uuid id;
};
SVC_RECORD(Id, (id));

struct Locked {
    Uuid id;
    std::int64_t epoch = 0, mails = 0;
};
SVC_RECORD(Locked, (id), (epoch), (mails));

std::optional<JsonText> actor_of(const Draft& draft) {
    if (!draft.actor) return std::nullopt;
    return JsonText{AsJson<PrincipalRef>(*draft.actor).text};
}

const char* truth(bool is) { return is ? "t" : "f"; }

/// What statements take of those who are told, side by side.
struct Columns {
    std::vector<Uuid> users, ids;
    std::vector<std::string> in_app, mailed, often, hour, week_start, zone;
};

}  // namespace

struct ReaderRow {
    Uuid id;
    bool is_agent = false;
    std::optional<Email> email;
    bool may_be_mailed = false;
    auth::Preferences chosen;
};
SVC_RECORD(ReaderRow, (id), (is_agent), (email), (may_be_mailed), (chosen));

struct Telling::Reader {
    ReaderRow row;
    bool in_app = true, by_mail = false;

    Reader(ReaderRow from, NotificationKind kind) : row(std::move(from)) {
        const auto& wanted = row.chosen.notifications.*choice_of(kind);
        in_app = row.is_agent || wanted.in_app;
        by_mail = row.may_be_mailed && wanted.email && is_mailed(kind);
    }
};

std::set<Uuid> Telling::tell(Tx& tx, const Draft& draft) const {
    if (draft.is_personal) return tell_stranger(tx, draft);
    std::set<Uuid> changed;
    for (std::size_t at = 0; at < draft.to.size(); at += people_at_once) {
        const auto begin = draft.to.begin() + static_cast<std::ptrdiff_t>(at);
        const auto count = std::min(people_at_once, draft.to.size() - at);
        const std::vector<Uuid> some(begin, begin + static_cast<std::ptrdiff_t>(count));
        std::vector<Reader> readers;
        for (ReaderRow& each :
             tx.all<ReaderRow>(judge_readers, draft.org, some, draft.board, draft.least_role)) {
            Reader reader(std::move(each), draft.kind);
            if (reader.in_app || reader.by_mail) readers.push_back(std::move(reader));
        }
        if (readers.empty()) continue;
        tell_members(tx, draft, std::move(readers));
        changed.insert(draft.org);
    }
    return changed;
}

/// Locks their inboxes, and gives those who may have a mail of this.
std::set<Uuid> Telling::whom_to_mail(
    Tx& tx, const Draft& draft, const std::vector<Uuid>& people
) const {
    std::set<Uuid> some;
    std::vector<Uuid> ids;
    std::vector<std::string> epochs;
    for (const Locked& each : tx.all<Locked>(lock_inboxes, draft.org, people)) {
        if (each.mails >= settings_.mails_per_hour) continue;
        some.insert(each.id);
        ids.push_back(each.id);
        epochs.push_back(std::to_string(each.epoch));
    }
    if (!draft.mailed_once) return some;
    for (const Id& each :
         tx.all<Id>(find_unread, draft.org, ids, epochs, draft.kind, draft.subject))
        some.erase(each.id);
    return some;
}

void Telling::tell_members(Tx& tx, const Draft& draft, std::vector<Reader> readers) const {
    Columns told;
    for (const Reader& each : readers) {
        told.users.push_back(each.row.id);
        told.ids.push_back(new_uuid());
    }
    tx.queue(open_inboxes, draft.org, told.users);
    const auto mailed = whom_to_mail(tx, draft, told.users);
    for (Reader& each : readers) {
        each.by_mail = each.by_mail && mailed.contains(each.row.id);
        const auth::Preferences& chosen = each.row.chosen;
        told.in_app.emplace_back(truth(each.in_app));
        told.mailed.emplace_back(truth(each.by_mail));
        told.often.emplace_back(each.row.may_be_mailed ? name_of(chosen.email_digest) : "off");
        told.hour.push_back(std::to_string(chosen.digest_hour));
        told.week_start.emplace_back(name_of(chosen.week_start));
        told.zone.push_back(chosen.timezone);
    }
    tx.queue(
        add_notifications,
        draft.org,
        told.users,
        told.ids,
        told.in_app,
        draft.kind,
        draft.subject,
        draft.least_role,
        draft.board,
        draft.card,
        draft.target_type,
        draft.target,
        actor_of(draft),
        draft.title,
        draft.body,
        draft.event,
        draft.count
    );
    tx.queue(
        note_news,
        draft.org,
        told.users,
        told.in_app,
        told.mailed,
        told.often,
        told.hour,
        told.week_start,
        told.zone
    );
    for (const Reader& each : readers)
        if (each.by_mail && each.row.email)
            send_mail(kernel_, tx, draft, each.row.id, *each.row.email);
}

std::set<Uuid> Telling::tell_stranger(Tx& tx, const Draft& draft) const {
    std::set<Uuid> changed;
    for (const Uuid& person : draft.to) {
        auto row = tx.one<ReaderRow>(find_stranger, person);
        if (!row) continue;
        const Reader reader(*std::move(row), draft.kind);
        if (!reader.in_app && !reader.by_mail) continue;
        if (!add_to_inbox(tx, draft, reader)) continue;
        if (reader.by_mail && reader.row.email)
            send_mail(kernel_, tx, draft, person, *reader.row.email);
        if (!reader.in_app) continue;
        for (const Workspace& each : note_personal_news(tx, person).all())
            changed.insert(each.org_id);
    }
    return changed;
}

/// False when it is there.
bool Telling::add_to_inbox(Tx& tx, const Draft& draft, const Reader& reader) {
    const auto added = tx.one<Id>(
        add_personal,
        reader.row.id,
        new_uuid(),
        draft.kind,
        draft.org,
        draft.target_type,
        draft.target,
        actor_of(draft),
        draft.title,
        draft.body,
        draft.event,
        draft.expires_at,
        !reader.in_app
    );
    return added.has_value();
}

}  // namespace svc::notifications
