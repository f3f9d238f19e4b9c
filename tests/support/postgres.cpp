#include "tests/support/postgres.hpp"

#include "db/cluster.hpp"
#include "db/programs.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"
#include "tests/support/places.hpp"
#include "tests/support/plans.hpp"
#include "tests/support/program.hpp"

#include <libpq-fe.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <stdexcept>

namespace svc::test {

namespace fs = std::filesystem;
using db::Account;
using db::Cluster;
using db::FileLock;

namespace {

/// Ends the shared cluster, and what killed test programs left behind, once nobody has held
/// users.lock for a while. Words: the folder.
constexpr const char* reaper = R"sh(
cd "$1" || exit
idle=0
while [ $idle -lt 20 ]; do
    sleep 1
    if flock --nonblock users.lock true; then idle=$((idle + 1)); else idle=0; fi
done
flock start.lock sh -c '
    flock --nonblock users.lock true || exit
    for pid in */data/postmaster.pid; do
        [ -f "$pid" ] && kill -QUIT "$(head -n 1 "$pid")"
    done
    sleep 1
    rm -rf shared own-* pristine'
)sh";

/// Where clusters are kept, of this build folder and this user: where the cluster's account can
/// reach it and a socket's name fits.
class Home {
public:
    explicit Home(const fs::path& in) {
        char name[64];
        snprintf(
            name,
            sizeof name,
            "workboard-tests-%u-%08zx",
            geteuid(),
            std::hash<std::string>()(build_folder().string()) & 0xffffffff
        );
        folder_ = in / name;
        db::make_private_folder(folder_, db::cluster_account());
    }

    fs::path operator/(std::string_view name) const { return folder_ / name; }

    /// Holds users.lock for as long as the process lives, and sees to it that a reaper watches.
    void attend() {
        if (user_) return;
        user_.emplace(*this / "users.lock", FileLock::Share::shared);
        db::start_program(
            {"", geteuid(), getegid()},
            {"/usr/bin/flock",
             "--nonblock",
             *this / "reaper.lock",
             "/bin/sh",
             "-c",
             reaper,
             "-",
             folder_},
            "/dev/null"
        );
    }

private:
    fs::path folder_;
    std::optional<FileLock> user_;
};

Home& fast_home() {
    static Home home(memory_folder());
    return home;
}
Home& durable_home() {
    static Home home("/tmp");
    return home;
}

Cluster::Plan plan_for(const fs::path& folder) {
    return {db::postgres_programs(), db::cluster_account(), folder / "data", folder / "socket", {}};
}

std::string name_in(std::string_view url) {
    const auto start = url.find("@/") + 2;
    return std::string(url.substr(start, url.find('?') - start));
}

using Answer = std::unique_ptr<PGresult, decltype(&PQclear)>;

bool done(const Answer& answer) {
    const auto status = PQresultStatus(answer.get());
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

std::vector<pid_t> processes_of(pid_t server) {
    std::vector<pid_t> found{server};
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const pid_t process = atoi(entry.path().filename().c_str());
        std::error_code gone;
        const auto cwd = process > 0 ? fs::read_symlink(entry.path() / "cwd", gone) : fs::path();
        if (!cwd.empty() && process != server &&
            cwd == fs::read_symlink("/proc/" + std::to_string(server) + "/cwd", gone))
            found.push_back(process);
    }
    return found;
}

/// Tells builds apart whose modules may bring other migrations.
std::string digest_of_build() {
    std::vector<fs::path> files{build_folder() / "bin/workboard"};
    for (const char* folder : {"lib/modules", "lib"})
        for (const auto& entry : fs::directory_iterator(build_folder() / folder))
            if (entry.path().extension() == ".so") files.push_back(entry.path());
    std::ranges::sort(files);
    std::string text;
    for (const fs::path& file : files)
        text += file.string() + ' ' + std::to_string(fs::file_size(file)) + ' ' +
                std::to_string(fs::last_write_time(file).time_since_epoch().count()) + '\n';
    return hex(sha256(text)).substr(0, 16);
}

}  // namespace

Postgres& Postgres::shared() {
    static Postgres instance{Shared()};
    return instance;
}

void Postgres::make_data(const fs::path& data) {
    // initdb takes a second, a copy of what it made a tenth of that. Half-made folders have
    // another name.
    if (fs::exists(data)) return;
    const FileLock making(fast_home() / "pristine.lock");
    fast_home().attend();
    Cluster pristine(plan_for(fast_home() / "pristine"));
    db::make_private_folder(pristine.plan().data.parent_path(), pristine.plan().account);
    pristine.create({"--no-sync"});
    fs::path copy = data;
    copy += ".new";
    fs::remove_all(copy);
    const auto copied = db::run_program(
        pristine.plan().account, {"/bin/cp", "-a", "--reflink=auto", pristine.plan().data, copy}
    );
    if (copied.status != 0) throw std::runtime_error("cannot copy a cluster: " + copied.output);
    fs::rename(copy, data);
}

Postgres::Postgres(Shared) : shared_(true) {
    const FileLock starting(fast_home() / "start.lock");
    fast_home().attend();
    prepare(
        fast_home() / "shared",
        {"fsync=off",
         "full_page_writes=off",
         "synchronous_commit=off",
         "shared_preload_libraries=pg_stat_statements",  // counts where Plans asks it to
         "pg_stat_statements.track=none",
         "pg_stat_statements.max=50000"}
    );
}

Postgres::Postgres(Disk disk, std::vector<std::string> settings) {
    static std::atomic<int> count{0};
    Home& home = disk == Disk::fast ? fast_home() : durable_home();
    const FileLock starting(home / "start.lock");
    home.attend();
    if (disk == Disk::fast) settings.push_back("fsync=off");
    prepare(
        home / ("own-" + std::to_string(getpid()) + "-" + std::to_string(++count)),
        std::move(settings)
    );
}

void Postgres::prepare(const fs::path& folder, std::vector<std::string> settings) {
    auto plan = plan_for(folder);
    // Several suites at once, each with servers of a pool and a dozen sessions.
    settings.insert(
        settings.begin(), {"shared_buffers=64MB", "max_connections=600", "autovacuum_naptime=10min"}
    );
    plan.settings = std::move(settings);
    cluster_ = std::make_unique<Cluster>(plan);
    db::make_private_folder(folder, plan.account);
    make_data(plan.data);
    cluster_->start();
    if (run("SELECT 1 FROM pg_roles WHERE rolname = 'workboard'").empty())
        run("CREATE ROLE workboard LOGIN");
}

Postgres::~Postgres() {
    try {
        if (shared_) {
            for (int number = 1; number <= databases_; ++number)
                run("DROP DATABASE IF EXISTS t" + std::to_string(getpid()) + "_" +
                    std::to_string(number) + " WITH (FORCE)");
            return;
        }
        resume();
        cluster_->stop(Cluster::Stop::immediate, std::chrono::seconds(10));
        fs::remove_all(cluster_->plan().data.parent_path());
    } catch (const std::exception& problem) {
        fprintf(stderr, "cleaning up PostgreSQL: %s\n", problem.what());
    }
}

std::string Postgres::fresh_database() {
    return make_database(shared_ ? migrated_template() : "template0");
}

std::string Postgres::empty_database() { return make_database("template0"); }

std::string Postgres::make_database(const std::string& from) {
    const std::string name = "t" + std::to_string(getpid()) + "_" + std::to_string(++databases_);
    drop_old_databases();
    run("DROP DATABASE IF EXISTS " + name);
    // Where nothing is durable, the checkpoints of copying files cost less than a log of pages.
    run("CREATE DATABASE " + name + " OWNER workboard TEMPLATE " + from + " STRATEGY file_copy");
    auto url = cluster_->url("workboard", name);
    return shared_ ? Plans::apply(*this, name, std::move(url)) : url;
}

void Postgres::drop_old_databases() {
    const int newest_to_go = databases_ - kept_databases;
    while (dropped_ < newest_to_go) {
        const auto old = "t" + std::to_string(getpid()) + "_" + std::to_string(dropped_ + 1);
        try {
            run("DROP DATABASE IF EXISTS " + old);
        } catch (const std::runtime_error&) {
            return;  // somebody still uses it
        }
        ++dropped_;
    }
}

std::string Postgres::migrated_template() {
    static const std::string name = "schema_" + digest_of_build();
    static std::once_flag made;
    std::call_once(made, [&] {
        const FileLock making(fast_home() / "schema.lock");
        if (!run("SELECT 1 FROM pg_database WHERE datname = '" + name + "'").empty()) return;
        // Half-made ones have another name.
        const std::string half = "half_" + name;
        run("DROP DATABASE IF EXISTS " + half);
        run("CREATE DATABASE " + half + " OWNER workboard TEMPLATE template0");
        const TempFolder var("workboard-schema");
        const auto migrated = test::run(
            {in_build("bin/workboard"),
             "migrate",
             "--database-url",
             cluster_->url("workboard", half),
             "--var",
             var.path()},
            {},
            source_folder()
        );
        if (migrated.code != 0) throw std::runtime_error("cannot migrate: " + migrated.output);
        run("ALTER DATABASE " + half + " RENAME TO " + name);
    });
    return name;
}

namespace {

std::string value_of(PGconn* session, std::string_view sql) {
    const Answer answer(PQexec(session, std::string(sql).c_str()), &PQclear);
    if (!done(answer)) throw std::runtime_error(PQerrorMessage(session));
    return PQntuples(answer.get()) > 0 ? PQgetvalue(answer.get(), 0, 0) : "";
}

}  // namespace

std::string Postgres::superuser_url(std::string_view url) const {
    return cluster_->url("postgres", name_in(url));
}

Postgres::Session Postgres::session_in(const std::string& database) const {
    {
        const std::lock_guard lock(sessions_mutex_);
        const auto last = std::ranges::find(
            sessions_.rbegin(), sessions_.rend(), database, &IdleSession::database
        );
        if (last != sessions_.rend()) {
            Session session = std::move(last->session);
            sessions_.erase(std::next(last).base());
            // One that the server closed meanwhile says so only when it is read from.
            if (PQconsumeInput(session.get()) == 1 && PQstatus(session.get()) == CONNECTION_OK)
                return session;
        }
    }
    const std::string where =
        cluster_->url("postgres", database) +
        "&options=-cclient_min_messages%3Dwarning%20-cstatement_timeout%3D60s";
    return {PQconnectdb(where.c_str()), &PQfinish};
}

void Postgres::keep(const std::string& database, Session session) const {
    constexpr std::size_t most = 4;  // a program with a database for each test leaves them behind
    if (PQtransactionStatus(session.get()) != PQTRANS_IDLE) return;
    const std::lock_guard lock(sessions_mutex_);
    sessions_.push_back({database, std::move(session)});
    if (sessions_.size() > most) sessions_.erase(sessions_.begin());
}

std::string Postgres::run(std::string_view sql, std::string_view url) const {
    // Tests ask often, and PostgreSQL starts a process for each connection: some are kept.
    const std::string database = url.empty() ? "postgres" : name_in(url);
    Session session = session_in(database);
    std::string value = value_of(session.get(), sql);
    keep(database, std::move(session));
    return value;
}

void Postgres::forget_sessions() {
    const std::lock_guard lock(sessions_mutex_);
    sessions_.clear();
}

void Postgres::stop() {
    forget_sessions();
    if (!cluster_->stop(Cluster::Stop::fast, std::chrono::seconds(30)))
        throw std::runtime_error("PostgreSQL does not stop");
}

void Postgres::crash() {
    forget_sessions();
    if (!cluster_->stop(Cluster::Stop::immediate, std::chrono::seconds(30)))
        throw std::runtime_error("PostgreSQL does not end");
}

void Postgres::start() { cluster_->start(); }

void Postgres::pause() {
    for (const pid_t process : processes_of(cluster_->running())) kill(process, SIGSTOP);
}

void Postgres::resume() {
    if (const pid_t server = cluster_->running())
        for (const pid_t process : processes_of(server)) kill(process, SIGCONT);
}

}  // namespace svc::test
