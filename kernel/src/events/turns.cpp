#include "events/turns.hpp"

namespace svc::events {

Turns::Turns(std::function<void(const StoredEvent&)> handle, int threads, Pulse& pulse)
    : handle_(std::move(handle)), pulse_(pulse) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

Turns::~Turns() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    changed_.notify_all();
    for (std::thread& each : threads_) each.join();
}

void Turns::begin(std::vector<StoredEvent> events, Clock::time_point over) {
    ++running_;
    {
        const std::lock_guard lock(mutex_);
        orders_.push_back({std::move(events), over});
    }
    changed_.notify_all();
}

std::vector<Turns::Result> Turns::results() {
    const std::lock_guard lock(mutex_);
    running_ -= static_cast<int>(results_.size());
    return std::exchange(results_, {});
}

std::vector<Turns::Result> Turns::last_results() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return static_cast<int>(results_.size()) == running_; });
    running_ = 0;
    return std::exchange(results_, {});
}

void Turns::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return ended_ || !orders_.empty(); });
        if (orders_.empty()) return;
        Order order = std::move(orders_.front());
        orders_.pop_front();
        lock.unlock();
        Result result = carry_out(std::move(order));
        lock.lock();
        results_.push_back(std::move(result));
        changed_.notify_all();
        pulse_.ring();
    }
}

Turns::Result Turns::carry_out(Order order) const {
    Result result;
    result.events = std::move(order.events);
    result.org_id = result.events.front().org_id;
    for (const StoredEvent& event : result.events) {
        if (pulse_.ended()) break;
        try {
            handle_(event);
        } catch (const std::exception& error) {
            result.why = error.what();
            break;
        }
        ++result.handled;
        if (Clock::now() >= order.over) break;
    }
    result.slow = Clock::now() >= order.over + longest_excess;
    return result;
}

}  // namespace svc::events
