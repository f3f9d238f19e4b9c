#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

struct pg_conn;
using PGconn = pg_conn;
namespace svc::db {
class Cluster;
}

/// PostgreSQL for tests, never the machine's own.
namespace svc::test {

class Postgres {
public:
    /// A cluster that all test programs of this build folder share, started by the first one
    /// that asks and ended some seconds after the last one has gone. Fast and not durable.
    static Postgres& shared();

    /// A cluster of this object's own, for tests that stop, pause or fill it.
    enum class Disk { fast, durable };
    explicit Postgres(Disk disk = Disk::fast, std::vector<std::string> settings = {});
    ~Postgres();
    Postgres(const Postgres&) = delete;
    Postgres& operator=(const Postgres&) = delete;

    /// Makes the data folder of a cluster that has never run, as initdb would but at once.
    static void make_data(const std::filesystem::path& data);

    /// The URL of a new database that the role `workboard` (neither superuser nor BYPASSRLS) owns.
    /// It is dropped when this process ends, or once there are many newer ones and nobody uses it.
    /// On the shared cluster it has the schema of all modules that are shipped, copied from a
    /// database that was migrated once for this build; on a cluster of one's own it is empty, and
    /// the server migrates it.
    std::string fresh_database();
    /// The same without a schema, for tests of what makes one.
    std::string empty_database();
    /// The same database as seen by the superuser, who is above row-level security.
    std::string superuser_url(std::string_view url) const;
    /// Runs statements as the superuser, in the database of `url` or in "postgres"; the first
    /// column of the first row, if there is one. The session is used again by later calls: what is
    /// SET in it stays. Throws std::runtime_error.
    std::string run(std::string_view sql, std::string_view url = {}) const;

    // Only on a cluster of one's own.
    void stop();
    void crash();  ///< ends it as a power cut would
    void start();
    void restart() { stop(), start(); }
    void pause();  ///< every process of it stands still until resume(); connections stay
    void resume();

private:
    struct Shared {};
    explicit Postgres(Shared);
    void prepare(const std::filesystem::path& folder, std::vector<std::string> settings);
    std::string make_database(const std::string& from);
    /// So that a program with a database for each test does not fill the memory.
    void drop_old_databases();
    std::string migrated_template();

    using Session = std::unique_ptr<PGconn, void (*)(PGconn*)>;
    struct IdleSession {
        std::string database;
        Session session;
    };
    Session session_in(const std::string& database) const;
    void keep(const std::string& database, Session session) const;
    void forget_sessions();

    std::unique_ptr<db::Cluster> cluster_;
    mutable std::mutex sessions_mutex_;
    mutable std::vector<IdleSession> sessions_;  // the one used last at the back
    static constexpr int kept_databases = 24;
    std::atomic<int> databases_{0};
    std::atomic<int> dropped_{0};
    bool shared_ = false;
};

}  // namespace svc::test
