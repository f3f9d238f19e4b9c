#pragma once

#include "svc/actor.hpp"

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
        tx.act_for_all_orgs();
        found = tx.all<Workspace>(sql, arg...);
    });
    return found;
}

/// Calls `work(tx, actor)` in a transaction of that workspace, and what it left for afterwards.
template <class Work>
void in_workspace(Kernel& kernel, const Uuid& org, std::string_view action, Work work) {
    std::vector<std::function<void()>> after;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.act_for(org, std::nullopt);
        JobActor actor(tx, org, action);
        work(tx, actor);
        after = actor.after();
    });
    for (const auto& then : after) then();
}

/// Batch by batch: calls `work(tx, actor)` so, until it says that it found fewer than `batch`.
template <class Work>
void in_batches(
    Kernel& kernel, const Uuid& org, std::string_view action, std::size_t batch, Work work
) {
    std::size_t found = 0;
    do {
        in_workspace(kernel, org, action, [&](Tx& tx, Actor& actor) { found = work(tx, actor); });
    } while (found == batch && !kernel.stopping());
}

}  // namespace svc
