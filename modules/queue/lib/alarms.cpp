#include "modules/queue/lib/alarms.hpp"

#include <Poco/Logger.h>

#include <algorithm>

namespace svc::queue {

void Alarms::start() {
    thread_ = std::thread([this] { run(); });
}

void Alarms::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void Alarms::set(const Place& place, std::chrono::milliseconds from_now) {
    const auto when =
        Clock::now() + (from_now > std::chrono::milliseconds::zero() ? from_now : moment);
    bool is_first = false;
    {
        const std::lock_guard lock(mutex_);
        const auto [known, is_new] = times_.try_emplace(place, when);
        if (is_new && times_.size() > most) {
            times_.erase(known);
            return;
        }
        if (!is_new) {
            if (known->second <= when) return;
            by_time_.erase({known->second, place});
            known->second = when;
        }
        is_first = by_time_.emplace(when, place).first == by_time_.begin();
    }
    if (is_first) changed_.notify_one();
}

void Alarms::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (by_time_.empty()) {
            changed_.wait(lock);
            continue;
        }
        const auto [when, place] = *by_time_.begin();
        if (when > Clock::now()) {
            changed_.wait_until(lock, when);
            continue;
        }
        by_time_.erase(by_time_.begin());
        times_.erase(place);
        lock.unlock();
        ring(place);
        lock.lock();
    }
}

void Alarms::ring(const Place& place) const noexcept {
    try {
        ring_(place);
    } catch (const std::exception& problem) {
        Poco::Logger::get("queue").warning(
            "workspace " + place.org.str() + " is looked at again: " + problem.what()
        );
    }
}

}  // namespace svc::queue
