#pragma once

#include "svc/bus.hpp"
#include "svc/tx.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// PostgreSQL. The files in this folder are the only ones that know libpq.
namespace svc::db {

struct Settings {
    std::string url;                             ///< a libpq URL or keyword string
    std::string url_setting = "database.url";    ///< what errors call it
    int pool = 16;                               ///< connections at most
    std::chrono::milliseconds pool_wait{5'000};  ///< for a free one, then 503
    std::chrono::milliseconds statement_timeout{5'000};
    std::chrono::milliseconds slow{200};  ///< statements that take longer are logged by name
    bool synchronous_commit = true;
};

struct Load {
    int connections, busy, waiting;
    std::uint64_t round_trips, statements, prepared, retries, reconnects;
    double wait_seconds;
};

class Database {
public:
    explicit Database(Settings settings);
    ~Database();
    /// Connects once and checks the server's version (15+) and that the role is subject to
    /// row-level security (no superuser, no BYPASSRLS); throws std::runtime_error saying what to
    /// do.
    void open();
    void close() noexcept;

    std::unique_ptr<Tx> begin(Tx::Mode mode);
    /// begin, work, commit; again after RetryTransaction, three times at most.
    void transact(Tx::Mode mode, const std::function<void(Tx&)>& work);

    /// A connection of its own outside the pool that holds a session advisory lock as long as the
    /// object lives and the connection stands. Null when another session holds the lock.
    class Lock {
    public:
        virtual ~Lock() = default;
        virtual std::unique_ptr<Tx> begin() = 0;  ///< a writing transaction on that connection
        virtual bool held() const = 0;            ///< false once the connection was lost
    };
    std::unique_ptr<Lock> try_lock(std::int64_t key);

    /// A connection of its own outside the pool that carries messages by LISTEN and NOTIFY; of the
    /// server that `url` names, or of this one when it is empty. The database has to outlive it.
    /// Throws std::runtime_error when it cannot be made.
    std::unique_ptr<BusConnection> listen(const std::string& url, const std::string& channel);

    bool reachable() noexcept;  ///< one round trip, short timeout
    Load load() const;
    const Settings& settings() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// A numbered step of a module's schema.
struct Migration {
    std::string module;
    int number = 0;
    std::string name;  ///< the file's name
    std::string sql;
};

/// Unpacks what the build packed into ModuleCard::migrations.
std::vector<Migration> unpack_migrations(std::string_view module, std::string_view packed);

/// Makes the table that says which steps were applied.
extern const char* const migrations_table;

/// What is missing. Changes nothing; throws as migrate() does when what was applied is not there.
std::vector<Migration> pending(Database& database, const std::vector<Migration>& steps);

/// Applies what is missing, in order, each in a transaction of its own, under an advisory
/// lock; checks that what was applied has not changed. Throws std::runtime_error naming module
/// and file. Returns what it applied. One round trip when there is nothing to do.
std::vector<Migration> migrate(Database& database, const std::vector<Migration>& steps);

/// The server's own PostgreSQL cluster: initdb once, a unix socket only, run as an unprivileged
/// user when we are root, stopped with the server.
class Embedded {
public:
    enum class Level { information, warning, error };
    using Log = std::function<void(Level, std::string_view)>;
    /// `pool`: how many connections a server on it has at most; there is room for three.
    Embedded(const std::filesystem::path& folder, int pool, Log log);
    ~Embedded();
    /// Starts it (or takes over one that a killed server left behind) and returns the URL. Throws
    /// std::runtime_error saying why it does not start, or which user's it is.
    std::string start();
    void stop() noexcept;

    /// Whether one was made in this folder, or where it is kept instead when PostgreSQL's user
    /// cannot reach the folder. Changes nothing. Throws std::runtime_error when it is another
    /// user's.
    static bool exists(const std::filesystem::path& folder);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace svc::db
