#pragma once

#include "tests/support/eventually.hpp"
#include "tests/support/postgres.hpp"

#include <stdexcept>

namespace svc::test {

/// Has a job that recurs, of that kind, done now. One that is running may have looked already: it
/// is done once more.
inline void do_now(const std::string& kind, const std::string& database) {
    const auto due = [&] {
        return !Postgres::shared()
                    .run(
                        "UPDATE jobs SET state = 'ready', due_at = now() WHERE kind = '" + kind +
                            "' AND state IN ('waiting', 'ready') RETURNING kind",
                        database
                    )
                    .empty();
    };
    if (!eventually(due)) throw std::runtime_error("no job of the kind " + kind);
}

}  // namespace svc::test
