#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace svc::db {

/// Cuts the connections of those who have waited too long for the server, so that they wake up.
/// A timeout on every wait would do the same, but setting and clearing a timer costs a read more
/// than the rest of its way through this process.
class Watchdog {
public:
    Watchdog();
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// One who waits now and then, always on the same socket while it is watched.
    class Watched {
    public:
        explicit Watched(std::chrono::milliseconds patience) : patience_(patience) {}
        void begin_wait() { wait_.store(number_ += 2, std::memory_order_relaxed); }
        /// The socket may be closed once this has returned.
        void end_wait(Watchdog& watchdog) {
            if (wait_.exchange(0) & cut) watchdog.let_finish();
        }

    private:
        friend class Watchdog;
        static constexpr std::uint32_t cut = 1;

        std::atomic<std::uint32_t> wait_{0};  // the number of the wait under way, an even one
        std::uint32_t number_ = 0;
        const std::chrono::milliseconds patience_;
        int socket_ = -1;
        std::uint32_t seen_ = 0;
        std::chrono::steady_clock::time_point since_{};
    };
    void watch(Watched& who, int socket);
    void leave(Watched& who) noexcept;

private:
    static constexpr std::chrono::milliseconds round{250};

    void go_round();
    void let_finish() { const std::lock_guard lock(mutex_); }
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Watched*> watched_;
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace svc::db
