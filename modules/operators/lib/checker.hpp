#pragma once

#include "svc/operator/upkeep.hpp"
#include "svc/types.hpp"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace svc::operators {

/// Runs the checks of `workboard doctor` while the server serves: on a thread of its own, since they
/// wait for others, and only when somebody asks and what is known has become old.
class Checker {
public:
    struct Result {
        std::string module, name;
        Finding finding;
    };
    struct Results {
        Timestamp checked_time;
        std::vector<Result> findings;
    };

    explicit Checker(const std::vector<Check>& checks) : checks_(checks) {}
    void start();
    /// Waits for the check that is running.
    void stop() noexcept;

    /// What was found last; null before that. Any thread.
    std::shared_ptr<const Results> look();

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::minutes good_for{1};

    void work(const std::stop_token& stop);
    std::shared_ptr<const Results> run(const std::stop_token& stop) const;

    const std::vector<Check>& checks_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::shared_ptr<const Results> results_;  // under mutex_, as all below
    Clock::time_point ended_{};
    bool is_asked_ = false;
    std::jthread thread_;  // last: it uses all above
};

}  // namespace svc::operators
