#pragma once

#include "db/connection.hpp"
#include "db/growth.hpp"

namespace svc::db {

/// Where a transaction gets its connection.
class Source {
public:
    virtual ~Source() = default;
    /// Throws Failure 503 when there is none to be had.
    virtual Connection& take(Tx::Mode mode) = 0;
    virtual void give(Connection& connection) noexcept = 0;
    virtual const Settings& settings() const = 0;
    /// Where to note what was committed; null where nobody looks.
    virtual Growth* growth() { return nullptr; }
};

}  // namespace svc::db
