#include "modules/auth/parts/slow_work.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace svc::auth {

namespace {

constexpr std::chrono::seconds longest_wait{30};

std::string topic_of(const std::string& id) { return "auth.slow_work." + id; }

/// As sched_setattr(2) takes it; glibc has no declaration, and the kernel's clashes with glibc's.
struct Scheduling {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;  // ns
};

/// Lets everybody else go first. The nice value decides what is left for us. That others are let in
/// at once, and not when our turn is over, milliseconds later, is for the policy, and since Linux
/// 6.12 for the length of the turns that we ask for: whoever asks for shorter ones goes before us.
/// All this is a thread's own. Should the system refuse, all goes on, only less smoothly.
void step_behind() {
    constexpr std::uint64_t longest_turn = 100'000'000;
    const Scheduling wish{
        .size = sizeof wish, .policy = SCHED_BATCH, .nice = 19, .runtime = longest_turn};
    ::syscall(SYS_sched_setattr, 0, &wish, 0);
}

Failure too_many() {
    return Failure(Fault::unavailable, "Too many people are signing in just now; try again.")
        .with_header("Retry-After", "2");
}

}  // namespace

SlowWork::SlowWork(Kernel& kernel, std::size_t threads, std::size_t queue)
    : kernel_(kernel), most_waiting_(queue) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work_through(); });
}

SlowWork::~SlowWork() { finish(); }

void SlowWork::finish() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    ready_.notify_all();
    for (std::thread& each : threads_)
        if (each.joinable()) each.join();
}

std::size_t SlowWork::waiting() const {
    std::lock_guard lock(mutex_);
    return queue_.size();
}

std::any SlowWork::run(Call& call, const std::function<Work()>& plan) {
    const std::string& id = call.request_id();
    auto job = find(id);
    if (!job) {
        refuse_when_full();
        job = begin(id, plan());
    }
    std::unique_lock lock(mutex_);
    if (!job->done) {
        lock.unlock();
        // Leaves the handler if the call can park.
        call.wait_for(topic_of(id), longest_wait, Awaited::own_work);
        lock.lock();
        if (!finished_.wait_for(lock, longest_wait, [&] { return job->done; })) throw too_many();
    }
    if (job->problem) {
        jobs_.erase(id);
        std::rethrow_exception(job->problem);
    }
    // The handler may have to run again, when its transaction meets another's.
    call.after_commit([this, id] {
        std::lock_guard done(mutex_);
        jobs_.erase(id);
    });
    return job->result;
}

std::shared_ptr<SlowWork::Job> SlowWork::find(const std::string& id) const {
    std::lock_guard lock(mutex_);
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : found->second;
}

void SlowWork::refuse_when_full() const {
    std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() >= most_waiting_) throw too_many();
}

std::shared_ptr<SlowWork::Job> SlowWork::begin(const std::string& id, Work work) {
    auto job = std::make_shared<Job>();
    job->work = std::move(work);
    {
        std::lock_guard lock(mutex_);
        forget_unclaimed();
        jobs_.emplace(id, job);
        queue_.emplace_back(id, job);
    }
    ready_.notify_one();
    return job;
}

/// Results whose request never came back for them.
void SlowWork::forget_unclaimed() {
    const auto too_old = std::chrono::steady_clock::now() - 2 * longest_wait;
    std::erase_if(jobs_, [&](const auto& each) {
        return each.second->done && each.second->finished < too_old;
    });
}

void SlowWork::work_through() {
    step_behind();
    std::unique_lock lock(mutex_);
    for (;;) {
        ready_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
        if (queue_.empty()) return;
        const auto [id, job] = std::move(queue_.front());
        queue_.pop_front();
        const Work work = std::move(job->work);
        lock.unlock();
        std::any result;
        std::exception_ptr problem;
        try {
            result = work();
        } catch (...) {
            problem = std::current_exception();
        }
        lock.lock();
        job->result = std::move(result);
        job->problem = problem;
        job->done = true;
        job->finished = std::chrono::steady_clock::now();
        lock.unlock();
        finished_.notify_all();
        kernel_.wake(topic_of(id));
        lock.lock();
    }
}

}  // namespace svc::auth
