#pragma once

#include "tests/support/postgres.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// What the server really sends to PostgreSQL, taken from PostgreSQL's own log, so that the
/// comparison cannot drift away from the code.
namespace svc::bench {

struct Logged {
    long pid = 0;
    std::string text;                                    ///< with $1, $2 … in it
    std::vector<std::optional<std::string>> parameters;  ///< no value: null
};

/// Settings that a cluster needs for recording.
std::vector<std::string> recording_settings();

/// What was executed while `work` ran, in order.
std::vector<Logged> record(const test::Postgres& postgres, const std::function<void()>& work);

/// The transactions among `logged`, BEGIN to COMMIT, that have `mark` in a parameter and execute
/// a statement with `words` in it, in the order of their ends.
std::vector<std::vector<Logged>> transactions_with(
    const std::vector<Logged>& logged, const std::string& mark, const std::string& words
);

/// A pgbench script that runs the given transactions, each as one pipeline. What differs between
/// `once` and `again` (two runs of the same work) becomes a random value: ids, numbers,
/// secrets and digests; where the same value stood twice, the same random value stands again.
std::string pgbench_script(
    const std::vector<std::vector<Logged>>& once, const std::vector<std::vector<Logged>>& again
);

/// Runs pgbench as the server's role; transactions per second. Throws when one failed.
double pgbench(
    const std::string& url,
    const std::vector<std::filesystem::path>& scripts,
    int clients,
    double seconds
);

}  // namespace svc::bench
