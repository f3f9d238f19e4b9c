#pragma once

#include "svc/actor.hpp"
#include "svc/jobs.hpp"

/// For jobs that go from workspace to workspace.
namespace svc {

struct Workspace {
    Uuid org_id;
};
SVC_SHARED_RECORD(Workspace, (org_id));

/// The workspaces that `sql` finds something due in.
template <class... Arg>
std::vector<Workspace> workspaces(Kernel& kernel, const Sql& sql, const Arg&... arg) {
    std::vector<Workspace> found;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        found = tx.all<Workspace>(sql, arg...);
    });
    return found;
}

/// Calls `work(tx, actor)` in a transaction of that workspace, and what it left for afterwards.
template <class Work>
void in_workspace(Kernel& kernel, const Uuid& org, std::string_view action, Work work) {
    std::vector<std::function<void()>> after;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(org, std::nullopt);
        JobActor actor(tx, org, action);
        work(tx, actor);
        after = actor.after();
    });
    for (const auto& then : after) then();
}

/// Batch by batch: calls `work(tx, actor)` so, until it says that it found fewer than `batch`
/// (done) or the run is to yield (more).
template <class Work>
JobOutcome in_batches(
    Kernel& kernel,
    const JobRun& run,
    const Uuid& org,
    std::string_view action,
    std::size_t batch,
    Work work
) {
    for (;;) {
        std::size_t found = 0;
        in_workspace(kernel, org, action, [&](Tx& tx, Actor& actor) { found = work(tx, actor); });
        if (found < batch) return JobOutcome::done;
        if (run.should_yield()) return JobOutcome::more;
    }
}

/// The same at once, for what must not wait for a job.
template <class Work>
void in_batches(
    Kernel& kernel, const Uuid& org, std::string_view action, std::size_t batch, Work work
) {
    std::size_t found = 0;
    do {
        in_workspace(kernel, org, action, [&](Tx& tx, Actor& actor) { found = work(tx, actor); });
    } while (found == batch && !kernel.stopping());
}

/// What is looked for every so often, by one server for all workspaces, and done by a job for each
/// workspace that has some of it.
struct Sweep {
    std::string name;  ///< of the kind of job; the one that looks is called `<name>.find`
    std::chrono::milliseconds every;
    std::function<std::vector<Workspace>()> find;
    std::function<JobOutcome(JobRun&)> work;  ///< of run.org()
    int at_once = 2;
};
void add_sweep(Kernel& kernel, Sweep sweep);
/// A kind of job that is for the server as a whole, done every so often by one of the servers.
void add_recurring_job(
    Kernel& kernel, std::string name, std::chrono::milliseconds every, std::function<void()> work
);

}  // namespace svc
