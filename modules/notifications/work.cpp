#include "modules/notifications/work.hpp"

#include "modules/boards/api/watchers.hpp"
#include "modules/notifications/choices.hpp"
#include "modules/notifications/lib/mentions.hpp"
#include "modules/notifications/removal.hpp"
#include "svc/kept_events.hpp"
#include "svc/workspace_pages.hpp"

#include <Poco/Logger.h>

namespace svc::notifications {

namespace {

constexpr std::string_view making = "notifications.make";
constexpr std::int64_t most_attempts = 5;

constexpr Sql add_events{"notifications.add_work", R"(
    INSERT INTO notification_work (org_id, id, position)
    SELECT w.org_id, w.id, w.position
    FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS w (org_id, id, position)
    CROSS JOIN LATERAL (SELECT FROM orgs o WHERE o.id = w.org_id OFFSET 0) there)"};

constexpr Sql add_notice{"notifications.add_notice", R"(
    INSERT INTO notification_work (org_id, id, notice) VALUES ($1, $2, $3::json))"};

constexpr Sql take_next{"notifications.take_work", R"(
    SELECT w.id, w.position, w.notice, w.attempts
    FROM notification_work w
    WHERE w.org_id = $1 AND w.due_at <= now()
    ORDER BY w.id
    LIMIT 1
    FOR UPDATE SKIP LOCKED)"};

constexpr Sql drop_work{"notifications.drop_work", R"(
    DELETE FROM notification_work WHERE org_id = $1 AND id = $2)"};

constexpr Sql put_off{"notifications.put_off_work", R"(
    UPDATE notification_work
    SET attempts = attempts + 1, due_at = now() + interval '2 seconds' * 2 ^ attempts
    WHERE org_id = $1 AND id = $2)"};

// What was put off, or whose job has ended with its server. From workspace to workspace by the key,
// however much there is in one.
constexpr Sql orgs_with_work{"notifications.orgs_with_work", R"(
    WITH RECURSIVE each AS (
        (SELECT w.org_id FROM notification_work w
         WHERE w.org_id > $1
         ORDER BY w.org_id
         LIMIT 1)
        UNION ALL
        SELECT f.org_id
        FROM each e
        CROSS JOIN LATERAL (
            SELECT w.org_id FROM notification_work w
            WHERE w.org_id > e.org_id
            ORDER BY w.org_id
            LIMIT 1
        ) f
    )
    SELECT e.org_id, coalesce(
        (SELECT true FROM notification_work w
         WHERE w.org_id = e.org_id AND w.due_at < now() - interval '1 second'
         LIMIT 1), false) AS is_due
    FROM (SELECT x.org_id FROM each x LIMIT $2) e)"};

struct NoticeRow {
    Uuid person;
    std::string kind, title, body, target_type;
    Uuid target;
    bool is_personal = false;
    std::optional<Timestamp> expires_at;
};
SVC_RECORD(
    NoticeRow,
    (person),
    (kind),
    (title),
    (body),
    (target_type),
    (target),
    (is_personal, "", defaulted),
    (expires_at)
);

Draft draft_of(const Uuid& org, const NoticeRow& notice) {
    Draft draft;
    draft.org = org;
    draft.kind = kind_named(notice.kind).value_or(NotificationKind::system);
    draft.title = one_line(notice.title, longest_title);
    draft.body = beginning(notice.body, longest_body);
    draft.to = {notice.person};
    draft.subject = draft.target = notice.target;
    draft.target_type = notice.target_type;
    draft.is_personal = notice.is_personal;
    draft.expires_at = notice.expires_at;
    return draft;
}

void enqueue_notice(Kernel& kernel, Tx& tx, const Uuid& org, const NoticeRow& notice) {
    tx.queue(add_notice, org, new_uuid(), AsJson<NoticeRow>(notice).text);
    kernel.use<Jobs>().enqueue(tx, {.kind = making, .org = org});
}

Poco::Logger& log() { return Poco::Logger::get("notifications"); }

}  // namespace

struct WorkItem {
    Uuid id;
    std::optional<std::int64_t> position;
    std::optional<AsJson<NoticeRow>> notice;
    std::int64_t attempts = 0;
};
SVC_RECORD(WorkItem, (id), (position), (notice), (attempts));

void enqueue_events(Kernel& kernel, Tx& tx, std::span<const StoredEvent* const> events) {
    std::vector<Uuid> orgs, ids;
    std::vector<std::string> positions;
    std::set<Uuid> distinct;
    for (const StoredEvent* each : events) {
        orgs.push_back(each->org_id);
        ids.push_back(new_uuid());
        positions.push_back(std::to_string(each->position));
        distinct.insert(each->org_id);
    }
    tx.queue(add_events, orgs, ids, positions);
    for (const Uuid& each : distinct) kernel.use<Jobs>().enqueue(tx, {.kind = making, .org = each});
}

void enqueue_broadcast(
    Kernel& kernel, Tx& tx, const Uuid& org, const Uuid& person, const Broadcast& what
) {
    NoticeRow notice{person, "system", what.title, what.text, "broadcast", what.id};
    notice.is_personal = true;
    notice.expires_at = what.expires_at;
    enqueue_notice(kernel, tx, org, notice);
}

Work::Work(Kernel& kernel, const Settings& settings, Push& push)
    : kernel_(kernel), push_(push), telling_(kernel, settings) {
    add_sweep(
        kernel,
        {
            .name = std::string(making),
            .every = std::chrono::seconds(5),
            .find = [&kernel] { return workspaces_by_page(kernel, orgs_with_work); },
            .work = [this](JobRun& run) { return this->run(run); },
            .at_once = 4,
        }
    );
}

void Work::post(Tx& tx, const Notice& notice) {
    enqueue_notice(
        kernel_,
        tx,
        notice.org,
        {notice.person, notice.kind, notice.title, notice.body, notice.target_type, notice.target}
    );
}

JobOutcome Work::run(JobRun& run) {
    while (do_next(run.org()))
        if (run.should_yield()) return JobOutcome::more;
    return JobOutcome::done;
}

/// False when nothing is due.
bool Work::do_next(const Uuid& org) {
    std::optional<WorkItem> item;
    std::set<Uuid> changed;
    try {
        kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope_to_all_orgs();
            item.reset();
            changed.clear();
            item = tx.one<WorkItem>(take_next, org);
            if (!item) return;
            bool more = false;
            changed = make(tx, org, *item, more);
            if (!more) tx.queue(drop_work, org, item->id);
        });
    } catch (const std::exception& problem) {
        if (!item) throw;
        note_failure(org, *item, problem.what());
        return true;
    }
    for (const Uuid& each : changed) push_.changed(each);
    return item.has_value();
}

/// The workspaces whose pages have something new. `more`: it is not done with yet.
std::set<Uuid> Work::make(Tx& tx, const Uuid& org, const WorkItem& item, bool& more) {
    if (item.notice) return telling_.tell(tx, draft_of(org, item.notice->parsed()));
    return make_of_event(tx, item.position.value_or(0), more);
}

std::set<Uuid> Work::make_of_event(Tx& tx, std::int64_t position, bool& more) {
    std::set<Uuid> changed;
    auto events = events_at(tx, {position});
    if (events.empty()) return changed;  // no longer kept
    const Facts facts = facts_of(tx, std::move(events.front()));
    const StoredEvent& event = facts.event;
    if (const Undoing undoing = undoing_of(facts); undoing.what != Undoing::What::none) {
        auto undone = undo(tx, event.org_id, facts, undoing);
        more = undone.more;
        return std::move(undone.changed);
    }
    if (event.object == "block") have_mentioned_watch(tx, facts);
    for (const Draft& each : drafts_of(facts)) changed.merge(telling_.tell(tx, each));
    return changed;
}

/// As whom a comment mentions does since it was written.
void Work::have_mentioned_watch(Tx& tx, const Facts& facts) const {
    std::vector<Uuid> mentioned;
    for (const auto& [person, mentions] : facts.mentions) mentioned.push_back(person);
    if (mentioned.empty() || !facts.card) return;
    kernel_.use<boards::Watchers>().add(tx, facts.event.org_id, *facts.event.card_id, mentioned);
}

/// It rests, and does not keep others waiting; in the end it is given up.
void Work::note_failure(const Uuid& org, const WorkItem& item, const std::string& why) {
    const bool is_last = item.attempts + 1 >= most_attempts;
    log().warning(
        std::string("notifications of an event ") +
        (is_last ? "are given up: " : "are tried again: ") + why
    );
    kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        tx.queue(is_last ? drop_work : put_off, org, item.id);
    });
}

}  // namespace svc::notifications
