#pragma once

#include "events/pulse.hpp"
#include "svc/events.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

/// Where the events of several workspaces are handled side by side.
namespace svc::events {

/// Some threads that hand events to a handler: those of a turn one by one, on one thread. They are
/// begun and their results are taken by one thread, the owner's.
class Turns {
public:
    using Clock = std::chrono::steady_clock;
    /// A turn that takes so much longer than it should is a slow one.
    static constexpr std::chrono::seconds longest_excess{1};

    struct Result {
        Uuid org_id;
        std::vector<StoredEvent> events;
        std::size_t handled = 0;         ///< of the events, from the first on
        std::optional<std::string> why;  ///< the next one failed
        bool slow = false;               ///< it took much longer than it should
    };

    /// Rings `pulse` when a result is there, and begins no further event once that has ended.
    Turns(std::function<void(const StoredEvent&)> handle, int threads, Pulse& pulse);
    /// Lets each finish the event in hand.
    ~Turns();

    /// Hands these, which are of one workspace, over, until `over` or one fails; one at least.
    /// There must be room().
    void begin(std::vector<StoredEvent> events, Clock::time_point over);
    int running() const { return running_; }
    bool room() const { return running_ < static_cast<int>(threads_.size()); }
    /// What has ended meanwhile.
    std::vector<Result> results();
    /// The same, once all have ended.
    std::vector<Result> last_results();

private:
    struct Order {
        std::vector<StoredEvent> events;
        Clock::time_point over;
    };

    void run();
    Result carry_out(Order order) const;

    const std::function<void(const StoredEvent&)> handle_;
    Pulse& pulse_;
    int running_ = 0;  // the owner's
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Order> orders_;     // under mutex_
    std::vector<Result> results_;  // under mutex_
    bool ended_ = false;           // under mutex_
    std::vector<std::thread> threads_;
};

}  // namespace svc::events
