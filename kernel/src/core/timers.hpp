#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace svc::core {

struct Timer {
    std::string name;
    std::chrono::milliseconds interval;
    std::function<void()> run;
};

/// Calls each function every so often, on a few threads: each on one at a time, so that one that
/// takes long delays the others only when as many do so at once as there are threads. What one
/// throws is logged, once per streak of failures.
class Timers {
public:
    explicit Timers(std::vector<Timer> timers, int threads = 4);
    /// Waits for those that are running.
    ~Timers();

private:
    using Clock = std::chrono::steady_clock;
    struct Planned {
        Timer timer;
        Clock::time_point next;
        bool running = false;
        bool failing = false;
    };
    void run();
    Planned* first_due();
    static void attempt(Planned& planned);

    std::vector<Planned> planned_;  // under mutex_, save what a running one's thread has of it
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace svc::core
