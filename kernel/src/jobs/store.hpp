#pragma once

#include "svc/jobs.hpp"

#include <span>
#include <vector>

/// The statements on the table of jobs. Each queues or runs in the transaction given, which acts
/// for all workspaces unless said otherwise.
namespace svc::jobs {

/// Which job, and by which lease it runs.
struct Held {
    Uuid org_id;
    std::string kind, key;
    Uuid lease;
};

/// A job that was taken.
struct Taken {
    std::string key, payload;
    std::int64_t attempts = 0;
};
SVC_SHARED_RECORD(Taken, (key), (payload), (attempts));

/// A workspace that has something of a kind to do.
struct Line {
    std::string kind;
    Uuid org_id;
};
SVC_SHARED_RECORD(Line, (kind), (org_id));

/// The transaction acts for the job's workspace or for all.
void add_job(Tx& tx, const JobRequest& job);
/// The job of a kind that recurs: it is there from now on, and due after so long at the latest.
void add_recurring(Tx& tx, const std::string& kind, std::chrono::milliseconds every);
void drop_jobs_of(Tx& tx, const Uuid& org);

/// Makes ready what waits of a kind, whenever it is due.
void bring_forward(Tx& tx, std::string_view kind);
/// Makes ready what is due by now, and what servers that are gone have left behind.
void make_ready(Tx& tx);
/// For each kind some workspaces with ready jobs, `most[i]` at most, from `from[i]` on in their
/// order.
DeferredRows<Line> find_lines(
    Tx& tx,
    const std::vector<std::string>& kinds,
    const std::vector<Uuid>& from,
    const std::vector<std::int64_t>& most
);
/// Takes the jobs of a workspace that have been due for longest.
DeferredRows<Taken> take(
    Tx& tx,
    const Line& line,
    std::int64_t most,
    const Uuid& lease,
    std::chrono::milliseconds lease_time
);
/// The lease goes on. A row of the result for each that is still held.
Result extend(Tx& tx, const Held& job, std::chrono::milliseconds lease_time);

/// It is gone, or begins again because it was asked for meanwhile.
void finish(Tx& tx, const Held& job);
/// It begins again after so long.
void repeat(Tx& tx, const Held& job, std::chrono::milliseconds after);
/// finish, or repeat where it recurs; the commit throws RetryTransaction when it is not held any
/// more.
void require_end(Tx& tx, const Held& job, std::optional<std::chrono::milliseconds> every);
/// The attempt failed. A last one leaves the job as failed, unless it was asked for meanwhile.
void fail(
    Tx& tx, const Held& job, std::string_view why, bool last, std::chrono::milliseconds pause
);

}  // namespace svc::jobs
