#include "modules/notifications/push.hpp"

#include "modules/live/api.hpp"
#include "svc/bus.hpp"

namespace svc::notifications {

namespace {

constexpr std::string_view channel = "notifications";
constexpr std::chrono::milliseconds beat{200};
constexpr int beats_between_all = 25;  // where the bus reaches nobody
constexpr std::size_t readers_at_once = 2'000;

// Wherever they work, their pages show it.
constexpr std::string_view note_begin = R"(
    INSERT INTO notification_inboxes AS n (org_id, user_id, news)
    SELECT m.org_id, m.user_id, 1 FROM memberships m
    WHERE m.user_id = $1)";
constexpr std::string_view if_unread = R"( AND EXISTS (
        SELECT FROM personal_notifications p
        WHERE p.user_id = $1 AND p.read_at IS NULL))";
constexpr std::string_view note_end = R"(
    ORDER BY m.org_id
    ON CONFLICT (org_id, user_id) DO UPDATE
    SET news = n.news + 1, changed_at = now()
    RETURNING n.org_id)";

constexpr Sql note_everywhere{
    "notifications.note_news_everywhere", SqlText<note_begin, note_end>::view
};
constexpr Sql note_everywhere_if_unread{
    "notifications.note_news_everywhere_if_unread", SqlText<note_begin, if_unread, note_end>::view
};

// Of all workspaces together: this is asked every few seconds, however many pages are open.
constexpr Sql read_news{"notifications.read_news", R"(
    SELECT i.org_id, i.user_id, i.news, i.changed_at > now() - interval '10 seconds' AS is_fresh
    FROM unnest($1::uuid[], $2::uuid[]) AS t (org_id, user_id)
    CROSS JOIN LATERAL (
        SELECT n.org_id, n.user_id, n.news, n.changed_at FROM notification_inboxes n
        WHERE n.org_id = t.org_id AND n.user_id = t.user_id
        OFFSET 0
    ) i)"};

struct News {
    Uuid org_id, user_id;
    std::int64_t news = 0;
    bool is_fresh = false;
};
SVC_RECORD(News, (org_id), (user_id), (news), (is_fresh));

}  // namespace

DeferredRows<Workspace> note_personal_news(Tx& tx, const Uuid& person) {
    return tx.later<Workspace>(note_everywhere, person);
}

DeferredRows<Workspace> note_personal_news_if_unread(Tx& tx, const Uuid& person) {
    return tx.later<Workspace>(note_everywhere_if_unread, person);
}

Push::Push(Kernel& kernel) : kernel_(kernel) {
    kernel.use<Bus>().subscribe(channel, [this](std::string_view payload) {
        const auto org = Uuid::parse(payload);
        if (!org) return;
        const std::lock_guard lock(mutex_);
        changed_.insert(*org);
    });
    kernel.every("notifications.push", beat, [this] { look_now_and_then(); });
}

void Push::changed(const Uuid& org) {
    {
        const std::lock_guard lock(mutex_);
        changed_.insert(org);
    }
    kernel_.use<Bus>().publish(channel, org.str());
}

void Push::look_now_and_then() {
    auto* streams = kernel_.find<live::PersonalStreams>();
    if (!streams) return;
    std::set<Uuid> orgs;
    {
        const std::lock_guard lock(mutex_);
        orgs.swap(changed_);
    }
    if (++beats_ >= beats_between_all) {
        beats_ = 0;
        const auto all = streams->workspaces();
        std::erase_if(told_, [&](const auto& each) { return !all.contains(each.first); });
        orgs.insert(all.begin(), all.end());
    }
    std::vector<Reader> readers;
    for (const Uuid& org : orgs) {
        const auto here = streams->readers_in(org);
        forget_others(org, here);
        for (const Uuid& each : here) readers.emplace_back(org, each);
    }
    for (std::size_t at = 0; at < readers.size(); at += readers_at_once)
        look(
            *streams,
            std::span(readers).subspan(at).first(std::min(readers_at_once, readers.size() - at))
        );
}

void Push::forget_others(const Uuid& org, const std::set<Uuid>& readers) {
    if (const auto told = told_.find(org); told != told_.end())
        std::erase_if(told->second, [&](const auto& each) {
            return !readers.contains(each.first);
        });
}

void Push::look(live::PersonalStreams& streams, std::span<const Reader> readers) {
    std::vector<Uuid> orgs, people;
    for (const auto& [org, person] : readers) {
        orgs.push_back(org);
        people.push_back(person);
    }
    std::vector<News> found;
    kernel_.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        found = tx.all<News>(read_news, orgs, people);
    });
    std::map<Uuid, std::map<Uuid, std::string>> members;  // of messages, by workspace and person
    for (const News& each : found) {
        auto& told = told_[each.org_id];
        const auto known = told.find(each.user_id);
        // Whoever has just come has asked already, unless it was at this moment.
        const bool is_new = known == told.end() ? each.is_fresh : known->second != each.news;
        told[each.user_id] = each.news;
        if (is_new)
            members[each.org_id][each.user_id] =
                ",\"org_id\":\"" + each.org_id.str() + "\",\"news\":" + std::to_string(each.news);
    }
    for (const auto& [org, of_people] : members) streams.tell(org, "notifications", of_people);
}

}  // namespace svc::notifications
