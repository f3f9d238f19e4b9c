#pragma once

#include "db/connector.hpp"
#include "db/watchdog.hpp"
#include "svc/bus.hpp"

namespace svc::db {

/// Database::listen.
std::unique_ptr<BusConnection> listen(
    Connector& connector, Watchdog& watchdog, const std::string& channel
);

}  // namespace svc::db
