#pragma once

#include "bus/server_bus.hpp"
#include "core/config.hpp"
#include "core/loader.hpp"
#include "core/logs.hpp"
#include "core/settings.hpp"
#include "core/timers.hpp"
#include "events/consumers.hpp"
#include "events/sequencer.hpp"
#include "http/descriptor.hpp"
#include "http/server.hpp"
#include "svc/kernel.hpp"
#include "svc/operator/server_status.hpp"
#include "svc/shared_text.hpp"

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>

namespace svc::core {

class Dispatcher;
class Secret;
class StreamRegistry;

/// Where the program's own files are; read off the place of the executable.
struct Places {
    std::filesystem::path modules;  ///< the libraries
    std::filesystem::path share;    ///< www/, scripts/, config/
    static Places of_this_program();
};

/// The program, stage by stage; each command goes as far as it needs. Main thread only.
/// Whatever is wrong is a std::runtime_error with one line for the operator.
class App {
public:
    App(Config::Sources sources, Places places);
    ~App();

    /// What a command may do besides its work: make the folder and the key that are missing and
    /// bring the schema up to date; make a database, but neither key nor schema; or change nothing.
    enum class Touch { make, fill, look };

    /// Reads the settings and opens the modules.
    void open_modules(Touch touch = Touch::make);
    /// Makes the folder and the key that are missing, for who has opened the modules to look.
    void make_folder_and_key() { resolve_key(Touch::make); }
    /// Opens the database, starting the embedded one if none is configured, and migrates. `look`
    /// makes no embedded database: std::runtime_error when there is none yet.
    void open_database(Touch touch = Touch::make);
    /// Serves until SIGTERM or SIGINT; SIGHUP has certificates, log and scripts read again. All
    /// three have to be blocked in every thread.
    void serve();

    Kernel& kernel() { return *kernel_; }
    const std::vector<Loaded>& modules() const { return modules_; }
    const Config& config() const { return config_; }
    db::Database& database();
    /// Applies the steps that the database lacks; their names.
    std::vector<std::string> migrate();
    /// Those steps, of the modules that are open.
    std::vector<db::Migration> pending_migrations();
    /// All steps of the modules that are open.
    std::vector<db::Migration> migrations() const;

    /// Whether PostgreSQL may answer searches by an index (docs/content.md), and what makes it.
    bool search_is_ready();
    static constexpr std::string_view make_search_ready =
        "ALTER FUNCTION ts_match_vq(tsvector, tsquery) LEAKPROOF;";

    const Places& places() const { return places_; }
    const ServerSettings& server_settings() const { return server_settings_; }
    const DatabaseSettings& database_settings() const { return database_settings_; }
    const Secret& secret() const;
    /// Where the key comes from: the setting, or the file.
    std::string place_of_secret() const;
    /// Whether the database is the server's own.
    bool has_own_database() const { return database_settings_.url.empty(); }
    /// False when the database is the server's own and no server has made it yet.
    bool database_was_made() const;
    /// Throws std::runtime_error when certificate or key are of no use; how long the certificate
    /// is good, in seconds. Nothing without TLS.
    std::optional<std::int64_t> check_certificate() const;
    /// Throws std::runtime_error, with the setting's name, when what a setting names is of no use
    /// to a server: its certificate, where it listens, the access log, the form of the database's
    /// URL, and what modules look at (Upkeep::before_start). Makes nothing.
    void check_before_start() const;

private:
    class Status final : public ServerStatus {
    public:
        explicit Status(App& app) : app_(app) {}
        std::vector<LoadedModule> loaded_modules() const override;
        std::vector<SettingInForce> settings() const override;
        std::vector<Metric> metrics() override;

    private:
        App& app_;
    };

    void resolve_key(Touch touch);
    void add_kernel_checks();
    std::filesystem::path own_database_folder() const;
    void add_reloads();
    void reload();
    bool metrics_are_private() const;
    void add_kernel_routes();
    void add_kernel_gauges();
    void bind();
    void start_modules();
    void start_events();
    void start_bus();
    void start_timers();
    void add_kernel_jobs();
    void start_server();
    void start();
    void drain();
    void stop() noexcept;
    void announce() const;
    std::string listening_url(std::uint16_t port) const;
    http::Answer ready() const;
    http::Answer document(const http::Request& request);
    http::Answer metrics(const http::Request& request);
    std::vector<Metric> read_module_metrics();
    /// Those of the process, and of modules.
    std::vector<Metric> all_metrics();

    Config config_;
    Places places_;
    TopSettings top_;
    ServerSettings server_settings_;
    DatabaseSettings database_settings_;
    LogSettings log_settings_;
    MetricsSettings metrics_settings_;
    EventSettings event_settings_;
    std::unique_ptr<db::Embedded> embedded_;
    std::unique_ptr<Kernel> kernel_;
    std::unique_ptr<bus::ServerBus> bus_;
    std::unique_ptr<StreamRegistry> streams_;
    std::unique_ptr<Notifications> notifications_;
    Status status_{*this};
    std::vector<Loaded> modules_;  // after the kernel: a module may use it until it is destroyed
    std::unique_ptr<AccessLog> access_log_;
    std::unique_ptr<Dispatcher> dispatcher_;
    std::unique_ptr<events::Sequencer> sequencer_;
    std::unique_ptr<events::Consumers> consumers_;
    std::unique_ptr<Timers> timers_;
    http::Descriptor listener_;  // until the server has it
    std::unique_ptr<http::Server> server_;
    std::size_t started_ = 0;  // how many modules were started
    std::atomic<bool> draining_{false};
    std::once_flag document_once_;
    std::optional<http::SharedText> document_;
    // What the modules' metrics said when they were last asked.
    double started_at_ = 0;  // seconds since 1970
    std::mutex metrics_mutex_;
    std::vector<Metric> module_metrics_;
    std::set<const Upkeep::Metrics*> unread_metrics_;  // which could not be read, and were logged
    std::chrono::steady_clock::time_point metrics_read_{};
};

}  // namespace svc::core
