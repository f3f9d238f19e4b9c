#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace svc::live {

/// Wakes those who wait for a topic, at once or when it is time. Any thread may call any member.
class DelayedWakes {
public:
    using Clock = std::chrono::steady_clock;

    explicit DelayedWakes(std::function<void(const std::string& topic)> wake)
        : wake_(std::move(wake)) {}
    ~DelayedWakes() { stop(); }
    DelayedWakes(const DelayedWakes&) = delete;
    DelayedWakes& operator=(const DelayedWakes&) = delete;

    void start();
    /// What is not due by then is left out.
    void stop() noexcept;

    /// Not before `when`.
    void add(const std::string& topic, Clock::time_point when);

private:
    void run();

    const std::function<void(const std::string&)> wake_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::multimap<Clock::time_point, std::string> due_;  // under mutex_
    bool stopping_ = false;                              // under mutex_
    std::thread thread_;
};

}  // namespace svc::live
