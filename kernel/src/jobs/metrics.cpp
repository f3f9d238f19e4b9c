#include "jobs/metrics.hpp"

namespace svc::jobs {

namespace {

constexpr std::int64_t most_counted = 10'000;
constexpr double late_seconds = 300;

constexpr Sql count_jobs{"jobs.count", R"(
    WITH waiting AS (
        SELECT w.kind, count(*) AS jobs
        FROM (SELECT j.kind FROM jobs j
              WHERE j.state = 'waiting' ORDER BY j.due_at LIMIT $2) w
        GROUP BY w.kind
    )
    SELECT k.kind, r.ready, f.failed, coalesce(w.jobs, 0) AS waiting, coalesce(r.oldest, 0) AS oldest_seconds
    FROM unnest($1::text[]) AS k (kind)
    CROSS JOIN LATERAL (
        SELECT count(*) AS ready,
               extract(epoch FROM now() - min(s.due_at))::double precision AS oldest
        FROM (SELECT j.due_at FROM jobs j
              WHERE j.kind = k.kind AND j.state = 'ready' LIMIT $2) s) r
    CROSS JOIN LATERAL (
        SELECT count(*) AS failed
        FROM (SELECT FROM jobs j WHERE j.kind = k.kind AND j.state = 'failed' LIMIT $2) s) f
    LEFT JOIN waiting w ON w.kind = k.kind)"};

struct Count {
    std::string kind;
    std::int64_t ready = 0, failed = 0, waiting = 0;
    double oldest_seconds = 0;
};
SVC_RECORD(Count, (kind), (ready), (failed), (waiting), (oldest_seconds));

}  // namespace

std::vector<Metric> job_metrics(const Pool& pool, db::Database& database) {
    std::vector<std::string> kinds;
    for (const JobKind& each : pool.kinds()) kinds.push_back(each.name);
    std::vector<Count> counts;
    database.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        counts = tx.all<Count>(count_jobs, kinds, most_counted);
    });
    std::vector<Metric> out;
    const auto add = [&](const char* name,
                         const char* help,
                         std::string labels,
                         double value,
                         bool is_charted = false,
                         std::optional<double> limit = {}) {
        out.push_back({name, help, std::move(labels), value, is_charted, limit});
    };
    for (const Count& each : counts) {
        const auto in_state = [&](const char* state) {
            return "kind=\"" + each.kind + "\",state=\"" + state + "\"";
        };
        constexpr auto help = "Durable jobs that are to be done, or that were given up.";
        add("jobs", help, in_state("ready"), static_cast<double>(each.ready), true);
        add("jobs", help, in_state("waiting"), static_cast<double>(each.waiting));
        add("jobs", help, in_state("failed"), static_cast<double>(each.failed), false, 0);
        add("jobs_oldest_seconds",
            "How long the oldest job that is ready has been due.",
            "kind=\"" + each.kind + "\"",
            each.oldest_seconds,
            true,
            late_seconds);
    }
    for (const auto& [kind, load] : pool.load()) {
        constexpr auto help = "Runs of jobs on this server.";
        const std::string of_kind = "kind=\"" + kind + "\"";
        add("jobs_running", "Jobs that run on this server.", of_kind, load.running);
        add("job_runs_total",
            help,
            of_kind + ",outcome=\"succeeded\"",
            static_cast<double>(load.succeeded));
        add("job_runs_total",
            help,
            of_kind + ",outcome=\"failed\"",
            static_cast<double>(load.failed));
    }
    return out;
}

}  // namespace svc::jobs
