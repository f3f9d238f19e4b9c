#pragma once

#include "http/connection.hpp"

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>

namespace svc::http {

class LiveExchange;

/// What waits for a worker besides events: whole requests that found none free, exchanges that
/// were resumed, and connections that somebody wants looked at.
class WorkQueue {
public:
    explicit WorkQueue(std::size_t most_requests) : most_requests_(most_requests) {}

    struct Job {
        enum class Kind { look, go_on, resume };
        Kind kind;
        std::uint64_t key = 0;             // look: the turn is still to be taken
        Connection* connection = nullptr;  // go_on: with its turn
        LiveExchange* exchange = nullptr;  // resume: with its connection's turn
    };
    void look(std::uint64_t key) { push({.kind = Job::Kind::look, .key = key}); }
    void go_on(Connection& connection) {
        push({.kind = Job::Kind::go_on, .connection = &connection});
    }
    void resume(LiveExchange& exchange) {
        push({.kind = Job::Kind::resume, .exchange = &exchange});
    }
    /// As go_on, for a whole request; false when too many wait.
    bool wait(Connection& connection);

    std::optional<Job> take();
    bool any() const { return size_.load(std::memory_order_acquire) > 0; }
    /// Whole requests that wait.
    std::size_t waiting() const { return requests_.load(std::memory_order_relaxed); }

private:
    void push(const Job& job);

    const std::size_t most_requests_;
    std::atomic<std::size_t> size_{0};
    std::atomic<std::size_t> requests_{0};
    std::mutex mutex_;
    std::deque<Job> work_queue_;  // under mutex_
};

}  // namespace svc::http
