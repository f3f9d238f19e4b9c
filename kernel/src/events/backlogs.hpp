#pragma once

#include "svc/events.hpp"
#include "svc/tx.hpp"

#include <chrono>
#include <map>
#include <set>

/// The workspaces whose events a consumer has seen and not yet handled. They take turns, so that
/// one with many events, or with one that cannot be handled, delays no other.
namespace svc::events {

using Clock = std::chrono::steady_clock;

struct Backlog {
    Uuid org_id;
    std::int64_t sequence = 0;  ///< handled up to here
    std::int64_t until = 0;     ///< seen up to here
    std::int64_t position = 0;  ///< at least up to here in the order of all workspaces
    std::int64_t tries = 0;     ///< of the next one
};
SVC_SHARED_RECORD(Backlog, (org_id), (sequence), (until), (position), (tries));

/// One consumer's. Its thread's own.
class Backlogs {
public:
    /// So many have their turns side by side.
    Backlogs(std::string consumer, int at_once)
        : consumer_(std::move(consumer)), at_once_(at_once) {}

    /// Reads what was kept, and forgets what it held.
    void load(Tx& tx);
    /// Queues what has changed since it was kept or loaded; call kept() once that is committed.
    void keep(Tx& tx);
    void kept();

    /// The workspace has an event of this number, at this position of all.
    void add(const Uuid& org, std::int64_t sequence, std::int64_t position);
    /// Whose turn it is of those that need not pause and have none, round and round; null when it
    /// is nobody's. Those whose turns were slow lately have all places but one.
    Backlog* next(Clock::time_point now);
    void begin_turn(const Backlog& backlog);
    Backlog& end_turn(const Uuid& org);
    void was_slow(const Uuid& org, Clock::time_point now);
    void handled(Backlog& backlog, std::int64_t sequence, std::int64_t position);
    void pause(Backlog& backlog, Clock::time_point until);

    bool empty() const { return backlogs_.empty(); }
    bool any_failing() const;
    /// Everything up to here is handled, given that everything up to `seen` was added.
    std::int64_t position(std::int64_t seen) const;
    /// When the first pause that lasts after `now` is over; `otherwise` when there is none.
    Clock::time_point wakes(Clock::time_point now, Clock::time_point otherwise) const;

private:
    struct Turn {
        Backlog backlog;
        Clock::time_point not_before{};
    };

    const std::string consumer_;
    const int at_once_;
    std::map<Uuid, Turn> backlogs_;
    Uuid last_;                               // who had the last turn
    std::set<Uuid> running_;                  // have a turn
    std::map<Uuid, Clock::time_point> slow_;  // who was slow, and until when that counts
    std::set<Uuid> changed_;                  // since it was kept
    std::set<Uuid> stored_;                   // has a row
};

}  // namespace svc::events
