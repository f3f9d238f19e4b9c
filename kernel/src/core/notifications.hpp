#pragma once

#include "core/kernel_impl.hpp"
#include "svc/bus.hpp"

namespace svc::core {

/// LISTEN and NOTIFY for a plugin, once the database is open.
class DatabaseNotifications final : public Notifications {
public:
    explicit DatabaseNotifications(Kernel::Impl& kernel) : kernel_(kernel) {}

    std::unique_ptr<BusConnection> listen(const std::string& url, const std::string& channel)
        override {
        return kernel_.database->listen(url, channel);
    }

private:
    Kernel::Impl& kernel_;
};

}  // namespace svc::core
