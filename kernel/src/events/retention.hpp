#pragma once

#include "db/database.hpp"

#include <chrono>

namespace svc::events {

/// Drops the events that were stored longer than `keep` ago; the audit record stays. A job's
/// work: does nothing while another server is at it. Returns how many it dropped.
std::int64_t drop_old_events(db::Database& database, std::chrono::seconds keep);

}  // namespace svc::events
