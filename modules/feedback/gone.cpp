// Reports of workspaces that are gone, and what is there of accounts that are.

#include "modules/feedback/feedback.hpp"
#include "svc/workspace_jobs.hpp"

namespace svc::feedback {

namespace {

constexpr std::int64_t batch = 1'000;

constexpr Sql workspaces_with_gone{"feedback.workspaces_with_gone", R"(
    SELECT DISTINCT r.org_id FROM feedback_reports r
    WHERE NOT EXISTS (SELECT FROM users u WHERE u.id = r.person_id)
        OR (r.org_id <> '00000000-0000-0000-0000-000000000000' AND NOT EXISTS (
            SELECT FROM orgs o WHERE o.id = r.org_id AND o.deleted_at IS NULL))
    UNION
    SELECT DISTINCT a.org_id FROM survey_activity a
    WHERE NOT EXISTS (SELECT FROM users u WHERE u.id = a.user_id))"};

constexpr Sql find_workspace{"feedback.find_workspace", R"(
    SELECT o.id FROM orgs o WHERE o.id = $1 AND o.deleted_at IS NULL)"};

constexpr Sql remove_reports{"feedback.remove_reports", R"(
    DELETE FROM feedback_reports
    WHERE org_id = $1 AND id = ANY (ARRAY(
        SELECT r.id FROM feedback_reports r WHERE r.org_id = $1 LIMIT $2)))"};

// Each person is looked up by key, whatever the planner thinks of the number of people.
constexpr Sql remove_reports_of_gone{"feedback.remove_reports_of_gone", R"(
    DELETE FROM feedback_reports
    WHERE org_id = $1 AND id = ANY (ARRAY(
        SELECT r.id FROM feedback_reports r
        WHERE r.org_id = $1 AND (SELECT u.id FROM users u WHERE u.id = r.person_id) IS NULL
        LIMIT $2)))"};

constexpr Sql remove_activity_of_gone{"feedback.remove_activity_of_gone", R"(
    DELETE FROM survey_activity
    WHERE org_id = $1 AND user_id = ANY (ARRAY(
        SELECT a.user_id FROM survey_activity a
        WHERE a.org_id = $1 AND (SELECT u.id FROM users u WHERE u.id = a.user_id) IS NULL
        LIMIT $2)))"};

/// For all workspaces, since who is no member any more is not to be taken for gone.
template <class Work>
void across_workspaces(Kernel& kernel, Tx::Mode mode, Work work) {
    kernel.transact(mode, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        work(tx);
    });
}

JobOutcome remove(Kernel& kernel, const JobRun& run) {
    const Uuid org = run.org();  // nil: of reports that were given in no workspace
    bool there = org.nil();
    if (!there)
        across_workspaces(kernel, Tx::Mode::read, [&](Tx& tx) {
            there = tx.queue(find_workspace, org).rows() > 0;
        });
    for (const Sql* each :
         {there ? &remove_reports_of_gone : &remove_reports, &remove_activity_of_gone})
        for (std::size_t removed = batch; removed == static_cast<std::size_t>(batch);) {
            if (run.should_yield()) return JobOutcome::more;
            across_workspaces(kernel, Tx::Mode::write, [&](Tx& tx) {
                removed = tx.run(*each, org, batch);
            });
        }
    return JobOutcome::done;
}

}  // namespace

void add_removal_of_gone(Kernel& kernel) {
    add_sweep(
        kernel,
        {.name = "feedback.remove_gone",
         .every = std::chrono::hours(1),
         .find = [&kernel] { return workspaces(kernel, workspaces_with_gone); },
         .work = [&kernel](JobRun& run) { return remove(kernel, run); }}
    );
}

}  // namespace svc::feedback
