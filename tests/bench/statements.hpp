#pragma once

#include "tests/support/postgres.hpp"

#include <chrono>
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

struct Slow {
    double milliseconds = 0;
    std::string text;
};
/// What took at least that long while `work` ran, but for COMMIT, which waits for the disk.
std::vector<Slow> slower_than(
    const test::Postgres& postgres,
    std::chrono::milliseconds least,
    const std::function<void()>& work
);

/// The transactions among `logged`, BEGIN to COMMIT, that have `mark` in a parameter and execute
/// a statement with `words` in it, in the order of their ends.
std::vector<std::vector<Logged>> transactions_with(
    const std::vector<Logged>& logged, const std::string& mark, const std::string& words
);

/// A value that one transaction finds and later ones need, such as the card that was claimed.
/// pgbench takes no value out of a pipeline, so the later ones ask for it anew.
struct Found {
    std::string value;  ///< in the first recording
    std::string type;
    std::string query;  ///< that gives it, with $1 for `by`
    std::string by;     ///< a value of the first recording
};

/// A pgbench script that runs the given transactions, each as one pipeline. What differs between
/// `once` and `again` (two runs of the same work) becomes a random value: ids, numbers,
/// secrets and digests; where the same value stood twice, the same random value stands again.
std::string pgbench_script(
    const std::vector<std::vector<Logged>>& once,
    const std::vector<std::vector<Logged>>& again,
    const std::optional<Found>& found = std::nullopt
);

struct PgbenchRun {
    double per_second = 0;  ///< once everything is prepared
    double all = 0;         ///< transactions, those before included
};

/// Runs pgbench as the server's role; throws when one failed.
PgbenchRun pgbench(
    const std::string& url,
    const std::vector<std::filesystem::path>& scripts,
    int clients,
    double seconds
);

}  // namespace svc::bench
