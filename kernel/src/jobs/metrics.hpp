#pragma once

#include "db/database.hpp"
#include "jobs/pool.hpp"
#include "svc/operator/upkeep.hpp"

namespace svc::jobs {

/// What waits, runs and failed of each kind, for /metrics. One round trip; of a kind in one state
/// ten thousand are counted at most.
std::vector<Metric> job_metrics(const Pool& pool, db::Database& database);

}  // namespace svc::jobs
