#pragma once

#include "core/paces.hpp"
#include "svc/types.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace svc::core {

/// Which requests run now. Nobody has all workers, however much it asks for: a caller may have as
/// many running as its share of the workers is, and less than that when few are free, so that what
/// is left grows with the number of those who ask. The processors are shared by all that runs, so
/// two sorts of requests are few at a time in all, whoever sends them: those of a kind that took
/// this caller long, and those of a caller who has many open all the time, while somebody works who
/// has not. What may not run yet waits in its caller's line, without a worker
/// (docs/decisions/0020, 0033). Any thread.
class Admission {
public:
    class Place;
    using Clock = std::chrono::steady_clock;

    struct Settings {
        std::size_t workers = 16;
        std::size_t per_principal = 8;   ///< that run at once
        std::size_t per_workspace = 12;  ///< likewise
        std::size_t background = 2;      ///< of all that are to be few, likewise
        std::size_t waiting = 1024;      ///< of all together
        std::size_t waiting_of_one = 256;
        std::size_t bytes_of_one = 16 << 20;  ///< that the requests of one hold while they wait
        /// A kind of request that took a caller longer than that, the last times, is slow.
        std::chrono::milliseconds slow_from{250};
        double many_open = 2;  ///< on average of the last seconds
        /// After one of the few, and beside somebody at work, its room stays free for so many times
        /// as long as it took.
        double rest = 1;
    };
    ~Admission();
    void set(const Settings& settings);
    /// From now on a thread looks after those who wait for no more than time to pass.
    void open();

    struct Request {
        std::string principal;  ///< who asks, as far as that is known, or from where
        bool known = true;      ///< false: `principal` is only where the request comes from
        std::size_t kind = 0;   ///< which operation
        std::optional<Uuid> org{};
        std::size_t bytes = 0;  ///< held while it waits
        /// It had its turn and waited for something else since: those who are called there are few.
        bool resumed = false;
        /// It was let in before, and others may wait for it by now: it is refused by no limit, and
        /// stands before those who were not.
        bool let_in = false;
        /// Has the request ask again, when it has its turn. Called with a lock held.
        std::function<void()> resume{};
    };
    enum class Verdict {
        run,
        wait,
        too_many,         ///< wait for this caller
        too_many_of_all,  ///< wait
    };
    /// The place is the request's until it leaves; one that waits may ask again.
    Verdict enter(Place& place, const Request& request, Clock::time_point now = Clock::now());
    /// The request is answered, or waits for something else.
    void leave(Place& place, Clock::time_point now = Clock::now());
    /// Starts what may run by now without anybody having left; gives when to look again.
    Clock::time_point reassess(Clock::time_point now = Clock::now());
    /// Everybody runs, and from now on whoever comes: the server is stopping.
    void close();

    struct Load {
        std::size_t running, background, waiting;
    };
    Load load() const;

private:
    struct Line;
    /// The slow ones of a caller do not hold up its others, so each sort has a queue.
    struct Queue {
        Line* line = nullptr;
        bool slow = false;
        std::list<Place*> waiting{};  // those who were let in before first
        std::list<Place*>::iterator end_of(bool let_in);
        std::list<Queue*>::iterator turn{};  // in turns_, while any wait
    };
    /// A caller, while anything of its own is open, and until that is forgotten.
    struct Line {
        std::size_t id = 0;
        std::size_t running = 0, waiting = 0, bytes = 0;
        Average open{}, at_work{};  ///< requests that run or wait; that run
        Queue queues[2]{};
        Queue& queue(bool slow) { return queues[slow ? 1 : 0]; }
        bool idle() const { return running == 0 && waiting == 0; }
        void count(Clock::time_point now);
    };
    using Lines = std::unordered_map<std::string, Line>;
    using Running = std::unordered_map<std::string, std::size_t>;  // by workspace

    Lines::pointer line_of(const std::string& principal);
    bool holds_up(const Line& line, Clock::time_point now) const;
    bool background_is_full(const Line& line, Clock::time_point now) const;
    void rest(Clock::duration took, Clock::time_point now);
    void run();
    bool few_at_a_time(const Queue& queue, Clock::time_point now) const;
    bool fits(const Queue& queue, const std::string& org, Clock::time_point now) const;
    Queue* next(Clock::time_point now);
    void start(Place& place, Clock::time_point now);
    void stop(Place& place, Clock::time_point now);
    void end(Place& place, Clock::time_point now);
    void take_out(Place& place);
    void hand_out(Clock::time_point now);
    Clock::time_point hand_out_again(Clock::time_point now);

    mutable std::mutex mutex_;  // over all that follows
    Settings settings_;
    Lines lines_;  // by principal
    Running running_of_org_;
    std::list<Queue*> turns_;  // queues in which somebody waits; whose turn was last, last
    Paces paces_;
    Recent recent_;                         // callers who had one that need not be few
    std::vector<Clock::time_point> rests_;  // until when rooms in the background are to stay free
    std::size_t running_ = 0, background_ = 0, waiting_ = 0;
    bool closed_ = false, stopping_ = false;
    std::condition_variable waits_begin_;
    std::thread thread_;
};

/// One request's place, for as long as the request lives.
class Admission::Place {
public:
    Place() = default;
    ~Place() {
        if (admission_) admission_->leave(*this);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

private:
    friend class Admission;
    enum class State { away, waiting, running };

    // Under the mutex of admission_.
    Admission* admission_ = nullptr;  // since it first entered
    State state_ = State::away;
    Lines::pointer line_ = nullptr;
    bool known_ = false, let_in_ = false, slow_ = false, background_ = false;
    std::size_t pace_ = 0;  // in paces_
    Clock::time_point started_{};
    std::string org_;
    std::size_t bytes_ = 0;
    std::function<void()> resume_;
    std::list<Place*>::iterator at_;  // in the queue, while it waits
};

}  // namespace svc::core
