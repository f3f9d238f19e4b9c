#include "modules/lib/slow_work/slow_work.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace svc {

namespace {

constexpr std::chrono::seconds longest_wait{30};

/// No two jobs of a server have one.
std::string new_topic() { return "slow_work." + new_uuid().str(); }

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
    const Scheduling scheduling{
        .size = sizeof scheduling, .policy = SCHED_BATCH, .nice = 10, .runtime = longest_turn
    };
    ::syscall(SYS_sched_setattr, 0, &scheduling, 0);
}

Failure too_many() {
    return Failure(Fault::unavailable, "Too many others have asked for this just now; try again.")
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

/// Nobody else has it any more: the call that asked has ended.
bool SlowWork::is_abandoned(const std::shared_ptr<Job>& job) { return job.use_count() == 1; }

std::any SlowWork::run(Call& call, const std::function<Work()>& plan) {
    auto& kept = call.own_work();
    if (!kept) {
        refuse_when_full();
        kept = begin(plan());
    }
    const auto job = std::static_pointer_cast<Job>(kept);
    std::unique_lock lock(mutex_);
    if (!job->done) {
        lock.unlock();
        call.wait_for(job->topic, longest_wait, Awaited::own_work);  // leaves the handler
        lock.lock();
        if (!finished_.wait_for(lock, longest_wait, [&] { return job->done; })) throw too_many();
    }
    if (job->problem) std::rethrow_exception(job->problem);
    return job->result;
}

void SlowWork::refuse_when_full() {
    std::lock_guard lock(mutex_);
    std::erase_if(queue_, is_abandoned);
    if (stopping_ || queue_.size() >= most_waiting_) throw too_many();
}

std::shared_ptr<SlowWork::Job> SlowWork::begin(Work work) {
    auto job = std::make_shared<Job>();
    job->work = std::move(work);
    job->topic = new_topic();
    {
        std::lock_guard lock(mutex_);
        queue_.push_back(job);
    }
    ready_.notify_one();
    return job;
}

void SlowWork::work_through() {
    step_behind();
    std::unique_lock lock(mutex_);
    for (;;) {
        ready_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
        if (queue_.empty()) return;
        const auto job = std::move(queue_.front());
        queue_.pop_front();
        if (is_abandoned(job)) continue;
        const Work work = std::move(job->work);
        lock.unlock();
        std::any result;
        std::exception_ptr problem;
        try {
            result = work();
        } catch (...) {
            problem = std::current_exception();
        }
        ++done_;
        lock.lock();
        job->result = std::move(result);
        job->problem = problem;
        job->done = true;
        lock.unlock();
        finished_.notify_all();
        kernel_.wake(job->topic);
        lock.lock();
    }
}

}  // namespace svc
