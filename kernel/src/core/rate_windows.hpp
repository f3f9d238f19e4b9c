#pragma once

namespace svc::db {
class Database;
}

namespace svc::core {

/// Deletes the windows of DatabaseRateLimit that have ended.
void sweep_rate_windows(db::Database& database);

}  // namespace svc::core
