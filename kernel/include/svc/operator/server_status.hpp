#pragma once

#include "svc/operator/upkeep.hpp"

namespace svc {

/// A feature or a driver that is on.
struct LoadedModule {
    std::string name, version;
    bool is_driver = false;
    std::vector<std::string> needs;  ///< the modules that it builds on
};

/// What the server knows of itself. Offered by the kernel; any thread.
class ServerStatus {
public:
    static constexpr std::string_view name = "kernel.ServerStatus";
    virtual ~ServerStatus() = default;
    virtual std::vector<LoadedModule> loaded_modules() const = 0;
    /// What /metrics says of the process and of what modules look after; the database is asked
    /// every ten seconds at most.
    virtual std::vector<Metric> metrics() = 0;
};

}  // namespace svc
