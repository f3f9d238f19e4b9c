#pragma once

#include "core/config.hpp"
#include "core/jobs.hpp"
#include "core/loader.hpp"
#include "core/logs.hpp"
#include "core/settings.hpp"
#include "events/consumers.hpp"
#include "events/sequencer.hpp"
#include "http/server.hpp"
#include "svc/kernel.hpp"

#include <memory>

namespace svc::core {

class Dispatcher;
class StreamKeeper;

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

    /// Reads the settings and opens the modules.
    void open_modules();
    /// Opens the database, starting the embedded one if none is configured, and migrates.
    void open_database();
    /// Serves until SIGTERM or SIGINT.
    void serve();

    Kernel& kernel() { return *kernel_; }
    const std::vector<Loaded>& modules() const { return modules_; }
    const Config& config() const { return config_; }
    db::Database& database();
    /// Applies the steps that the database lacks; their names.
    std::vector<std::string> migrate();

private:
    void add_kernel_routes();
    void add_kernel_gauges();
    void start();
    void stop() noexcept;
    void announce() const;
    std::string listening_url(std::uint16_t port) const;
    http::Answer ready() const;
    http::Answer metrics() const;

    Config config_;
    Places places_;
    TopSettings top_;
    ServerSettings server_settings_;
    DatabaseSettings database_settings_;
    LogSettings log_settings_;
    EventSettings event_settings_;
    std::unique_ptr<db::Embedded> embedded_;
    std::unique_ptr<Kernel> kernel_;
    std::unique_ptr<StreamKeeper> streams_;
    std::vector<Loaded> modules_;  // after the kernel: a module may use it until it is destroyed
    std::unique_ptr<AccessLog> access_log_;
    std::unique_ptr<Dispatcher> dispatcher_;
    std::unique_ptr<events::Sequencer> sequencer_;
    std::unique_ptr<events::Consumers> consumers_;
    std::unique_ptr<Jobs> jobs_;
    std::unique_ptr<http::Server> server_;
    std::size_t started_ = 0;  // how many modules were started
};

}  // namespace svc::core
