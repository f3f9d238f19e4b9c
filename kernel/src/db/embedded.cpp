#include "db/cluster.hpp"
#include "db/database.hpp"
#include "db/home.hpp"

#include <libpq-fe.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace svc::db {

namespace fs = std::filesystem;

namespace {

/// For a machine that PostgreSQL shares with the server, and often with much else. What a table of
/// its own needs, such as more frequent vacuuming, is said where the table is made.
const std::vector<std::string> tuning{
    // Touched only as far as it is used: a small board stays small.
    "shared_buffers=128MB",
    "unix_socket_permissions=0700",
    "timezone=UTC",
    "log_timezone=UTC",
    // Refused statements are the server's business and may hold people's data.
    "log_min_messages=log",
    "log_checkpoints=off",
    // Statements are short. Compiling one whose cost was misjudged takes 0.2 s each time, and
    // helpers of one statement take the processors from the others.
    "jit=off",
    "max_parallel_workers_per_gather=0",
    // Keys are followed, not scans, on a disk that does not seek.
    "random_page_cost=1.1",
    // After each checkpoint the first change of a page writes the page whole: fewer of them, and
    // the pages compressed.
    "max_wal_size=2GB",
    "checkpoint_timeout=15min",
    "wal_compression=lz4",
    // A young database is as quick as an old one: plans for what was there are soon made anew.
    "autovacuum_naptime=5s",
    "autovacuum_analyze_threshold=20"};

/// For three servers: beside its pool each has connections that hold locks or listen. Commands have
/// theirs.
std::string enough_connections(int pool) {
    constexpr int servers = 3, beside_pool = 12, commands = 10, fewest = 60;
    const int wanted = servers * (pool + beside_pool) + commands;
    return "max_connections=" + std::to_string(std::max(wanted, fewest));
}

/// A socket's name holds 107 bytes, and libpq takes a comma for the end of a host.
bool fits_a_socket(const fs::path& folder) {
    constexpr std::size_t most = 107 - std::string_view("/.s.PGSQL.5432").size();
    const std::string text = folder.string();
    return text.size() <= most && std::ranges::all_of(text, [](unsigned char each) {
               return isalnum(each) ||
                      std::string_view("/._-").find(each) != std::string_view::npos;
           });
}

void run(PGconn* connection, const char* sql) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection, sql), &PQclear);
    if (PQresultStatus(result.get()) != PGRES_COMMAND_OK)
        throw std::runtime_error(std::string("PostgreSQL: ") + PQerrorMessage(connection));
}

bool has_rows(PGconn* connection, const char* sql) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection, sql), &PQclear);
    return PQntuples(result.get()) > 0;
}

}  // namespace

bool Embedded::exists(const fs::path& folder) { return fs::exists(home_of(folder) / "data"); }

class Embedded::Impl {
public:
    Impl(const fs::path& given, int most, Log say)
        : folder(fs::absolute(given).lexically_normal()), pool(most), log(std::move(say)) {}

    std::string start();
    void stop() noexcept;

private:
    fs::path home() const;
    Cluster::Plan plan() const;
    /// As the one who may do all.
    std::unique_ptr<PGconn, decltype(&PQfinish)> connect(std::string_view database) const;
    void make_role_and_database() const;
    void let_indexes_find_words() const;
    void watch();

    const fs::path folder;
    const int pool;
    const Log log;
    std::optional<FileLock> use;  // shared by all that use the cluster
    std::optional<Cluster> cluster;
    std::thread watcher;
    std::mutex mutex;
    std::condition_variable changed;
    bool stopping = false;
};

fs::path Embedded::Impl::home() const {
    const fs::path at = home_of(folder);
    if (at != folder)
        log(Level::information,
            "the user " + cluster_account().name + ", who runs PostgreSQL, cannot reach " +
                folder.string() + "; the data is in " + at.string());
    return at;
}

Cluster::Plan Embedded::Impl::plan() const {
    const fs::path at = home();
    const Account account = cluster_account();
    make_private_folder(at, account);
    fs::path socket = at / "socket";
    if (!fits_a_socket(socket)) socket = "/tmp/workboard-" + mark_of(at);
    std::vector<std::string> settings = tuning;
    settings.push_back(enough_connections(pool));
    return {postgres_programs_for(at / "data"), account, at / "data", socket, settings};
}

std::string Embedded::Impl::start() {
    cluster.emplace(plan());
    const fs::path at = cluster->plan().data.parent_path();
    {
        // One at a time, and not while another takes it down.
        const FileLock coming_and_going(at / "start.lock");
        use.emplace(at / "use.lock", FileLock::Share::shared);
        if (!fs::exists(cluster->plan().data))
            log(Level::information,
                "making a database cluster in " + cluster->plan().data.string());
        cluster->create();
        if (cluster->running() != 0)
            log(Level::information, "PostgreSQL runs already and is taken over");
        cluster->start();
        make_role_and_database();
    }
    watcher = std::thread([this] { watch(); });
    return cluster->url("workboard", "workboard");
}

std::unique_ptr<PGconn, decltype(&PQfinish)> Embedded::Impl::connect(std::string_view database
) const {
    std::unique_ptr<PGconn, decltype(&PQfinish)> connection(
        PQconnectdb(cluster->url("postgres", database).c_str()), &PQfinish
    );
    if (PQstatus(connection.get()) != CONNECTION_OK)
        throw std::runtime_error(std::string("PostgreSQL: ") + PQerrorMessage(connection.get()));
    return connection;
}

void Embedded::Impl::make_role_and_database() const {
    const auto connection = connect("postgres");
    if (!has_rows(connection.get(), "SELECT FROM pg_roles WHERE rolname = 'workboard'"))
        run(connection.get(), "CREATE ROLE workboard LOGIN NOSUPERUSER NOBYPASSRLS");
    if (!has_rows(connection.get(), "SELECT FROM pg_database WHERE datname = 'workboard'"))
        run(connection.get(), "CREATE DATABASE workboard OWNER workboard");
    let_indexes_find_words();
}

// Whether a text has the words that are looked for is all that the comparison tells of it, in
// errors or otherwise. Where PostgreSQL knows, row-level security lets an index answer that.
void Embedded::Impl::let_indexes_find_words() const {
    const auto connection = connect("workboard");
    if (!has_rows(
            connection.get(),
            "SELECT FROM pg_proc WHERE oid = 'ts_match_vq(tsvector, tsquery)'::regprocedure"
            " AND proleakproof"
        ))
        run(connection.get(), "ALTER FUNCTION ts_match_vq(tsvector, tsquery) LEAKPROOF");
}

/// Starts it again when something else has ended it.
void Embedded::Impl::watch() {
    std::unique_lock lock(mutex);
    std::string failure;  // said once, not at every attempt
    while (!changed.wait_for(lock, std::chrono::seconds(1), [this] { return stopping; })) try {
            if (cluster->running() == 0) {
                if (failure.empty()) log(Level::warning, "PostgreSQL has ended; starting it again");
                cluster->start();
            }
            failure.clear();
        } catch (const std::exception& problem) {
            if (std::exchange(failure, problem.what()) != problem.what())
                log(Level::error, problem.what());
        }
}

void Embedded::Impl::stop() noexcept {
    if (watcher.joinable()) {
        {
            const std::lock_guard lock(mutex);
            stopping = true;
        }
        changed.notify_one();
        watcher.join();
    }
    if (!use) return;
    try {
        const FileLock coming_and_going(cluster->plan().data.parent_path() / "start.lock");
        // The last one out turns off the light.
        if (use->try_exclusive() && !cluster->stop(Cluster::Stop::fast, std::chrono::seconds(30)))
            cluster->stop(Cluster::Stop::immediate, std::chrono::seconds(10));
    } catch (const std::exception& problem) {
        log(Level::error, problem.what());
    }
    use.reset();
}

Embedded::Embedded(const fs::path& folder, int pool, Log log)
    : impl_(std::make_unique<Impl>(folder, pool, std::move(log))) {}
Embedded::~Embedded() { impl_->stop(); }
std::string Embedded::start() { return impl_->start(); }
void Embedded::stop() noexcept { impl_->stop(); }

}  // namespace svc::db
