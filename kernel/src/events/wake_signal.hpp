#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace svc::events {

/// What a thread waits on between looks: a ring, the end, or the time. Any thread may ring.
class WakeSignal {
public:
    /// Costs one atomic while the last ring is still unheard.
    void wake() {
        if (rung_.exchange(true)) return;
        const std::lock_guard lock(mutex_);
        wake_.notify_all();
    }
    void end() {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        wake_.notify_all();
    }
    bool ended() const { return ended_; }

    /// Until a ring, which it hears, or at most that long; whether there was one.
    bool wait(std::chrono::milliseconds at_most) {
        std::unique_lock lock(mutex_);
        wake_.wait_for(lock, at_most, [&] { return rung_ || ended_; });
        return rung_.exchange(false);
    }
    /// That long, whoever rings; not when it is to end.
    void rest(std::chrono::microseconds time) {
        std::unique_lock lock(mutex_);
        wake_.wait_for(lock, time, [&] { return ended_.load(); });
    }

private:
    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<bool> rung_{false}, ended_{false};
};

/// Somewhere from three quarters to five quarters of it, so that servers do not step alike.
std::chrono::milliseconds jittered(std::chrono::milliseconds time);

}  // namespace svc::events
