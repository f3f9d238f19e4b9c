#include "core/request_groups.hpp"

#include <algorithm>

namespace svc::core {

void RequestGroups::enter(const std::string& key, const MemberPtr& member) {
    const std::lock_guard lock(mutex_);
    auto [found, first] = groups_.try_emplace(key);
    Group& group = found->second;
    const bool overtakes = Clock::now() >= group.begun + overtaken_after;
    if (first || overtakes) return give_turn(key, group, member);
    group.waiting.push_back(member);
}

/// The leader's own request is not among those who wait. With the lock held.
void RequestGroups::give_turn(const std::string& key, Group& group, const MemberPtr& leader) {
    const auto count = std::min(group.waiting.size(), most - 1);
    const auto end = group.waiting.begin() + static_cast<std::ptrdiff_t>(count);
    leader->others_.assign(group.waiting.begin(), end);
    group.waiting.erase(group.waiting.begin(), end);
    group.turn = ++turns_;
    group.begun = Clock::now();
    leader->groups_ = this;
    leader->key_ = key;
    leader->turn_ = group.turn;
    leader->state_ = count > 0 ? Member::State::leads : Member::State::alone;
}

void RequestGroups::pass_on(const std::string& key, std::uint64_t turn) {
    MemberPtr next;
    {
        const std::lock_guard lock(mutex_);
        const auto found = groups_.find(key);
        if (found == groups_.end() || found->second.turn != turn) return;  // it was overtaken
        Group& group = found->second;
        if (group.waiting.empty()) {
            groups_.erase(found);
            return;
        }
        next = group.waiting.front();
        group.waiting.erase(group.waiting.begin());
        give_turn(key, group, next);
    }
    next->resume_();
}

RequestGroups::Load RequestGroups::load() const {
    const std::lock_guard lock(mutex_);
    return {groups_.size(), together_.load(std::memory_order_relaxed)};
}

RequestGroups::Member::~Member() {
    go_alone();
    if (groups_) groups_->pass_on(key_, turn_);
}

void RequestGroups::Member::answer(Member& other, std::string body) {
    groups_->together_.fetch_add(1, std::memory_order_relaxed);
    other.body_ = std::move(body);
    other.come_back(State::answered);
}

void RequestGroups::Member::go_alone() {
    for (const MemberPtr& each : others_)
        if (each->state() == State::waits) each->come_back(State::alone);
    others_.clear();
    if (state() == State::leads) state_ = State::alone;
}

}  // namespace svc::core
