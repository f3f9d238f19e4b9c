#pragma once

#include "svc/kernel.hpp"

#include <any>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace svc {

/// Work that takes long, such as hashing a password or asking another server: done on threads of
/// its own at the lowest priority, so that however many ask for it, other requests go on. The
/// request that asked waits meanwhile without holding a worker.
class SlowWork {
public:
    /// `queue` is how many may wait for a thread.
    SlowWork(Kernel& kernel, std::size_t threads, std::size_t queue);
    ~SlowWork();

    /// What the work that `plan` made came to. `plan` is called on the first run of the handler,
    /// on the request's thread, and may look things up in a transaction of its own; the work
    /// itself runs once and must hold everything it needs. Then the handler is run again from
    /// the start and gets here without planning again. What it came to belongs to the call and goes
    /// with it. Once in a call. Failure 503 when too many are waiting, 409 inside a batch.
    template <class Result>
    Result result_of(Call& call, const std::function<std::function<Result()>()>& plan) {
        return std::any_cast<Result>(run(call, [&]() -> Work {
            return [work = plan()] { return std::any(work()); };
        }));
    }

    std::size_t waiting() const;
    /// Since the start.
    std::size_t done() const { return done_; }
    /// Does what is waiting, and nothing after that.
    void finish();

private:
    using Work = std::function<std::any()>;
    struct Job {
        Work work;
        std::any result;
        std::exception_ptr problem;
        bool done = false;
        std::string topic;  // that whoever waits for it is woken by
    };

    std::any run(Call& call, const std::function<Work()>& plan);
    std::shared_ptr<Job> begin(Work work);
    void refuse_when_full();
    static bool is_abandoned(const std::shared_ptr<Job>& job);
    void work_through();

    Kernel& kernel_;
    const std::size_t most_waiting_;
    mutable std::mutex mutex_;
    std::condition_variable ready_, finished_;
    std::deque<std::shared_ptr<Job>> queue_;  // shared with the calls that wait for them
    bool stopping_ = false;
    std::atomic<std::size_t> done_ = 0;
    std::vector<std::thread> threads_;
};

}  // namespace svc
