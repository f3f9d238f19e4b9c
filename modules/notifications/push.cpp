#include "modules/notifications/push.hpp"

#include "modules/live/api.hpp"
#include "svc/bus.hpp"

namespace svc::notifications {

namespace {

constexpr std::string_view channel = "notifications";
constexpr std::chrono::milliseconds beat{200};
constexpr int beats_between_all = 25;  // where the bus reaches nobody

constexpr Sql read_news{"notifications.read_news", R"(
    SELECT i.user_id, i.news, i.changed_at > now() - interval '10 seconds' AS is_fresh
    FROM unnest($2::uuid[]) AS t (user_id)
    CROSS JOIN LATERAL (
        SELECT n.user_id, n.news, n.changed_at FROM notification_inboxes n
        WHERE n.org_id = $1 AND n.user_id = t.user_id
        OFFSET 0
    ) i)"};

struct News {
    Uuid user_id;
    std::int64_t news = 0;
    bool is_fresh = false;
};
SVC_RECORD(News, (user_id), (news), (is_fresh));

}  // namespace

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
    for (const Uuid& each : orgs) look(*streams, each);
}

void Push::look(live::PersonalStreams& streams, const Uuid& org) {
    const auto readers = streams.readers_in(org);
    if (readers.empty()) return;
    const std::vector<Uuid> ids(readers.begin(), readers.end());
    std::vector<News> found;
    kernel_.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(org, std::nullopt);
        found = tx.all<News>(read_news, org, ids);
    });
    auto& told = told_[org];
    std::erase_if(told, [&](const auto& each) { return !readers.contains(each.first); });
    std::map<Uuid, std::string> members;
    for (const News& each : found) {
        const auto known = told.find(each.user_id);
        // Whoever has just come has asked already, unless it was at this moment.
        const bool is_new = known == told.end() ? each.is_fresh : known->second != each.news;
        told[each.user_id] = each.news;
        if (is_new)
            members[each.user_id] =
                ",\"org_id\":\"" + org.str() + "\",\"news\":" + std::to_string(each.news);
    }
    if (!members.empty()) streams.tell(org, "notifications", members);
}

}  // namespace svc::notifications
