#pragma once

#include "svc/tx.hpp"
#include "svc/types.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

/// Durable jobs: work that is written down in the transaction that asks for it and done afterwards,
/// by whichever server is free (docs/jobs.md).
namespace svc {

/// How a run ended that threw nothing.
enum class JobOutcome {
    done,  ///< there is no more to do, unless it was asked for once more meanwhile
    more,  ///< it goes on when the other workspaces have had their turn
};

/// One run of a job, on a thread of the pool.
class JobRun {
public:
    virtual ~JobRun() = default;

    virtual const Uuid& org() const = 0;  ///< nil: of the server as a whole
    virtual const std::string& key() const = 0;
    virtual const std::string& payload() const = 0;
    /// 1 for the first. Runs that a server did not survive count as well.
    virtual std::int64_t attempt() const = 0;
    virtual bool last_attempt() const = 0;
    /// Whether to stop between two steps and answer `more`: the server is stopping, this run has
    /// used up its slice of time, or its lease is lost.
    virtual bool should_yield() const = 0;
    /// Ends the job in `tx`, so that the end is committed with what it did, or neither is. The
    /// commit throws RetryTransaction when another server has the job by now. Answer `done` then.
    virtual void complete(Tx& tx) = 0;
};

/// Thrown by a run: no further attempt would end otherwise. The job is kept as failed.
class [[gnu::visibility("default")]] JobFailed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A kind of job, declared by the module that does it. A run happens at least once: when its server
/// ends in the middle it is run again after Jobs' lease, elsewhere or here.
struct JobKind {
    std::string name;  ///< "mail.send"
    /// Any thread, several at once. Whatever it throws counts as a failed attempt; the text is kept
    /// for operators, so it must hold nothing that is secret.
    std::function<JobOutcome(JobRun&)> run;
    int at_once = 2;                ///< runs on one server, of all workspaces
    int at_once_per_workspace = 1;  ///< runs on one server, of one workspace
    std::int64_t most_attempts = 12;
    std::chrono::milliseconds pause{1'000};  ///< before the second attempt; doubles with each
    std::chrono::milliseconds longest_pause{std::chrono::hours(1)};
    std::chrono::milliseconds slice{1'000};  ///< then should_yield()
    /// One job of this kind is always there, for the server as a whole, and is due again so long
    /// after each run, however that ended. On one server at a time.
    std::optional<std::chrono::milliseconds> every{};
};

/// A job to be done. There is one for each workspace, kind and key: asking for one that waits
/// changes nothing but brings it forward, unless it rests after a failed attempt; asking for one
/// that runs has it run once more.
struct JobRequest {
    std::string_view kind;
    Uuid org{};
    std::string_view key{};
    std::string_view payload{};  ///< of the first request counts, as long as the job is there
    std::chrono::milliseconds after{0};
};

/// Offered by the kernel.
class Jobs {
public:
    static constexpr std::string_view name = "kernel.Jobs";
    virtual ~Jobs() = default;

    /// While modules open. Throws std::logic_error when the name is taken.
    virtual void add(JobKind kind) = 0;
    /// Queues the job in `tx`, which acts for its workspace or for all. It may begin as soon as
    /// that is committed.
    virtual void enqueue(Tx& tx, const JobRequest& job) = 0;
    /// Queues the end of all jobs of a workspace; runs that are under way are not interrupted.
    virtual void cancel_all_of(Tx& tx, const Uuid& org) = 0;
};

}  // namespace svc
