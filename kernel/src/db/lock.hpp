#pragma once

#include "db/connector.hpp"
#include "db/watchdog.hpp"

#include <mutex>

namespace svc::db {

class Connection;

/// The connections of Database::try_lock. One that got its lock has it until it ends; one that did
/// not is kept for the next who tries: another server may hold a lock for months, and those that
/// wait for it try every second. Any thread.
class LockConnections {
public:
    LockConnections(Connector& connector, Watchdog& watchdog, const Settings& settings);
    ~LockConnections();

    std::unique_ptr<Database::Lock> try_lock(std::int64_t key);
    void close() noexcept;

private:
    std::unique_ptr<Connection> take();
    void keep(std::unique_ptr<Connection> connection) noexcept;

    Connector& connector_;
    Watchdog& watchdog_;
    const Settings& settings_;
    std::mutex mutex_;
    std::unique_ptr<Connection> free_;
};

}  // namespace svc::db
