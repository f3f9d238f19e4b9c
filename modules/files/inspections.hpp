#pragma once

#include "modules/files/files.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace svc::files {

/// What an uploaded file is to be.
struct Expected {
    Uuid org, file;
    std::string content_type;
    std::int64_t most_bytes = 0;
};

/// What came of looking at it.
struct Finding {
    enum class Kind { missing, wrong, right, failed } kind = Kind::failed;
    std::string why{};  ///< it is wrong
    Uuid object{};      ///< where its bytes are now, if they are right
    Contents contents{};
};

/// Looks at uploads, on threads of its own: a store may be slow or away, and then neither workers
/// nor connections to the database are to wait for it. Any thread.
class Inspections {
public:
    explicit Inspections(const Service& service) : service_(service) {}
    ~Inspections() { stop(); }
    void start();
    void stop() noexcept;

    /// What was found; the first who asks has it looked for. Nothing as long as nobody knows
    /// yet: wait for topic_of() then. A Failure 503 when too many wait.
    std::optional<Finding> ask(const Expected& what);
    /// As ask(), but stays until something was found; for calls that cannot be run again.
    std::optional<Finding> stay(const Expected& what, std::chrono::seconds at_most);

    static std::string topic_of(const Uuid& file) { return "files.commit." + file.str(); }

private:
    using Clock = std::chrono::steady_clock;
    struct Case {
        std::optional<Finding> finding;
        Clock::time_point since = Clock::now();
    };
    std::optional<Finding> take(const Uuid& file);
    void forget_old();
    void run();
    Finding inspect(const Expected& what) const;

    const Service& service_;
    std::mutex mutex_;
    std::condition_variable wake_, found_;
    std::map<Uuid, Case> cases_;    // under mutex_
    std::deque<Expected> waiting_;  // under mutex_
    bool stopping_ = false;         // under mutex_
    std::vector<std::thread> threads_;
};

}  // namespace svc::files
