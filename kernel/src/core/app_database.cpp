// What of the App concerns its database.

#include "core/app.hpp"
#include "core/kernel_impl.hpp"
#include "db/home.hpp"

#include <Poco/Logger.h>

#include <unistd.h>

extern "C" const char svc_kernel_migrations[];

namespace svc::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Sql look_at_search{"kernel.look_at_search", R"(
    SELECT proleakproof AS ready FROM pg_proc
     WHERE oid = 'ts_match_vq(tsvector, tsquery)'::regprocedure)"};

struct SearchReady {
    bool ready = false;
};
SVC_RECORD(SearchReady, (ready));

void log_of_postgres(db::Embedded::Level level, std::string_view line) {
    auto& log = Poco::Logger::get("postgres");
    const std::string text(line);
    switch (level) {
        case db::Embedded::Level::information: return log.information(text);
        case db::Embedded::Level::warning: return log.warning(text);
        case db::Embedded::Level::error: return log.error(text);
    }
}

/// Where another user's server has made its key, it could not start a database that we make.
void require_own_key_file(const std::filesystem::path& file) {
    const auto owner = db::owner_of(file);
    if (owner && *owner != geteuid())
        throw std::runtime_error(db::belongs_to(file.string(), *owner));
}

}  // namespace

db::Database& App::database() { return *kernel_->impl().database; }

std::vector<db::Migration> App::migrations() const {
    auto steps = db::unpack_migrations("kernel", svc_kernel_migrations);
    for (const Loaded& each : modules_)
        for (auto& step : db::unpack_migrations(each.card->name, each.card->migrations))
            steps.push_back(std::move(step));
    return steps;
}

std::vector<db::Migration> App::pending_migrations() {
    return db::pending(database(), migrations());
}

std::vector<std::string> App::migrate() {
    std::vector<std::string> applied;
    for (const auto& step : db::migrate(database(), migrations()))
        applied.push_back(step.module + "/" + step.name);
    return applied;
}

std::filesystem::path App::own_database_folder() const {
    return kernel_->var_folder() + "/postgres";
}

bool App::database_was_made() const {
    return !has_own_database() || db::Embedded::exists(own_database_folder());
}

void App::open_database(Touch touch) {
    db::Settings settings;
    settings.url = database_settings_.url;
    settings.pool = static_cast<int>(database_settings_.pool);
    settings.pool_wait = seconds(database_settings_.pool_wait_seconds);
    settings.statement_timeout = seconds(database_settings_.statement_seconds);
    settings.slow = milliseconds(database_settings_.slow_milliseconds);
    settings.synchronous_commit = database_settings_.synchronous_commit;
    if (settings.url.empty()) {
        const auto folder = own_database_folder();
        if (touch == Touch::look && !database_was_made())
            throw std::runtime_error(
                "there is no database in " + folder.string() + " yet; `workboard serve` makes it"
            );
        if (!database_was_made()) require_own_key_file(kernel_->var_folder() + "/server.key");
        embedded_ = std::make_unique<db::Embedded>(folder, settings.pool, log_of_postgres);
        settings.url = embedded_->start();
    }
    kernel_->impl().database = std::make_unique<db::Database>(std::move(settings));
    database().open();
    if (touch == Touch::make) migrate();
}

bool App::search_is_ready() {
    bool ready = false;
    database().transact(Tx::Mode::read, [&](Tx& tx) {
        ready = tx.one<SearchReady>(look_at_search).value_or(SearchReady{}).ready;
    });
    return ready;
}

}  // namespace svc::core
