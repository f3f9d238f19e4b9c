#pragma once

#include "core/waiter.hpp"
#include "svc/types.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

/// Calls that wait for something without holding a worker.
namespace svc::core {

/// Thrown by Call::wait_for to leave the handler. Not a std::exception, so that a handler
/// which catches those does not swallow it.
struct Parked {
    std::vector<std::string> topics;
    std::chrono::steady_clock::time_point until;
    bool announced = false;  ///< no wake of them is lost (Awaited::announced)
};

/// Those who wait, in a line for each topic; who waits for several is in the line of each. Whoever
/// is called runs again, and takes a place in line again if that was in vain. Few run at a time, so
/// that workers are left for everybody else, however many wait and are called.
///
/// A wake may be lost: it comes from a server that is not heard at once, or what it was about was
/// still locked. So one of each line looks about once a second, another each time. All lines
/// together have 25 looks a second, whatever they cost, so of very many each has its turn
/// less often; nobody's last look is later than the end of its time. Where whoever wakes is sure to
/// (Awaited::announced), nobody looks meanwhile.
///
/// Those who are called for what one alone can have, and those who are called all at once, take
/// turns: a crowd that hears of something does not hold up the one for whom there is a card.
class WaitQueue {
public:
    using Clock = std::chrono::steady_clock;
    class Place;

    struct Settings {
        std::size_t most_running = 4;           ///< of those who were called, at once
        std::size_t most_per_principal = 1000;  ///< requests that may wait
    };

    WaitQueue();
    ~WaitQueue();
    void set(const Settings& settings);

    /// Take this before looking at whatever the wait is about; park() compares.
    std::uint64_t ticket() const { return wakes_.load(); }

    /// Whether `principal` may wait with one more; counted until the place ends.
    bool admit(Place& place, const Uuid& principal);
    /// Lines up. Resumed at once when a wake of one of the topics found nobody in line after
    /// `ticket` was taken, so that no wake is lost between the look and the park. The waiter is
    /// called with a lock held: it must not call back.
    void park(Place& place, const Parked& wait, std::uint64_t ticket, Waiter waiter);
    /// Calls everybody in line, in their order.
    void wake(std::string_view topic);
    /// For what one alone can have: calls the first in line; when it has had it, or has gone, the
    /// next, for there may be more, and likewise when it waits for something else by now. When it
    /// was in vain and it waits for the same again, it is in vain for the others.
    void wake_one(std::string_view topic);
    /// Calls everybody, and from now on whoever comes.
    void close();

    struct Load {
        std::size_t waiting, running;
        std::uint64_t resumed;
    };
    Load load() const;

private:
    enum class Why { wake, next, recheck, time };
    static std::size_t lane_of(Why why) { return why == Why::wake ? 1 : 0; }
    struct Line {
        std::map<std::uint64_t, Place*> places;  // by number
        std::uint64_t last_rechecked = 0;        // the number of the last who looked
        Clock::time_point rechecked_at;
        std::optional<std::list<const std::string*>::iterator> turn;  // in turns_, if it is there
    };
    using Lines = std::unordered_map<std::string, Line>;

    void run();
    void look_after(Clock::time_point now);
    void recheck(Clock::time_point now);
    void dismiss_gone();
    Clock::time_point next_recheck() const;
    void line_up(Place& place, bool announced);
    void leave_line(Place& place, const std::string& topic);
    void call(Place& place, Why why, const std::string* topic = nullptr);
    void call_next(std::string_view topic);
    void start(Place& place);
    void hand_out();
    void note_wake(std::string_view topic);
    std::uint64_t& last_wake(std::string_view topic);
    void leave(Place& place);
    void end(Place& place);

    static constexpr std::size_t slots =
        1024;  // a topic's last wake, by hash: a clash only wakes early
    std::atomic<std::uint64_t> wakes_{0};
    mutable std::mutex mutex_;  // over all that follows
    Settings settings_;
    std::array<std::uint64_t, slots> last_wake_{};
    Lines lines_;
    // Lines whose wakes may be lost, by when one of them looked, longest ago first.
    std::list<const std::string*> turns_;
    std::multimap<Clock::time_point, Place*> by_time_;    // those in line
    std::array<std::list<Place*>, 2> called_;             // those who are to run, by lane_of()
    std::size_t next_lane_ = 0;
    std::unordered_map<std::string, std::size_t> seats_;  // by principal
    std::uint64_t numbers_ = 0, resumed_ = 0;
    std::size_t running_ = 0;
    Clock::time_point rechecked_at_, dismissed_at_;
    bool closed_ = false, stopping_ = false;
    std::condition_variable due_;
    std::thread thread_;
};

/// One request's place among those who wait, for as long as the request lives. When it ends, what
/// it was called for is passed on.
class WaitQueue::Place {
public:
    Place() = default;
    ~Place() {
        if (wait_queue_) wait_queue_->end(*this);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

private:
    friend class WaitQueue;
    enum class State { away, in_line, called, running };

    // Under the mutex of waits_.
    WaitQueue* wait_queue_ = nullptr;  // since it first waited
    State state_ = State::away;
    Why why_ = Why::time;
    std::vector<std::string> topics_;
    std::vector<std::string> called_for_;  // those of them whose wake it answers
    std::uint64_t number_ = 0;             // its rank, kept when it lines up again
    Clock::time_point until_;
    Waiter waiter_;
    std::multimap<Clock::time_point, Place*>::iterator at_time_;
    std::list<Place*>::iterator at_call_;
    std::string principal_;  // whose seat it has
};

}  // namespace svc::core
