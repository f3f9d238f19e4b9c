#include "modules/operators/lib/checker.hpp"

namespace svc::operators {

void Checker::start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

void Checker::stop() noexcept {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

std::shared_ptr<const Checker::Results> Checker::look() {
    const std::lock_guard lock(mutex_);
    if (!is_asked_ && (!results_ || Clock::now() - ended_ > good_for)) {
        is_asked_ = true;
        wake_.notify_all();
    }
    return results_;
}

void Checker::work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (wake_.wait(lock, stop, [this] { return is_asked_; })) {
        lock.unlock();
        auto found = run(stop);
        lock.lock();
        results_ = std::move(found);
        ended_ = Clock::now();
        is_asked_ = false;
    }
}

std::shared_ptr<const Checker::Results> Checker::run(const std::stop_token& stop) const {
    auto out = std::make_shared<Results>();
    for (const Check& each : checks_) {
        if (stop.stop_requested()) break;
        Finding found;
        try {
            found = each.run();
        } catch (const std::exception& problem) {
            found = {Finding::Level::fault, problem.what()};
        }
        out->findings.push_back({each.module, each.name, std::move(found)});
    }
    out->checked_time = Timestamp::now();
    return out;
}

}  // namespace svc::operators
