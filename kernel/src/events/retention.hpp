#pragma once

#include "db/database.hpp"

#include <chrono>

namespace svc::events {

/// Has the events that happened longer than `keep` ago read as events no more, and drops what was
/// kept of their deliveries; the audit record, which has the same rows, stays. A job's work: does
/// nothing while another server is at it. Returns how many events it was.
std::int64_t drop_old_events(db::Database& database, std::chrono::seconds keep);

}  // namespace svc::events
