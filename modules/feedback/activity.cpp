#include "modules/feedback/activity.hpp"

#include <map>

namespace svc::feedback {

namespace {

constexpr std::int64_t micros_a_day = 86'400'000'000;
constexpr std::size_t most_noted = 100'000;

constexpr Sql add_activity{"feedback.add_activity", R"(
    INSERT INTO survey_activity AS a (
        org_id, user_id, active_days, last_active_on, finished_count, last_finished_at)
    SELECT d.org_id, d.user_id, d.active::int,
        CASE WHEN d.active THEN (now() AT TIME ZONE 'UTC')::date END,
        d.finished, CASE WHEN d.finished > 0 THEN now() END
    FROM unnest($1::uuid[], $2::uuid[], $3::boolean[], $4::bigint[])
        AS d (org_id, user_id, active, finished)
    CROSS JOIN LATERAL (
        SELECT FROM orgs o WHERE o.id = d.org_id AND o.deleted_at IS NULL OFFSET 0
    ) there
    ON CONFLICT (org_id, user_id) DO UPDATE
    SET active_days = a.active_days
            + CASE WHEN excluded.last_active_on > coalesce(a.last_active_on, '-infinity')
                THEN 1 ELSE 0 END,
        last_active_on = greatest(a.last_active_on, excluded.last_active_on),
        finished_count = a.finished_count + excluded.finished_count,
        last_finished_at = coalesce(excluded.last_finished_at, a.last_finished_at))"};

struct Sum {
    bool active = false;
    std::int64_t finished = 0;
};

}  // namespace

Consumer Activity::consumer() {
    return {
        .name = "feedback",
        .subscribers =
            [this](const StoredEvent& event) {
                std::vector<std::string> some;
                const auto share = share_of(event);
                if (share && (share->finished || !is_noted(share->member))) some.emplace_back();
                return some;
            },
        .record = [this](Tx& tx, std::span<const StoredEvent> events) { record(tx, events); },
        .gather = std::chrono::milliseconds(250),
    };
}

/// Most of what happens is done by agents, and nothing of it has to be taken apart.
std::optional<Activity::Share> Activity::share_of(const StoredEvent& event) {
    const auto actor_has = [&](std::string_view member) {
        return event.actor.text.find(member) != std::string::npos;
    };
    const bool finished = event.kind == "lease.completed";
    const bool for_person = finished && actor_has(R"("on_behalf_of_user_id":")");
    if (!for_person && !actor_has(R"("principal_type":"user")")) return std::nullopt;
    const EventActor actor = event.actor.parsed();
    if (actor.principal_type == PrincipalType::user)
        return Share{{event.org_id, actor.id}, true, finished};
    if (!for_person || !actor.on_behalf_of_user_id) return std::nullopt;
    return Share{{event.org_id, *actor.on_behalf_of_user_id}, false, true};
}

void Activity::record(Tx& tx, std::span<const StoredEvent> events) {
    std::map<Member, Sum> sums;
    for (const StoredEvent& event : events)
        if (const auto share = share_of(event)) {
            Sum& sum = sums[share->member];
            sum.active |= share->active;
            sum.finished += share->finished ? 1 : 0;
        }
    if (sums.empty()) return;
    std::vector<Uuid> orgs, people;
    std::vector<std::string> active, finished;
    std::vector<Member> seen;
    for (const auto& [member, sum] : sums) {
        orgs.push_back(member.first);
        people.push_back(member.second);
        active.emplace_back(sum.active ? "true" : "false");
        finished.push_back(std::to_string(sum.finished));
        if (sum.active) seen.push_back(member);
    }
    tx.queue(add_activity, orgs, people, active, finished);
    tx.after_commit([this, seen = std::move(seen)] { note(seen); });
}

/// Under the lock. By this machine's clock: around midnight somebody is written down once more.
void Activity::begin_day() {
    const auto today = Timestamp::now().micros / micros_a_day;
    if (today == day_ && noted_today_.size() < most_noted) return;
    day_ = today;
    noted_today_.clear();
}

bool Activity::is_noted(const Member& member) {
    const std::lock_guard lock(mutex_);
    begin_day();
    return noted_today_.contains(member);
}

void Activity::note(const std::vector<Member>& members) {
    const std::lock_guard lock(mutex_);
    begin_day();
    noted_today_.insert(members.begin(), members.end());
}

}  // namespace svc::feedback
