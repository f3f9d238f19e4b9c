// Reports of workspaces that are gone, and what is there of accounts that are. Both are found by
// going from key to key, so that no statement costs more than its page, however much there is.

#include "modules/feedback/feedback.hpp"
#include "svc/workspace_pages.hpp"

#include <mutex>

namespace svc::feedback {

namespace {

constexpr std::int64_t batch = 1'000, page = 500;

// Those that reports were given in; those given in none stand in front of the first.
constexpr Sql next_workspaces{"feedback.next_workspaces", R"(
    WITH RECURSIVE each AS (
        (SELECT r.org_id FROM feedback_reports r
         WHERE r.org_id > $1
         ORDER BY r.org_id
         LIMIT 1)
        UNION ALL
        SELECT f.org_id
        FROM each e
        CROSS JOIN LATERAL (
            SELECT r.org_id FROM feedback_reports r
            WHERE r.org_id > e.org_id
            ORDER BY r.org_id
            LIMIT 1
        ) f
    )
    SELECT e.org_id,
        (SELECT o.id FROM orgs o WHERE o.id = e.org_id AND o.deleted_at IS NULL) IS NULL AS is_due
    FROM (SELECT x.org_id FROM each x LIMIT $2) e)"};

constexpr Sql find_workspace{"feedback.find_workspace", R"(
    SELECT o.id FROM orgs o WHERE o.id = $1 AND o.deleted_at IS NULL)"};

constexpr Sql remove_reports{"feedback.remove_reports", R"(
    DELETE FROM feedback_reports
    WHERE org_id = $1 AND id = ANY (ARRAY(
        SELECT r.id FROM feedback_reports r WHERE r.org_id = $1 LIMIT $2)))"};

// The next $3 behind the person $2 in the workspace $1 who gave reports.
constexpr Sql next_senders{"feedback.next_senders", R"(
    WITH RECURSIVE each AS (
        (SELECT r.org_id, r.person_id FROM feedback_reports r
         WHERE (r.org_id, r.person_id) > ($1::uuid, $2::uuid)
         ORDER BY r.org_id, r.person_id
         LIMIT 1)
        UNION ALL
        SELECT f.org_id, f.person_id
        FROM each e
        CROSS JOIN LATERAL (
            SELECT r.org_id, r.person_id FROM feedback_reports r
            WHERE (r.org_id, r.person_id) > (e.org_id, e.person_id)
            ORDER BY r.org_id, r.person_id
            LIMIT 1
        ) f
    )
    SELECT e.org_id, e.person_id,
        (SELECT u.id FROM users u WHERE u.id = e.person_id) IS NULL AS is_gone
    FROM (SELECT x.org_id, x.person_id FROM each x LIMIT $3) e)"};

constexpr Sql remove_reports_of{"feedback.remove_reports_of", R"(
    DELETE FROM feedback_reports
    WHERE org_id = $1 AND id = ANY (ARRAY(
        SELECT r.id FROM feedback_reports r
        WHERE r.org_id = $1 AND r.person_id = $2
        LIMIT $3)))"};

// The same of those who did something.
constexpr Sql next_active{"feedback.next_active", R"(
    SELECT e.org_id, e.person_id,
        (SELECT u.id FROM users u WHERE u.id = e.person_id) IS NULL AS is_gone
    FROM (
        SELECT a.org_id, a.user_id AS person_id FROM survey_activity a
        WHERE (a.org_id, a.user_id) > ($1::uuid, $2::uuid)
        ORDER BY a.org_id, a.user_id
        LIMIT $3
    ) e
    ORDER BY e.org_id, e.person_id)"};

constexpr Sql remove_activity_of{"feedback.remove_activity_of", R"(
    DELETE FROM survey_activity
    WHERE org_id = $1 AND user_id = ANY (ARRAY(
        SELECT a.user_id FROM survey_activity a
        WHERE a.org_id = $1 AND a.user_id = $2
        LIMIT $3)))"};

struct PersonRow {
    Uuid org_id, person_id;
    bool is_gone = false;
};
SVC_RECORD(PersonRow, (org_id), (person_id), (is_gone));

/// For all workspaces, since who is no member any more is not to be taken for gone.
template <class Work>
void across_workspaces(Kernel& kernel, Tx::Mode mode, Work work) {
    kernel.transact(mode, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        work(tx);
    });
}

std::vector<PersonRow> look(Kernel& kernel, const Sql& next, const PersonRow& last) {
    std::vector<PersonRow> rows;
    across_workspaces(kernel, Tx::Mode::read, [&](Tx& tx) {
        rows = tx.all<PersonRow>(next, last.org_id, last.person_id, page);
    });
    return rows;
}

/// Batch by batch. False when the run is to yield before it is done.
template <class... Arg>
bool remove(Kernel& kernel, const JobRun& run, const Sql& sql, const Arg&... arg) {
    for (std::size_t removed = batch; removed == static_cast<std::size_t>(batch);) {
        if (run.should_yield()) return false;
        across_workspaces(kernel, Tx::Mode::write, [&](Tx& tx) {
            removed = tx.run(sql, arg..., batch);
        });
    }
    return true;
}

JobOutcome remove_workspace(Kernel& kernel, const JobRun& run) {
    bool there = true;
    across_workspaces(kernel, Tx::Mode::read, [&](Tx& tx) {
        there = tx.queue(find_workspace, run.org()).rows() > 0;
    });
    if (there || remove(kernel, run, remove_reports, run.org())) return JobOutcome::done;
    return JobOutcome::more;
}

/// Goes round all people. A round that took too long goes on where it stopped, unless another
/// server does.
class GoneAccounts {
public:
    explicit GoneAccounts(Kernel& kernel) : kernel_(kernel) {}

    JobOutcome look_for(const JobRun& run) {
        // A run that has lost its lease may not have ended when the next begins.
        const std::lock_guard lock(mutex_);
        if (!walk(run, next_senders, remove_reports_of, sender_) ||
            !walk(run, next_active, remove_activity_of, active_))
            return JobOutcome::more;
        sender_ = active_ = {};
        return JobOutcome::done;
    }

private:
    /// False when the run is to yield before it is done.
    bool walk(const JobRun& run, const Sql& next, const Sql& remove_of, PersonRow& last) {
        for (;;) {
            const auto people = look(kernel_, next, last);
            for (const PersonRow& each : people) {
                if (each.is_gone && !remove(kernel_, run, remove_of, each.org_id, each.person_id))
                    return false;
                last = each;
            }
            if (people.size() < static_cast<std::size_t>(page)) return true;
            if (run.should_yield()) return false;
        }
    }

    Kernel& kernel_;
    std::mutex mutex_;
    PersonRow sender_, active_;  // the last of the round; under mutex_
};

}  // namespace

void add_removal_of_gone(Kernel& kernel) {
    add_sweep(
        kernel,
        {.name = "feedback.remove_gone",
         .every = std::chrono::hours(1),
         .find = [&kernel] { return workspaces_by_page(kernel, next_workspaces); },
         .work = [&kernel](JobRun& run) { return remove_workspace(kernel, run); }}
    );
    kernel.use<Jobs>().add({
        .name = "feedback.remove_gone_accounts",
        .run = [gone = std::make_shared<GoneAccounts>(kernel)](JobRun& run) {
            return gone->look_for(run);
        },
        .slice = std::chrono::minutes(1),
        .every = std::chrono::hours(24),
    });
}

}  // namespace svc::feedback
