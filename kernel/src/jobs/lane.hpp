#pragma once

#include "jobs/run.hpp"

#include <deque>
#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace svc::jobs {

/// A kind of job on this server: what of it runs, whose turn is next, and its threads. Nothing here
/// locks; the pool does.
class Lane {
public:
    using Clock = std::chrono::steady_clock;

    explicit Lane(const JobKind& what) : kind(what) {}

    int room() const { return kind.at_once - static_cast<int>(runs_.size()); }
    /// Whether the workspace may have a run more. Those whose runs took long have all places but
    /// one.
    bool may_begin(const Uuid& org, Clock::time_point now) const;
    /// So many workspaces are asked for that there are enough beside those that may not.
    std::int64_t wanted_lines() const;
    void begin(std::shared_ptr<Run> run);
    void end(const Run& run, Clock::time_point now);
    const std::map<const Run*, std::shared_ptr<Run>>& runs() const { return runs_; }

    const JobKind& kind;
    Uuid from;                                 ///< whose turn is next
    std::deque<std::shared_ptr<Run>> waiting;  ///< begun, and no thread has it yet
    int idle = 0;
    std::vector<std::thread> threads;
    std::uint64_t succeeded = 0, failed = 0;
    bool failing = false;

private:
    bool is_slow(const Uuid& org, Clock::time_point now) const;

    std::map<const Run*, std::shared_ptr<Run>> runs_;
    std::map<Uuid, int> of_org_;
    std::map<Uuid, Clock::time_point> slow_;  // whose runs took long, and until when that counts
};

}  // namespace svc::jobs
