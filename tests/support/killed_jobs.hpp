#pragma once

#include "tests/support/postgres.hpp"

namespace svc::test {

/// As if the time were over for which servers that were killed had leased their jobs; that it ends
/// by itself, unit_jobs waits for. To be called while none runs on that database.
inline void end_leases_of_killed(const std::string& database) {
    Postgres::shared().run("UPDATE jobs SET due_at = now() WHERE state = 'running'", database);
}

}  // namespace svc::test
