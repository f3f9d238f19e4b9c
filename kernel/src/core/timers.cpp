#include "core/timers.hpp"

#include <Poco/Logger.h>

namespace svc::core {

Timers::Timers(std::vector<Timer> timers, int threads) {
    for (Timer& each : timers) planned_.push_back({std::move(each), Clock::now() + each.interval});
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

Timers::~Timers() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (auto& each : threads_) each.join();
}

void Timers::attempt(Planned& planned) {
    auto& log = Poco::Logger::get("timers");
    try {
        planned.timer.run();
        if (planned.failing) log.information(planned.timer.name + " works again");
        planned.failing = false;
    } catch (const std::exception& problem) {
        if (!planned.failing) log.error(planned.timer.name + ": " + problem.what());
        planned.failing = true;
    }
}

/// Of those that do not run, the one whose time comes first.
Timers::Planned* Timers::first_due() {
    Planned* first = nullptr;
    for (Planned& each : planned_)
        if (!each.running && (!first || each.next < first->next)) first = &each;
    return first;
}

void Timers::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        Planned* next = first_due();
        if (!next) {
            wake_.wait(lock);
            continue;
        }
        if (next->next > Clock::now()) {
            wake_.wait_until(lock, next->next);
            continue;
        }
        next->running = true;
        lock.unlock();
        attempt(*next);
        lock.lock();
        next->running = false;
        next->next = Clock::now() + next->timer.interval;
        wake_.notify_one();  // the others may wait for a later one
    }
}

}  // namespace svc::core
