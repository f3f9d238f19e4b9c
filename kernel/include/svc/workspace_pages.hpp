#pragma once

#include "svc/workspace_jobs.hpp"

/// For jobs that go from workspace to workspace by an index, however many there are.
namespace svc {

struct WorkspaceOfPage {
    Uuid org_id;
    bool is_due = false;
};
SVC_SHARED_RECORD(WorkspaceOfPage, (org_id), (is_due));

/// The workspaces in which something is due. `sql` gives the next $2 behind the workspace $1, in
/// order, due or not; no statement costs more than its page. $3 and so on are `arg`.
template <class... Arg>
std::vector<Workspace> workspaces_by_page(Kernel& kernel, const Sql& sql, const Arg&... arg) {
    constexpr std::int64_t page = 1'000;
    std::vector<Workspace> due;
    std::vector<WorkspaceOfPage> some;
    for (Uuid last; !kernel.stopping(); last = some.back().org_id) {
        kernel.transact(Tx::Mode::read, [&](Tx& tx) {
            tx.set_scope_to_all_orgs();
            some = tx.all<WorkspaceOfPage>(sql, last, page, arg...);
        });
        for (const WorkspaceOfPage& each : some)
            if (each.is_due) due.push_back({each.org_id});
        if (some.size() < static_cast<std::size_t>(page)) break;
    }
    return due;
}

}  // namespace svc
