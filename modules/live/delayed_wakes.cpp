#include "modules/live/delayed_wakes.hpp"

namespace svc::live {

void DelayedWakes::start() {
    thread_ = std::thread([this] { run(); });
}

void DelayedWakes::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void DelayedWakes::add(const std::string& topic, Clock::time_point when) {
    if (when <= Clock::now()) return wake_(topic);
    bool is_first = false;
    {
        const std::lock_guard lock(mutex_);
        is_first = due_.emplace(when, topic) == due_.begin();
    }
    if (is_first) changed_.notify_one();
}

void DelayedWakes::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (due_.empty()) changed_.wait(lock);
        else if (due_.begin()->first > Clock::now()) changed_.wait_until(lock, due_.begin()->first);
        else {
            const auto first = due_.extract(due_.begin());
            lock.unlock();
            wake_(first.mapped());
            lock.lock();
        }
    }
}

}  // namespace svc::live
