#include "http/work_queue.hpp"

namespace svc::http {

void WorkQueue::push(const Job& job) {
    std::lock_guard lock(mutex_);
    work_queue_.push_back(job);
    size_.store(work_queue_.size(), std::memory_order_release);
}

bool WorkQueue::wait(Connection& connection) {
    std::lock_guard lock(mutex_);
    if (requests_.load(std::memory_order_relaxed) >= most_requests_) return false;
    requests_.fetch_add(1, std::memory_order_relaxed);
    connection.phase = Phase::waiting;
    work_queue_.push_back({.kind = Job::Kind::go_on, .connection = &connection});
    size_.store(work_queue_.size(), std::memory_order_release);
    return true;
}

std::optional<WorkQueue::Job> WorkQueue::take() {
    if (!any()) return std::nullopt;
    std::lock_guard lock(mutex_);
    if (work_queue_.empty()) return std::nullopt;
    const Job job = work_queue_.front();
    work_queue_.pop_front();
    size_.store(work_queue_.size(), std::memory_order_release);
    if (job.connection && job.connection->phase == Phase::waiting)
        requests_.fetch_sub(1, std::memory_order_relaxed);
    return job;
}

}  // namespace svc::http
