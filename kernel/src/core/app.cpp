#include "core/app.hpp"

#include "core/dispatcher.hpp"
#include "core/idempotency.hpp"
#include "core/kernel_impl.hpp"
#include "core/refusals.hpp"
#include "core/stream_keeper.hpp"
#include "events/retention.hpp"
#include "svc/version.hpp"

#include <Poco/Logger.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ranges>

extern "C" const char svc_kernel_migrations[];

namespace svc::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The name of the module at fault goes in front, unless the message has it already.
[[noreturn]] void rethrow_for(std::string_view module, const std::exception& problem) {
    const std::string text = problem.what();
    if (text.starts_with("module ")) throw std::runtime_error(text);
    throw std::runtime_error("module " + std::string(module) + ": " + text);
}

int open_access_log(const std::string& where) {
    if (where == "off") return -1;
    if (where == "stdout") return STDOUT_FILENO;
    const int fd = ::open(where.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0640);
    if (fd < 0) throw std::runtime_error("log.access: cannot write " + where);
    return fd;
}

http::Settings http_settings(const ServerSettings& from) {
    http::Settings to;
    to.address = from.address;
    to.port = static_cast<std::uint16_t>(from.port);
    to.workers = static_cast<int>(from.workers);
    to.queue = static_cast<std::size_t>(from.queue);
    to.max_connections = static_cast<std::size_t>(from.max_connections);
    to.head_deadline = seconds(from.head_seconds);
    to.body_deadline = seconds(from.body_seconds);
    to.idle_deadline = seconds(from.idle_seconds);
    to.write_deadline = seconds(from.write_seconds);
    to.certificate = from.certificate;
    to.key = from.key;
    to.trusted_proxies = from.trusted_proxies;
    return to;
}

// Of so many workers one may run calls that have waited; the others are there for new ones.
constexpr std::int64_t workers_per_waker = 4;

/// Waits for the signal that ends the program. All threads are started with it blocked.
void wait_for_signal() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    int which = 0;
    sigwait(&set, &which);
}

}  // namespace

Places Places::of_this_program() {
    const auto program = std::filesystem::read_symlink("/proc/self/exe");
    const auto root = program.parent_path().parent_path();
    return {.modules = root / "lib" / "modules", .share = root / "share"};
}

App::App(Config::Sources sources, Places places)
    : config_(sources),
      places_(std::move(places)),
      kernel_(std::make_unique<Kernel>(std::make_unique<Kernel::Impl>())),
      streams_(std::make_unique<StreamKeeper>(kernel_->impl())) {
    kernel_->impl().streams = streams_.get();
    kernel_->offer<OpenStreams>(*streams_);
    config_.read("", record_of<TopSettings>(), &top_);
    config_.read("server", record_of<ServerSettings>(), &server_settings_);
    config_.read("database", record_of<DatabaseSettings>(), &database_settings_);
    config_.read("log", record_of<LogSettings>(), &log_settings_);
    config_.read("events", record_of<EventSettings>(), &event_settings_);
    open_logs(
        log_settings_.form == LogForm::json ? LogFormat::json : LogFormat::text,
        name_of(log_settings_.level)
    );
}

App::~App() { stop(); }

void App::open_modules() {
    auto& impl = kernel_->impl();
    std::error_code ignored;
    std::filesystem::create_directories(server_settings_.var, ignored);
    if (!std::filesystem::is_directory(server_settings_.var))
        throw std::runtime_error("server.var: cannot make the folder " + server_settings_.var);
    impl.config = &config_;
    impl.var_folder = std::filesystem::absolute(server_settings_.var);
    impl.share_folder = places_.share;
    impl.secret = std::make_unique<Secret>(server_settings_.secret, impl.var_folder / "server.key");
    impl.base_url = server_settings_.base_url;
    while (impl.base_url.ends_with('/')) impl.base_url.pop_back();
    if (impl.base_url.empty())
        impl.base_url = listening_url(static_cast<std::uint16_t>(server_settings_.port));

    modules_ = load_modules(places_.modules, top_.modules, top_.plugins);
    for (Loaded& each : modules_) {
        impl.opening = each.card->name;
        impl.tag.clear();
        try {
            each.module->open(*kernel_);
        } catch (const ConfigError&) {
            throw;
        } catch (const std::exception& problem) {
            rethrow_for(each.card->name, problem);
        }
    }
    impl.opening.clear();
    std::error_code no_folder;
    for (const auto& library : std::filesystem::directory_iterator(places_.modules, no_folder))
        config_.ignore(library.path().stem().string());
    config_.check();
}

std::string App::listening_url(std::uint16_t port) const {
    const std::string& address = server_settings_.address;
    const bool is_v6 = address.find(':') != address.npos;
    return (server_settings_.certificate.empty() ? "http://" : "https://") +
           (is_v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

db::Database& App::database() { return *kernel_->impl().database; }

std::vector<std::string> App::migrate() {
    auto steps = db::unpack_migrations("kernel", svc_kernel_migrations);
    for (const Loaded& each : modules_)
        for (auto& step : db::unpack_migrations(each.card->name, each.card->migrations))
            steps.push_back(std::move(step));
    std::vector<std::string> applied;
    for (const auto& step : db::migrate(database(), steps))
        applied.push_back(step.module + "/" + step.name);
    return applied;
}

void App::open_database() {
    db::Settings settings;
    settings.url = database_settings_.url;
    settings.pool = static_cast<int>(database_settings_.pool);
    settings.pool_wait = seconds(database_settings_.pool_wait_seconds);
    settings.statement_timeout = seconds(database_settings_.statement_seconds);
    settings.slow = milliseconds(database_settings_.slow_milliseconds);
    settings.synchronous_commit = database_settings_.synchronous_commit;
    if (settings.url.empty()) {
        embedded_ = std::make_unique<db::Embedded>(
            kernel_->var_folder() / "postgres",
            [](std::string_view line) {
                Poco::Logger::get("postgres").information(std::string(line));
            }
        );
        settings.url = embedded_->start();
    }
    kernel_->impl().database = std::make_unique<db::Database>(std::move(settings));
    database().open();
    migrate();
}

void App::start() {
    auto& impl = kernel_->impl();
    access_log_ = std::make_unique<AccessLog>(
        open_access_log(log_settings_.access),
        log_settings_.form == LogForm::json ? LogFormat::json : LogFormat::text
    );
    for (Loaded& each : modules_) {
        try {
            each.module->start();
            ++started_;
        } catch (const std::exception& problem) {
            rethrow_for(each.card->name, problem);
        }
    }
    consumers_ = std::make_unique<events::Consumers>(database(), impl.consumers);
    auto listeners = impl.listeners;
    listeners.push_back([this](std::span<const StoredEvent> batch) { consumers_->wake(batch); });
    sequencer_ = std::make_unique<events::Sequencer>(database(), std::move(listeners));
    impl.nudge = [this] { sequencer_->nudge(); };
    kernel_->every("access log", seconds(1), [this] { access_log_->flush(); });
    kernel_->every("idempotency keys", std::chrono::minutes(10), [this] {
        sweep_idempotency_keys(database());
    });
    kernel_->every("old events", std::chrono::minutes(10), [this] {
        events::drop_old_events(database(), std::chrono::days(event_settings_.keep_days));
    });
    kernel_->every("refusals", seconds(10), [&impl] {
        note_rest_of_refusals(impl, RefusalCounts::Clock::now() - RefusalCounts::longest);
    });
    jobs_ = std::make_unique<Jobs>(impl.jobs);
    impl.waits.set(
        {.most_running = static_cast<std::size_t>(
             std::max<std::int64_t>(1, server_settings_.workers / workers_per_waker)
         ),
         .most_per_principal = static_cast<std::size_t>(server_settings_.waits_per_principal)}
    );
    impl.budgets = kernel_->find<Budgets>();
    streams_->start();

    add_kernel_routes();
    add_kernel_gauges();
    std::vector<std::string> version_headers{std::string(version_header)};
    for (const auto& each : server_settings_.compat_version_headers)
        version_headers.push_back(each);
    dispatcher_ = std::make_unique<Dispatcher>(
        *kernel_, Dispatcher::Settings{std::move(version_headers)}, *access_log_
    );
    server_ = std::make_unique<http::Server>(http_settings(server_settings_), *dispatcher_);
    server_->start();
    if (server_settings_.base_url.empty()) impl.base_url = listening_url(server_->port());
}

void App::serve() {
    open_modules();
    open_database();
    start();
    announce();
    wait_for_signal();
    Poco::Logger::get("server").information("stopping: no new work, running requests are finished");
    stop();
}

/// In the reverse order of start(); every part is there or is not yet.
void App::stop() noexcept {
    auto& impl = kernel_->impl();
    impl.stopping = true;
    impl.waits.close();
    if (server_) server_->stop(seconds(server_settings_.stop_seconds));
    jobs_.reset();
    streams_->stop();
    if (impl.database) note_rest_of_refusals(impl, RefusalCounts::Clock::now());
    impl.nudge = [] {};
    if (sequencer_) sequencer_->stop();  // it wakes the consumers
    consumers_.reset();
    sequencer_.reset();
    while (started_ > 0) modules_[--started_].module->stop();
    server_.reset();
    dispatcher_.reset();
    if (access_log_) access_log_->flush();
    impl.hooks = {};
    while (!modules_.empty()) modules_.pop_back();
    impl.database.reset();
    embedded_.reset();
}

void App::announce() const {
    const std::string& url = kernel_->base_url();
    std::string text = "workboard: ready on " + listening_url(server_->port()) + "\n";
    if (log_settings_.form == LogForm::text && kernel_->find_operation("sign_up"))
        text +=
            "\n  The start page    " + url +
            "/\n"
            "  The API, to try   " +
            url +
            "/docs\n"
            "  The first account\n\n"
            "    curl -s " +
            url + "/v1/auth/signup -H '" + std::string(version_header) + ": " +
            std::string(api_version) +
            "' \\\n"
            "      --json '{\"email\": \"you@example.com\", \"password\": \"a long password\"}'\n\n"
            "  The mail with the link to verify it is written to " +
            (kernel_->var_folder() / "mail").string() + "\n\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

}  // namespace svc::core
