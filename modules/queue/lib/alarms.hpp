#pragma once

#include "svc/types.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace svc::queue {

/// Times that are known before they come, so that nobody has to look again and again whether they
/// have come. Each place has one, the earliest that is known, and is called when it is over, one
/// place after the other. Only ever for being on time: what is forgotten here the next sweep finds.
/// Any thread.
class Alarms {
public:
    using Clock = std::chrono::steady_clock;
    struct Place {
        Uuid org;
        Uuid column{};  ///< none of it: the whole workspace
        auto operator<=>(const Place&) const = default;
    };

    /// `ring` does what is to be done at a place; what it throws is logged.
    explicit Alarms(std::function<void(const Place&)> ring) : ring_(std::move(ring)) {}
    ~Alarms() { stop(); }
    Alarms(const Alarms&) = delete;
    Alarms& operator=(const Alarms&) = delete;

    void start();
    /// What is not due by then is left out.
    void stop() noexcept;

    /// So long from now. A time that is over has come already and something else is in the way: in
    /// a moment again.
    void set(const Place& place, std::chrono::milliseconds from_now);

private:
    void run();
    void ring(const Place& place) const noexcept;

    static constexpr std::size_t most = 10'000;  ///< places
    static constexpr std::chrono::milliseconds moment{50};

    const std::function<void(const Place&)> ring_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<Place, Clock::time_point> times_;               // under mutex_
    std::set<std::pair<Clock::time_point, Place>> by_time_;  // the same
    bool stopping_ = false;                                  // under mutex_
    std::thread thread_;
};

/// When the next pause ends in the columns in which claims wait. Offered to the handlers.
struct PauseAlarms {
    static constexpr std::string_view name = "queue.PauseAlarms";
    Alarms alarms;
};

}  // namespace svc::queue
