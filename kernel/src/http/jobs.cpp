#include "http/jobs.hpp"

namespace svc::http {

void Jobs::push(const Job& job) {
    std::lock_guard lock(mutex_);
    jobs_.push_back(job);
    size_.store(jobs_.size(), std::memory_order_release);
}

bool Jobs::wait(Connection& connection) {
    std::lock_guard lock(mutex_);
    if (requests_.load(std::memory_order_relaxed) >= most_requests_) return false;
    requests_.fetch_add(1, std::memory_order_relaxed);
    connection.phase = Phase::waiting;
    jobs_.push_back({.kind = Job::Kind::go_on, .connection = &connection});
    size_.store(jobs_.size(), std::memory_order_release);
    return true;
}

std::optional<Jobs::Job> Jobs::take() {
    if (!any()) return std::nullopt;
    std::lock_guard lock(mutex_);
    if (jobs_.empty()) return std::nullopt;
    const Job job = jobs_.front();
    jobs_.pop_front();
    size_.store(jobs_.size(), std::memory_order_release);
    if (job.connection && job.connection->phase == Phase::waiting)
        requests_.fetch_sub(1, std::memory_order_relaxed);
    return job;
}

}  // namespace svc::http
