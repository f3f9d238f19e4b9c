#include "jobs/lane.hpp"

#include <algorithm>

namespace svc::jobs {

namespace {

constexpr std::chrono::seconds longest_excess{1};  // beyond its slice; then a run was a slow one
constexpr std::chrono::minutes slow_for{1};
constexpr std::size_t most_slow = 200;

}  // namespace

bool Lane::is_slow(const Uuid& org, Clock::time_point now) const {
    const auto found = slow_.find(org);
    return found != slow_.end() && now < found->second;
}

bool Lane::may_begin(const Uuid& org, Clock::time_point now) const {
    const auto found = of_org_.find(org);
    if (found != of_org_.end() && found->second >= kind.at_once_per_workspace) return false;
    if (kind.at_once == 1 || !is_slow(org, now)) return true;
    int slow = 0;
    for (const auto& [each, runs] : of_org_)
        if (is_slow(each, now)) slow += runs;
    return slow < kind.at_once - 1;
}

std::int64_t Lane::wanted_lines() const {
    return kind.at_once + static_cast<std::int64_t>(of_org_.size() + slow_.size());
}

void Lane::begin(std::shared_ptr<Run> run) {
    ++of_org_[run->org()];
    runs_.emplace(run.get(), run);
    waiting.push_back(std::move(run));
}

void Lane::end(const Run& run, Clock::time_point now) {
    const Uuid org = run.org();
    if (now - run.begun() > kind.slice + longest_excess) {
        std::erase_if(slow_, [&](const auto& each) { return each.second <= now; });
        if (slow_.size() < most_slow) slow_[org] = now + slow_for;
    }
    if (--of_org_[org] == 0) of_org_.erase(org);
    runs_.erase(&run);
}

}  // namespace svc::jobs
