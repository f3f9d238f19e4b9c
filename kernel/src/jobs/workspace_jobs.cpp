#include "svc/workspace_jobs.hpp"

namespace svc {

void add_recurring_job(
    Kernel& kernel, std::string name, std::chrono::milliseconds every, std::function<void()> work
) {
    kernel.use<Jobs>().add({
        .name = std::move(name),
        .run =
            [work = std::move(work)](JobRun&) {
                work();
                return JobOutcome::done;
            },
        .every = every,
    });
}

void add_sweep(Kernel& kernel, Sweep sweep) {
    Jobs& jobs = kernel.use<Jobs>();
    jobs.add({
        .name = sweep.name,
        .run = std::move(sweep.work),
        .at_once = sweep.at_once,
    });
    const auto look = [&kernel, &jobs, name = sweep.name, find = std::move(sweep.find)] {
        const auto found = find();
        if (found.empty()) return;
        kernel.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope_to_all_orgs();
            for (const Workspace& each : found)
                jobs.enqueue(tx, {.kind = name, .org = each.org_id});
        });
    };
    add_recurring_job(kernel, sweep.name + ".find", sweep.every, look);
}

}  // namespace svc
