#include "core/request_groups.hpp"

#include <algorithm>
#include <utility>

namespace svc::core {

RequestGroups::~RequestGroups() { close(); }

void RequestGroups::open() {
    thread_ = std::thread([this] { run(); });
}

void RequestGroups::close() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    look_.notify_all();
    if (thread_.joinable()) thread_.join();
}

/// Looks every so often while somebody waits, so that those who come need not wake it.
void RequestGroups::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        resting_ = !somebody_waits();
        if (resting_) look_.wait(lock);
        else look_.wait_for(lock, overtaken_after);
        auto leaders = overtake(Clock::now());
        lock.unlock();
        for (const MemberPtr& each : leaders) each->waiter_.resume();
        leaders.clear();  // the last of one that is gone passes its turn on
        lock.lock();
    }
}

bool RequestGroups::somebody_waits() const {
    return std::ranges::any_of(groups_, [](const auto& each) {
        return !each.second.waiting.empty();
    });
}

/// Those who get the turns of others that are held up. With the lock held.
std::vector<RequestGroups::MemberPtr> RequestGroups::overtake(Clock::time_point now) {
    std::vector<MemberPtr> leaders;
    for (auto& [key, group] : groups_) {
        if (group.waiting.empty()) continue;  // without turns, nothing would erase it
        group.drop_overtaken(now);
        while (!group.waiting.empty() && group.turns.size() < group.most_turns)
            leaders.push_back(give_next_turn(key, group));
    }
    return leaders;
}

void RequestGroups::Group::drop_overtaken(Clock::time_point now) {
    std::erase_if(turns, [&](const Turn& turn) { return now >= turn.begun + overtaken_after; });
}

void RequestGroups::enter(const std::string& key, const MemberPtr& member, std::size_t turns) {
    const std::lock_guard lock(mutex_);
    Group& group = groups_.try_emplace(key, Group{.most_turns = turns}).first->second;
    group.drop_overtaken(Clock::now());
    if (group.turns.size() < group.most_turns) return give_turn(key, group, member);
    if (group.waiting.size() >= most_waiting) {
        member->state_ = Member::State::alone;
        return;
    }
    group.waiting.push_back(member);
    if (std::exchange(resting_, false)) look_.notify_one();
}

/// To the first of those who wait. With the lock held; it is to be resumed without.
RequestGroups::MemberPtr RequestGroups::give_next_turn(const std::string& key, Group& group) {
    MemberPtr next = group.waiting.front();
    group.waiting.erase(group.waiting.begin());
    give_turn(key, group, next);
    return next;
}

/// The leader's own request is not among those who wait. With the lock held.
void RequestGroups::give_turn(const std::string& key, Group& group, const MemberPtr& leader) {
    const auto count = std::min(group.waiting.size(), most - 1);
    const auto end = group.waiting.begin() + static_cast<std::ptrdiff_t>(count);
    leader->others_.assign(group.waiting.begin(), end);
    group.waiting.erase(group.waiting.begin(), end);
    group.turns.push_back({++turns_, Clock::now()});
    leader->groups_ = this;
    leader->key_ = key;
    leader->turn_ = turns_;
    leader->state_ = count > 0 ? Member::State::leads : Member::State::alone;
}

void RequestGroups::pass_on(const std::string& key, std::uint64_t turn) {
    MemberPtr next;
    {
        const std::lock_guard lock(mutex_);
        const auto found = groups_.find(key);
        if (found == groups_.end()) return;  // it was overtaken
        Group& group = found->second;
        if (std::erase_if(group.turns, [&](const Turn& each) { return each.number == turn; }) == 0)
            return;
        if (group.waiting.empty()) {
            if (group.turns.empty()) groups_.erase(found);
            return;
        }
        next = give_next_turn(key, group);
    }
    next->waiter_.resume();
}

RequestGroups::Load RequestGroups::load() const {
    const std::lock_guard lock(mutex_);
    return {groups_.size(), together_.load(std::memory_order_relaxed)};
}

RequestGroups::Member::~Member() {
    go_alone();
    if (groups_) groups_->pass_on(key_, turn_);
}

http::Answer RequestGroups::Member::take_answer() {
    if (problem_) std::rethrow_exception(problem_);
    return std::move(answer_);
}

void RequestGroups::Member::leave_out_gone() {
    std::erase_if(others_, [](const MemberPtr& each) {
        const bool gone = each->waiter_.gone();
        if (gone) each->come_back(State::alone);
        return gone;
    });
}

void RequestGroups::Member::answer(Member& other, http::Answer answer) {
    groups_->together_.fetch_add(1, std::memory_order_relaxed);
    other.answer_ = std::move(answer);
    other.come_back(State::answered);
}

void RequestGroups::Member::fail(Member& other, std::exception_ptr problem) {
    other.problem_ = std::move(problem);
    other.come_back(State::answered);
}

void RequestGroups::Member::go_alone() {
    for (const MemberPtr& each : others_)
        if (each->state() == State::waits) each->come_back(State::alone);
    others_.clear();
    if (state() == State::leads) state_ = State::alone;
}

}  // namespace svc::core
