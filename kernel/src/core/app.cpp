#include "core/app.hpp"

#include "core/dispatcher.hpp"
#include "core/idempotency.hpp"
#include "core/kernel_impl.hpp"
#include "core/memory.hpp"
#include "core/notifications.hpp"
#include "core/rate_windows.hpp"
#include "core/refusals.hpp"
#include "core/server_key.hpp"
#include "core/stream_registry.hpp"
#include "events/metrics.hpp"
#include "events/retention.hpp"
#include "http/listener.hpp"
#include "http/proxies.hpp"
#include "http/tls.hpp"
#include "jobs/metrics.hpp"
#include "svc/version.hpp"
#include "svc/workspace_jobs.hpp"

#include <Poco/Logger.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ranges>
#include <tuple>

namespace svc::core {

namespace {

using std::chrono::seconds;

/// The name of the module at fault goes in front, unless the message has it already, perhaps in the
/// name of a setting.
[[noreturn]] void rethrow_for(std::string_view module, const std::exception& problem) {
    const std::string text = problem.what();
    if (text.starts_with("module ") || text.starts_with(std::string(module) + "."))
        throw std::runtime_error(text);
    throw std::runtime_error("module " + std::string(module) + ": " + text);
}

LogFormat format_of(const LogSettings& settings) {
    return settings.form == LogForm::json ? LogFormat::json : LogFormat::text;
}

int open_access_log(const std::string& where) {
    if (where == "off") return -1;
    if (where == "stdout") return STDOUT_FILENO;
    const int fd = ::open(where.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0640);
    if (fd < 0)
        throw std::runtime_error("log.access: cannot write " + where + ": " + std::strerror(errno));
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
    to.most_held = static_cast<std::size_t>(from.waiting_mebibytes) << 20;
    to.write_deadline = seconds(from.write_seconds);
    to.certificate = from.certificate;
    to.key = from.key;
    to.trusted_proxies = from.trusted_proxies;
    return to;
}

Admission::Settings admission_settings(const ServerSettings& from) {
    const auto share = [&](std::int64_t set, std::int64_t usual) {
        const auto most = std::clamp<std::int64_t>(set > 0 ? set : usual, 1, from.workers);
        return static_cast<std::size_t>(most);
    };
    return {
        .workers = static_cast<std::size_t>(from.workers),
        .per_principal = share(from.workers_per_principal, (from.workers + 1) / 2),
        .per_workspace = share(from.workers_per_workspace, (from.workers * 3 + 3) / 4),
        .background =
            share(from.background_requests, std::max(1U, std::thread::hardware_concurrency())),
        .waiting = static_cast<std::size_t>(from.queue),
        .waiting_of_one = static_cast<std::size_t>(from.queue_per_principal),
        .bytes_of_one = (static_cast<std::size_t>(from.waiting_mebibytes) << 20) / 4,
    };
}

// Of so many workers one may run calls that have waited; the others are there for new ones.
constexpr std::int64_t workers_per_waker = 4;

sigset_t signals(std::initializer_list<int> numbers) {
    sigset_t set;
    sigemptyset(&set);
    for (const int each : numbers) sigaddset(&set, each);
    return set;
}

/// Waits for a signal to end or to read files again. All threads are started with them blocked.
int wait_for_signal() {
    const auto set = signals({SIGTERM, SIGINT, SIGHUP});
    int which = 0;
    sigwait(&set, &which);
    return which;
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
      bus_(std::make_unique<bus::ServerBus>()),
      streams_(std::make_unique<StreamRegistry>(kernel_->impl(), *bus_)),
      notifications_(std::make_unique<DatabaseNotifications>(kernel_->impl())) {
    Memory::begin();
    kernel_->impl().streams = streams_.get();
    kernel_->offer<OpenStreams>(*streams_);
    kernel_->offer<Upkeep>(kernel_->impl().upkeep);
    kernel_->offer<ServerStatus>(status_);
    kernel_->offer<Jobs>(kernel_->impl().jobs);
    kernel_->offer<Notifications>(*notifications_);
    kernel_->offer<Bus>(*bus_);
    config_.read("", record_of<TopSettings>(), &top_);
    config_.read("server", record_of<ServerSettings>(), &server_settings_);
    config_.read("database", record_of<DatabaseSettings>(), &database_settings_);
    config_.read("log", record_of<LogSettings>(), &log_settings_);
    config_.read("metrics", record_of<MetricsSettings>(), &metrics_settings_);
    config_.read("events", record_of<EventSettings>(), &event_settings_);
    open_logs(format_of(log_settings_), name_of(log_settings_.level));
    add_kernel_checks();
    add_kernel_jobs();
}

App::~App() { stop(); }

void App::resolve_key(Touch touch) {
    auto& impl = kernel_->impl();
    if (touch != Touch::look) {
        std::error_code ignored;
        std::filesystem::create_directories(server_settings_.var, ignored);
        if (!std::filesystem::is_directory(server_settings_.var))
            throw std::runtime_error("server.var: cannot make the folder " + server_settings_.var);
    }
    impl.secret = std::make_unique<Secret>(
        server_settings_.secret,
        impl.var_folder + "/server.key",
        touch == Touch::make ? Secret::Missing::make : Secret::Missing::go_without
    );
}

void App::open_modules(Touch touch) {
    auto& impl = kernel_->impl();
    impl.config = &config_;
    impl.var_folder = std::filesystem::absolute(server_settings_.var);
    impl.share_folder = places_.share;
    resolve_key(touch);
    http::Proxies{server_settings_.trusted_proxies};  // names what is wrong, also to check-config
    impl.base_url = server_settings_.base_url;
    while (impl.base_url.ends_with('/')) impl.base_url.pop_back();
    if (impl.base_url.empty())
        impl.base_url = listening_url(static_cast<std::uint16_t>(server_settings_.port));

    modules_ = load_modules(places_.modules, top_.modules, top_.plugins);
    for (Loaded& each : modules_) {
        impl.opening = each.card->name;
        impl.upkeep.opening(impl.opening);
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
    impl.upkeep.opening("");
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

const Secret& App::secret() const { return *kernel_->impl().secret; }

std::string App::place_of_secret() const {
    if (!server_settings_.secret.empty()) return "server.secret";
    return kernel_->var_folder() + "/server.key";
}

std::optional<std::int64_t> App::check_certificate() const {
    const auto& [certificate, key] = std::tie(server_settings_.certificate, server_settings_.key);
    if (certificate.empty() && key.empty()) return std::nullopt;
    return http::TlsContext(certificate, key).seconds_left();
}

void App::start_modules() {
    for (Loaded& each : modules_) {
        try {
            each.module->start();
            ++started_;
        } catch (const std::exception& problem) {
            rethrow_for(each.card->name, problem);
        }
    }
}

void App::add_kernel_jobs() {
    kernel_->impl().upkeep.add_metrics([this] {
        return jobs::job_metrics(kernel_->impl().jobs, database());
    });
    kernel_->impl().upkeep.add_metrics([this] {
        std::vector<std::string> names;
        for (const Consumer& each : kernel_->impl().consumers) names.push_back(each.name);
        return events::consumer_metrics(database(), names);
    });
    add_recurring_job(*kernel_, "idempotency.sweep", std::chrono::minutes(10), [this] {
        sweep_idempotency_keys(database());
    });
    add_recurring_job(*kernel_, "rate_limits.sweep", std::chrono::minutes(10), [this] {
        sweep_rate_windows(database());
    });
    add_recurring_job(*kernel_, "events.sweep", std::chrono::minutes(10), [this] {
        events::drop_old_events(database(), std::chrono::days(event_settings_.keep_days));
    });
}

void App::start_timers() {
    auto& impl = kernel_->impl();
    kernel_->every("access log", seconds(1), [this] { access_log_->flush(); });
    kernel_->every("memory", seconds(5), [memory = std::make_shared<Memory>()] {
        memory->give_back();
    });
    kernel_->every("refusals", seconds(10), [&impl] {
        note_rest_of_refusals(impl, RefusalCounts::Clock::now() - RefusalCounts::longest);
    });
    timers_ = std::make_unique<Timers>(impl.timers);
}

/// Before any thread is begun, for they read the address; who connects waits until all is there.
void App::bind() {
    listener_.set(
        http::listen_on(server_settings_.address, static_cast<std::uint16_t>(server_settings_.port))
    );
    if (server_settings_.base_url.empty())
        kernel_->impl().base_url = listening_url(http::port_of(listener_.get()));
}

void App::start_server() {
    std::vector<std::string> version_headers{std::string(version_header)};
    for (const auto& each : server_settings_.compat_version_headers)
        version_headers.push_back(each);
    std::string transport_security;
    if (const auto days = server_settings_.https_only_days; days > 0)
        transport_security = "max-age=" + std::to_string(days * 86'400);
    dispatcher_ = std::make_unique<Dispatcher>(
        *kernel_,
        Dispatcher::Settings{std::move(version_headers), std::move(transport_security)},
        *access_log_
    );
    server_ = std::make_unique<http::Server>(http_settings(server_settings_), *dispatcher_);
    server_->start(listener_.release());
}

void App::start() {
    auto& impl = kernel_->impl();
    started_at_ = static_cast<double>(Timestamp::now().micros) / 1e6;
    access_log_ = std::make_unique<AccessLog>(
        open_access_log(log_settings_.access), format_of(log_settings_)
    );
    bind();
    start_modules();
    start_events();
    start_timers();
    impl.wait_queue.set(
        {.most_running = static_cast<std::size_t>(
             std::max<std::int64_t>(1, server_settings_.workers / workers_per_waker)
         ),
         .most_per_principal = static_cast<std::size_t>(server_settings_.waits_per_principal)}
    );
    impl.admission.set(admission_settings(server_settings_));
    impl.admission.open();
    impl.request_groups.open();
    impl.largest_answer = static_cast<std::size_t>(server_settings_.answer_mebibytes) << 20;
    impl.budgets = kernel_->find<Budgets>();
    streams_->start();

    add_kernel_routes();
    add_kernel_gauges();
    add_reloads();
    start_server();
}

void App::serve() {
    open_modules();
    check_before_start();
    open_database();
    hold_to_one_key(database(), secret(), place_of_secret());
    if (!search_is_ready())
        Poco::Logger::get("db").warning(
            "searches read whole workspaces; as a superuser, in this database, run: " +
            std::string(make_search_ready)
        );
    start();
    announce();
    while (wait_for_signal() == SIGHUP) reload();
    drain();
    Poco::Logger::get("server").information("stopping: no new work, running requests are finished");
    stop();
}

/// Everything goes on, but whoever asks is told to send new requests elsewhere.
void App::drain() {
    if (server_settings_.drain_seconds == 0) return;
    draining_ = true;
    Poco::Logger::get("server").information("draining: other servers are to be asked from now on");
    const auto set = signals({SIGTERM, SIGINT});
    const timespec time{.tv_sec = server_settings_.drain_seconds, .tv_nsec = 0};
    sigtimedwait(&set, nullptr, &time);
}

void App::add_reloads() {
    Upkeep& upkeep = kernel_->impl().upkeep;
    upkeep.on_reload("server.certificate", [this] { server_->reload_certificate(); });
    upkeep.on_reload("log.access", [this] {
        if (log_settings_.goes_to_file())
            access_log_->go_on_in(open_access_log(log_settings_.access));
    });
}

/// What cannot be used stays as it is.
void App::reload() {
    auto& log = Poco::Logger::get("server");
    log.notice("reading certificate, log and scripts again");
    for (const auto& [name, run] : kernel_->impl().upkeep.reloads()) try {
            run();
        } catch (const std::exception& problem) {
            log.error(name + " stays as it was: " + problem.what());
        }
}

/// In the reverse order of start(); every part is there or is not yet.
void App::stop() noexcept {
    auto& impl = kernel_->impl();
    impl.stopping = true;
    impl.admission.close();
    impl.wait_queue.close();
    if (server_) server_->stop(seconds(server_settings_.stop_seconds));
    timers_.reset();
    streams_->stop();
    if (impl.database) note_rest_of_refusals(impl, RefusalCounts::Clock::now());
    if (sequencer_) sequencer_->stop();  // it wakes the consumers
    bus_->stop();
    if (consumers_) consumers_->stop();
    impl.jobs.stop();
    consumers_.reset();
    while (started_ > 0) modules_[--started_].module->stop();
    impl.request_groups.close();
    server_.reset();
    listener_.close();
    impl.sequencer = nullptr;
    sequencer_.reset();  // what ran until now may have nudged it
    dispatcher_.reset();
    if (access_log_) access_log_->flush();
    impl.hooks = {};
    while (!modules_.empty()) modules_.pop_back();
    impl.database.reset();
    embedded_.reset();
}

void App::announce() const {
    const std::string& url = kernel_->base_url();
    std::string text = "workboard: ready on " + listening_url(server_->port());
    text = log_settings_.form == LogForm::json ? log_line(LogFormat::json, "notice", "server", text)
                                               : text + "\n";
    if (log_settings_.form == LogForm::text && kernel_->find_operation("sign_up")) {
        text += "\n  The start page    " + url + "/\n";
        const auto is_reference = [](const auto& each) { return each.prefix == "/docs"; };
        if (std::ranges::any_of(kernel_->impl().folders, is_reference))
            text += "  The API, to try   " + url + "/docs\n";
        text += "  The first account " + url +
                "/signup, or by program\n\n"
                "    curl -s " +
                url + "/v1/auth/signup -H '" + std::string(version_header) + ": " +
                std::string(api_version) +
                "' \\\n"
                "      --json '{\"email\": \"you@example.com\", \"password\": \"a long "
                "password\"}'\n\n"
                "  The mail with the link to verify it is written to " +
                kernel_->var_folder() + "/mail" + "\n\n";
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

}  // namespace svc::core
