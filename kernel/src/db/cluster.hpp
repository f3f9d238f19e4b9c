#pragma once

#include "db/programs.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

/// A PostgreSQL cluster that is ours alone: a data folder, a unix socket and nothing on TCP.
namespace svc::db {

class Cluster {
public:
    struct Plan {
        std::filesystem::path programs;     ///< where `postgres` and `initdb` are
        Account account;                    ///< whom it runs as; owns both folders
        std::filesystem::path data;         ///< absolute
        std::filesystem::path socket;       ///< the socket's folder; at most 90 bytes
        std::vector<std::string> settings;  ///< `name=value`
    };
    explicit Cluster(Plan plan) : plan_(std::move(plan)) {}

    /// initdb, when the data folder holds no cluster yet. `how`: further words for initdb.
    void create(const std::vector<std::string>& how = {});

    /// Starts it and waits until it takes connections; nothing when it runs already. Throws
    /// std::runtime_error with the end of the server's own log.
    void start();

    /// The server that runs on the data folder, whoever started it; 0 when there is none.
    pid_t running() const;

    /// `fast` ends sessions and writes a checkpoint; `immediate` ends like a crash.
    enum class Stop { fast, immediate };
    /// Returns when the server is gone; false when it has not gone in `at_most`.
    bool stop(Stop how, std::chrono::milliseconds at_most) noexcept;

    /// How libpq reaches a database of it.
    std::string url(std::string_view user, std::string_view database) const;

    const Plan& plan() const { return plan_; }
    std::filesystem::path log() const { return plan_.data.parent_path() / "postgres.log"; }

private:
    bool ready() const;
    pid_t launch() const;
    void rotate_log() const;
    void forget_stale_pid_file() const;

    Plan plan_;
};

}  // namespace svc::db
