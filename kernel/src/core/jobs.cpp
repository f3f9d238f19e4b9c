#include "core/jobs.hpp"

#include <Poco/Logger.h>

#include <algorithm>

namespace svc::core {

Jobs::Jobs(std::vector<Job> jobs) {
    for (Job& each : jobs) planned_.push_back({std::move(each), Clock::now() + each.interval});
    thread_ = std::thread([this] { run(); });
}

Jobs::~Jobs() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void Jobs::attempt(Planned& planned) {
    auto& log = Poco::Logger::get("jobs");
    try {
        planned.job.run();
        if (planned.failing) log.information(planned.job.name + " works again");
        planned.failing = false;
    } catch (const std::exception& problem) {
        if (!planned.failing) log.error(planned.job.name + ": " + problem.what());
        planned.failing = true;
    }
}

void Jobs::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        const auto next = std::ranges::min_element(planned_, {}, &Planned::next);
        if (next == planned_.end()) {
            wake_.wait(lock);
            continue;
        }
        if (next->next > Clock::now()) {
            wake_.wait_until(lock, next->next);
            continue;
        }
        lock.unlock();
        attempt(*next);
        lock.lock();
        next->next = Clock::now() + next->job.interval;
    }
}

}  // namespace svc::core
