#pragma once

#include "db/database.hpp"
#include "jobs/run.hpp"

namespace svc::jobs {

/// How a run went.
struct Ended {
    JobOutcome outcome = JobOutcome::done;
    std::optional<std::string> error;
    bool permanent = false;
};

/// Calls the job's handler.
Ended attempt(Run& run);

/// Writes how the run ended. What cannot be written is as if the server had ended: the job is run
/// again after its lease.
void settle(db::Database& database, const Run& run, const Ended& ended) noexcept;
/// The job begins again, as if this run had not been.
void put_back(db::Database& database, const Run& run) noexcept;
/// No run of the job was survived by its server: there is none any more.
void give_up(db::Database& database, const Held& job) noexcept;

/// How long to wait before the next attempt: doubling from `pause` on, up to `longest_pause`, a
/// quarter more or less of it.
std::chrono::milliseconds pause_after(const JobKind& kind, std::int64_t attempts);

}  // namespace svc::jobs
