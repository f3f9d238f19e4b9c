#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

/// Calls that wait for something without holding a worker.
namespace svc::core {

/// Thrown by Call::wait_for to leave the handler. Not a std::exception, so that a handler
/// which catches those does not swallow it.
struct Parked {
    std::string topic;
    std::chrono::steady_clock::time_point until;
};

/// Waiters by topic. A waiter is resumed when its topic is woken, when its time is over, and
/// about once a second besides: a wake may come from a server that we do not hear at once.
class Waits {
public:
    using Clock = std::chrono::steady_clock;

    Waits();
    ~Waits();

    /// Take this before looking at whatever the wait is about; park() compares.
    std::uint64_t ticket() const { return wakes_.load(); }

    /// Has `resume` called once. At once when `topic` was woken after `ticket` was taken, so
    /// that no wake is lost between the look and the park.
    void park(const Parked& wait, std::uint64_t ticket, std::function<void()> resume);
    void wake(std::string_view topic);
    void wake_all();
    std::size_t waiting() const;

private:
    struct Waiter {
        std::string topic;
        std::function<void()> resume;
    };
    void run();

    static constexpr std::size_t slots =
        1024;  // a topic's last wake, by hash: a clash only wakes early
    std::atomic<std::uint64_t> wakes_{0};
    std::array<std::uint64_t, slots> last_wake_{};
    mutable std::mutex mutex_;
    std::condition_variable due_;
    std::multimap<Clock::time_point, Waiter> by_time_;
    std::unordered_multimap<std::string, std::multimap<Clock::time_point, Waiter>::iterator>
        by_topic_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace svc::core
