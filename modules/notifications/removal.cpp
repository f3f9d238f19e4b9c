#include "modules/notifications/removal.hpp"

#include "modules/notifications/push.hpp"
#include "svc/workspace_pages.hpp"

namespace svc::notifications {

namespace {

constexpr std::string_view settling = "notifications.settle";
constexpr std::int64_t erased_at_once = 500;  // in one transaction

// In the order of people, as everybody takes these locks.
constexpr Sql lock_inboxes_of{"notifications.lock_inboxes_of", R"(
    SELECT i.user_id
    FROM (SELECT DISTINCT k.user_id FROM unnest($2::uuid[]) AS k (user_id) ORDER BY k.user_id) t
    CROSS JOIN LATERAL (
        SELECT n.user_id FROM notification_inboxes n
        WHERE n.org_id = $1 AND n.user_id = t.user_id
        FOR NO KEY UPDATE
    ) i)"};

constexpr Sql erase_some{"notifications.erase", R"(
    WITH gone AS (
        DELETE FROM notifications n
        USING unnest($2::uuid[], $3::uuid[]) AS k (user_id, id)
        WHERE n.org_id = $1 AND n.user_id = k.user_id AND n.id = k.id
        RETURNING n.user_id, n.board_id, n.least_role, n.epoch, n.read_at
    ), unread AS (
        SELECT g.user_id, coalesce(g.board_id, '00000000-0000-0000-0000-000000000000') AS board_id,
            g.least_role, count(*) AS many
        FROM gone g
        CROSS JOIN LATERAL (
            SELECT x.epoch FROM notification_inboxes x
            WHERE x.org_id = $1 AND x.user_id = g.user_id
            OFFSET 0
        ) i
        WHERE g.read_at IS NULL AND g.epoch = i.epoch
        GROUP BY 1, 2, 3
    ), counted AS (
        UPDATE notification_counts c SET unread = c.unread - u.many
        FROM unread u
        WHERE c.org_id = $1 AND c.user_id = u.user_id AND c.board_id = u.board_id
            AND c.least_role = u.least_role
    )
    UPDATE notification_inboxes n SET news = n.news + 1, changed_at = now()
    WHERE n.org_id = $1 AND n.user_id = ANY (ARRAY(SELECT u.user_id FROM unread u)))"};

constexpr Sql of_card{"notifications.of_card", R"(
    SELECT user_id, id FROM notifications
    WHERE org_id = $1 AND card_id = $2
    ORDER BY user_id, id
    LIMIT $3)"};

constexpr Sql of_comment{"notifications.of_comment", R"(
    SELECT user_id, id FROM notifications
    WHERE org_id = $1 AND card_id = $2 AND target_id = $3
    ORDER BY user_id, id
    LIMIT $4)"};

// Of several comments the others stay news; what the deleted one said does not.
constexpr Sql keep_other_comments{"notifications.keep_other_comments", R"(
    UPDATE notifications SET body = NULL, target_type = 'card', target_id = card_id
    WHERE org_id = $1 AND card_id = $2 AND target_id = $3 AND event_count > 1)"};

// The same of blocks: whichever of the card's are in the trash, for a block takes those below it
// along.
#define SVC_OF_GONE_BLOCK                                                              \
    "n.org_id = $1 AND n.card_id = $2 AND n.target_type = 'block' AND "                \
    "coalesce((SELECT b.trashed_by IS NOT NULL FROM blocks b WHERE b.org_id = $1 AND " \
    "b.id = n.target_id), true)"
constexpr Sql of_gone_blocks{"notifications.of_gone_blocks", R"(
    SELECT n.user_id, n.id FROM notifications n
    WHERE )" SVC_OF_GONE_BLOCK R"(
    ORDER BY n.user_id, n.id
    LIMIT $3)"};
constexpr Sql keep_other_blocks{"notifications.keep_other_blocks", R"(
    UPDATE notifications n SET body = NULL, target_type = 'card', target_id = n.card_id
    WHERE )" SVC_OF_GONE_BLOCK R"( AND n.event_count > 1)"};

constexpr Sql of_person{"notifications.of_person", R"(
    SELECT user_id, id FROM notifications
    WHERE org_id = $1 AND user_id = $2
    ORDER BY user_id, id
    LIMIT $3)"};

constexpr Sql drop_counts{"notifications.drop_counts", R"(
    DELETE FROM notification_counts WHERE org_id = $1 AND user_id = $2)"};
constexpr Sql drop_inbox{"notifications.drop_inbox", R"(
    DELETE FROM notification_inboxes WHERE org_id = $1 AND user_id = $2)"};

constexpr Sql is_member{"notifications.is_member", R"(
    SELECT m.user_id FROM memberships m WHERE m.org_id = $1 AND m.user_id = $2)"};

constexpr Sql told_of_invitation{"notifications.told_of_invitation", R"(
    SELECT DISTINCT user_id FROM personal_notifications
    WHERE about_org = $1 AND target_id = $2
    ORDER BY user_id)"};
constexpr Sql drop_invitation{"notifications.drop_invitation", R"(
    DELETE FROM personal_notifications WHERE about_org = $1 AND target_id = $2)"};
constexpr Sql drop_expired{"notifications.drop_expired", R"(
    DELETE FROM personal_notifications
    WHERE (user_id, id) IN (
        SELECT p.user_id, p.id FROM personal_notifications p
        WHERE p.expires_at < now() - $1::interval
        ORDER BY p.expires_at
        LIMIT $2
        FOR UPDATE SKIP LOCKED))"};

constexpr Sql older_than{"notifications.older_than", R"(
    SELECT o.user_id, o.id
    FROM (
        SELECT n.user_id, n.id FROM notifications n
        WHERE n.org_id = $1 AND n.created_time < now() - $2::interval
        ORDER BY n.created_time
        LIMIT $3
    ) o
    ORDER BY o.user_id, o.id)"};

// From workspace to workspace by the index, however much each has.
constexpr Sql orgs_with_old{"notifications.orgs_with_old", R"(
    WITH RECURSIVE each AS (
        (SELECT n.org_id, n.created_time FROM notifications n
         WHERE n.org_id > $1
         ORDER BY n.org_id, n.created_time
         LIMIT 1)
        UNION ALL
        SELECT f.org_id, f.created_time
        FROM each e
        CROSS JOIN LATERAL (
            SELECT n.org_id, n.created_time FROM notifications n
            WHERE n.org_id > e.org_id
            ORDER BY n.org_id, n.created_time
            LIMIT 1
        ) f
    )
    SELECT e.org_id, e.created_time < now() - $3::interval AS is_due
    FROM (SELECT x.org_id, x.created_time FROM each x LIMIT $2) e)"};

constexpr Sql settle_some{"notifications.settle", R"(
    UPDATE notifications n
    SET read_at = i.read_all_at
    FROM notification_inboxes i
    WHERE i.org_id = $1 AND i.user_id = $2 AND n.org_id = $1 AND n.user_id = $2
        AND n.id = ANY (ARRAY(
            SELECT o.id FROM notifications o
            WHERE o.org_id = $1 AND o.user_id = $2 AND o.read_at IS NULL
                AND o.epoch < (SELECT x.epoch FROM notification_inboxes x
                    WHERE x.org_id = $1 AND x.user_id = $2)
            ORDER BY o.epoch
            LIMIT $3)))"};

/// A notification; of a workspace that is known.
struct NotificationKey {
    Uuid user_id, id;
};
SVC_RECORD(NotificationKey, (user_id), (id));

struct PersonId {
    Uuid user_id;
};
SVC_RECORD(PersonId, (user_id));

/// Deletes them; `keys` are in the order of their people, and of one workspace, for which the
/// transaction acts.
void erase(Tx& tx, const Uuid& org, const std::vector<NotificationKey>& keys) {
    if (keys.empty()) return;
    std::vector<Uuid> users, ids;
    for (const NotificationKey& each : keys) {
        users.push_back(each.user_id);
        ids.push_back(each.id);
    }
    tx.queue(lock_inboxes_of, org, users);
    tx.queue(erase_some, org, users, ids);
}

/// Whether there may be more.
bool erase_all(Tx& tx, const Uuid& org, const std::vector<NotificationKey>& keys) {
    erase(tx, org, keys);
    return static_cast<std::int64_t>(keys.size()) == erased_at_once;
}

bool forget_person(Tx& tx, const Uuid& org, const Uuid& person) {
    // Who has come back meanwhile keeps what there is.
    if (tx.queue(is_member, org, person).rows() > 0) return false;
    const bool more =
        erase_all(tx, org, tx.all<NotificationKey>(of_person, org, person, erased_at_once));
    if (more) return true;
    tx.queue(drop_counts, org, person);
    tx.queue(drop_inbox, org, person);
    return false;
}

std::set<Uuid> forget_invitation(Tx& tx, const Uuid& org, const Uuid& invitation) {
    std::set<Uuid> changed;
    for (const PersonId& each : tx.all<PersonId>(told_of_invitation, org, invitation))
        for (const Workspace& shown : note_personal_news(tx, each.user_id).all())
            changed.insert(shown.org_id);
    tx.queue(drop_invitation, org, invitation);
    return changed;
}

JobOutcome drop_old(Kernel& kernel, JobRun& run, std::chrono::seconds age) {
    return in_batches(
        kernel,
        run,
        run.org(),
        "notifications.drop_old",
        static_cast<std::size_t>(erased_at_once),
        [&](Tx& tx, Actor&) {
            const auto old = tx.all<NotificationKey>(older_than, run.org(), age, erased_at_once);
            erase(tx, run.org(), old);
            return old.size();
        }
    );
}

void drop_all_expired(Kernel& kernel, std::chrono::seconds age) {
    constexpr std::int64_t batch = 5'000;
    for (std::size_t dropped = batch; dropped > 0 && !kernel.stopping();)
        kernel.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope_to_all_orgs();
            dropped = tx.run(drop_expired, age, batch);
        });
}

JobOutcome settle(Kernel& kernel, JobRun& run) {
    const Uuid user = Uuid::parse(run.key()).value();
    constexpr std::int64_t batch = 1'000;
    return in_batches(
        kernel,
        run,
        run.org(),
        settling,
        static_cast<std::size_t>(batch),
        [&](Tx& tx, Actor&) { return tx.run(settle_some, run.org(), user, batch); }
    );
}

}  // namespace

Undone undo(Tx& tx, const Uuid& org, const Facts& facts, const Undoing& undoing) {
    const auto find = [&](const Sql& sql, const auto&... arg) -> Undone {
        const auto some = tx.all<NotificationKey>(sql, org, arg..., erased_at_once);
        return {erase_all(tx, org, some), {org}};
    };
    switch (undoing.what) {
        case Undoing::What::none: break;
        case Undoing::What::card: return find(of_card, undoing.id);
        case Undoing::What::person: return {forget_person(tx, org, undoing.id), {org}};
        case Undoing::What::invitation: return {false, forget_invitation(tx, org, undoing.id)};
        case Undoing::What::comment:
            tx.queue(keep_other_comments, org, facts.event.card_id, undoing.id);
            return find(of_comment, facts.event.card_id, undoing.id);
        case Undoing::What::blocks:
            tx.queue(keep_other_blocks, org, undoing.id);
            return find(of_gone_blocks, undoing.id);
    }
    return {};
}

void add_retention(Kernel& kernel, std::int64_t keep_days) {
    const std::chrono::seconds age = std::chrono::days(keep_days);
    add_sweep(
        kernel,
        {
            .name = "notifications.drop_old",
            .every = std::chrono::hours(1),
            .find = [&kernel, age] { return workspaces_by_page(kernel, orgs_with_old, age); },
            .work = [&kernel, age](JobRun& run) { return drop_old(kernel, run, age); },
        }
    );
    add_recurring_job(kernel, "notifications.drop_expired", std::chrono::hours(1), [&kernel, age] {
        drop_all_expired(kernel, age);
    });
    kernel.use<Jobs>().add({
        .name = std::string(settling),
        .run = [&kernel](JobRun& run) { return settle(kernel, run); },
    });
}

void enqueue_settling(Kernel& kernel, Tx& tx, const Uuid& org, const Uuid& user) {
    kernel.use<Jobs>().enqueue(tx, {.kind = settling, .org = org, .key = user.str()});
}

}  // namespace svc::notifications
