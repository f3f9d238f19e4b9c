#include "http/polling_pool.hpp"

#include <algorithm>

namespace svc::http {

PollingPool::PollingPool(int size, int on_watch)
    : size_(size), full_(std::clamp(on_watch, 1, size)) {
    sem_init(&calls_, 0, 0);
}

PollingPool::~PollingPool() { sem_destroy(&calls_); }

bool PollingPool::join_watch() {
    auto word = word_.load(std::memory_order_relaxed);
    for (;;) {
        const bool joins = on_watch(word) < full_;
        const auto next = word + (joins ? one_on_watch : one_asleep);
        if (!word_.compare_exchange_weak(word, next, std::memory_order_acq_rel)) continue;
        if (joins) break;
        while (sem_wait(&calls_) != 0) {
        }
        break;  // whoever called has counted us as on watch
    }
    return !dismissed_.load(std::memory_order_acquire);
}

bool PollingPool::rejoin_watch() {
    auto word = word_.load(std::memory_order_relaxed);
    while (on_watch(word) < full_)
        if (word_.compare_exchange_weak(word, word + one_on_watch, std::memory_order_acq_rel))
            return true;
    return false;
}

PollingPool::Left PollingPool::leave_watch() {
    auto word = word_.load(std::memory_order_relaxed);
    for (;;) {
        const bool last = on_watch(word) == 1;
        const bool calls = last && asleep(word) > 0;
        const auto next = calls ? word - one_asleep : word - one_on_watch;
        if (!word_.compare_exchange_weak(word, next, std::memory_order_acq_rel)) continue;
        if (calls) sem_post(&calls_);
        return last && !calls ? Left::nobody : Left::enough;
    }
}

int PollingPool::busy() const {
    const auto word = word_.load(std::memory_order_relaxed);
    return std::max(0, size_ - on_watch(word) - asleep(word));
}

void PollingPool::dismiss() {
    dismissed_.store(true, std::memory_order_release);
    for (int each = 0; each < size_; ++each) sem_post(&calls_);
}

}  // namespace svc::http
