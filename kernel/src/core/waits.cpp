#include "core/waits.hpp"

#include <algorithm>
#include <random>

namespace svc::core {

namespace {

std::size_t slot_of(std::string_view topic, std::size_t slots) {
    return std::hash<std::string_view>{}(topic) % slots;
}

/// Once a second, spread so that a thousand waiters do not look at the same moment.
std::chrono::milliseconds glance() {
    thread_local std::minstd_rand random(std::random_device{}());
    return std::chrono::milliseconds(std::uniform_int_distribution(900, 1300)(random));
}

}  // namespace

Waits::Waits() : thread_([this] { run(); }) {}

Waits::~Waits() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    due_.notify_all();
    thread_.join();
}

void Waits::park(const Parked& wait, std::uint64_t ticket, std::function<void()> resume) {
    {
        std::lock_guard lock(mutex_);
        if (last_wake_[slot_of(wait.topic, slots)] <= ticket && !stopping_) {
            const auto when = std::min(wait.until, Clock::now() + glance());
            const auto at = by_time_.emplace(when, Waiter{wait.topic, std::move(resume)});
            by_topic_.emplace(wait.topic, at);
            if (at == by_time_.begin()) due_.notify_one();
            return;
        }
    }
    resume();
}

void Waits::wake(std::string_view topic) {
    std::vector<std::function<void()>> resumes;
    {
        std::lock_guard lock(mutex_);
        last_wake_[slot_of(topic, slots)] = ++wakes_;
        const auto [first, last] = by_topic_.equal_range(std::string(topic));
        for (auto each = first; each != last; ++each) {
            resumes.push_back(std::move(each->second->second.resume));
            by_time_.erase(each->second);
        }
        by_topic_.erase(first, last);
    }
    for (auto& resume : resumes) resume();
}

void Waits::wake_all() {
    std::vector<std::function<void()>> resumes;
    {
        std::lock_guard lock(mutex_);
        for (auto& [when, waiter] : by_time_) resumes.push_back(std::move(waiter.resume));
        by_time_.clear();
        by_topic_.clear();
    }
    for (auto& resume : resumes) resume();
}

std::size_t Waits::waiting() const {
    std::lock_guard lock(mutex_);
    return by_time_.size();
}

void Waits::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (by_time_.empty()) {
            due_.wait(lock);
            continue;
        }
        const auto first = by_time_.begin();
        if (first->first > Clock::now()) {
            due_.wait_until(lock, first->first);
            continue;
        }
        const auto [begin, end] = by_topic_.equal_range(first->second.topic);
        by_topic_.erase(std::find_if(begin, end, [&](auto& each) { return each.second == first; }));
        const auto resume = std::move(first->second.resume);
        by_time_.erase(first);
        lock.unlock();
        resume();
        lock.lock();
    }
}

}  // namespace svc::core
