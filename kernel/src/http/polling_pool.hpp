#pragma once

#include <semaphore.h>
#include <atomic>
#include <cstdint>

namespace svc::http {

/// Keeps few threads polling and all of them able to serve. Many threads that wait on one epoll
/// set wake for every request and fight over the processors; as many as there are processors
/// serve quick requests at half the cost. So a worker leaves the watch while it runs a
/// handler, and only when nobody is left on watch is a sleeping one called. A worker that comes
/// back to a full watch sleeps.
class PollingPool {
public:
    PollingPool(int size, int on_watch);
    ~PollingPool();
    PollingPool(const PollingPool&) = delete;
    PollingPool& operator=(const PollingPool&) = delete;

    /// Joins the watch; sleeps while it is full. False when the pool was dismissed.
    bool join_watch();
    enum class Left { enough, nobody };
    /// `nobody`: every worker is in a handler, and nothing that comes in is looked at.
    Left leave_watch();
    /// Joins the watch without sleeping; false when it is full.
    bool rejoin_watch();

    /// Workers that are neither on watch nor asleep.
    int busy() const;
    bool all_busy() const { return on_watch(word_.load(std::memory_order_relaxed)) == 0; }
    /// Wakes all for good.
    void dismiss();

private:
    // Both counts in one word, so that nobody goes to sleep while the last one leaves the watch.
    using Word = std::uint32_t;
    static constexpr Word one_on_watch = 1, one_asleep = 1u << 16;
    static constexpr int on_watch(Word word) { return static_cast<int>(word & 0xffff); }
    static constexpr int asleep(Word word) { return static_cast<int>(word >> 16); }

    const int size_;
    const int full_;
    std::atomic<Word> word_{0};
    std::atomic<bool> dismissed_{false};
    sem_t calls_;
};

}  // namespace svc::http
