#pragma once

#include "db/connector.hpp"
#include "db/watchdog.hpp"

namespace svc::db {

/// Database::try_lock.
std::unique_ptr<Database::Lock> take_lock(
    Connector& connector, Watchdog& watchdog, const Settings& settings, std::int64_t key
);

}  // namespace svc::db
