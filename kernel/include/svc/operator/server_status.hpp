#pragma once

#include "svc/operator/upkeep.hpp"

namespace svc {

/// A feature or a driver that is on.
struct LoadedModule {
    std::string name, version;
    bool is_driver = false;
    std::vector<std::string> needs;  ///< the modules that it builds on
};

/// A setting as it is in force.
struct SettingInForce {
    std::string section;  ///< the module's name, or the kernel's: "server"; empty: the file's top
    std::string name;
    std::string value;   ///< as TOML; a secret is not shown
    std::string source;  ///< "config/workboard.toml:12", "WORKBOARD_SERVER__PORT"; empty: the default
};

/// What the server knows of itself. Offered by the kernel; any thread.
class ServerStatus {
public:
    static constexpr std::string_view name = "kernel.ServerStatus";
    virtual ~ServerStatus() = default;
    virtual std::vector<LoadedModule> loaded_modules() const = 0;
    virtual std::vector<SettingInForce> settings() const = 0;
    /// What /metrics says, but for requests one by one; the database is asked every ten seconds at
    /// most.
    virtual std::vector<Metric> metrics() = 0;
};

}  // namespace svc
