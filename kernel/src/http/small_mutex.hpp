#pragma once

#include <atomic>
#include <cstdint>

namespace svc::http {

/// A mutex of four bytes, where std::mutex takes forty: for what there are tens of thousands of.
/// Not recursive, and not fair.
class SmallMutex {
public:
    void lock() {
        std::int32_t seen = open;
        if (word_.compare_exchange_strong(seen, held, std::memory_order_acquire)) return;
        if (seen != contended) seen = word_.exchange(contended, std::memory_order_acquire);
        while (seen != open) {
            word_.wait(contended, std::memory_order_relaxed);
            seen = word_.exchange(contended, std::memory_order_acquire);
        }
    }
    void unlock() {
        if (word_.exchange(open, std::memory_order_release) == contended) word_.notify_one();
    }

private:
    static constexpr std::int32_t open = 0, held = 1, contended = 2;
    std::atomic<std::int32_t> word_{open};
};

}  // namespace svc::http
