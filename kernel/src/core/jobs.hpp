#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace svc::core {

struct Job {
    std::string name;
    std::chrono::milliseconds interval;
    std::function<void()> run;
};

/// Runs each job every so often, one at a time, on a thread of its own; what a job throws is
/// logged, once per streak of failures.
class Jobs {
public:
    explicit Jobs(std::vector<Job> jobs);
    /// Waits for the job that is running.
    ~Jobs();

private:
    using Clock = std::chrono::steady_clock;
    struct Planned {
        Job job;
        Clock::time_point next;
        bool failing = false;
    };
    void run();
    static void attempt(Planned& planned);

    std::vector<Planned> planned_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace svc::core
