#include "svc/module.hpp"

#include "svc/bus.hpp"

/// Servers wake each other by LISTEN and NOTIFY of their PostgreSQL; a driver that is set up and
/// stands before it in the list of plugins has precedence.
namespace svc::bus_postgres {

namespace {

struct Settings {
    std::string url;
};
SVC_RECORD(
    Settings,
    (url,
     "Where to listen, as in `database.url`: for when that leads through a pooler such as "
     "PgBouncer, which does not pass notifications on. Empty: `database.url`.",
     defaulted,
     secret)
);

class BusPostgres final : public Module, public BusDriver {
public:
    void open(Kernel& kernel) override {
        url_ = kernel.settings<Settings>().url;
        if (kernel.find<BusDriver>()) return;
        notifications_ = &kernel.use<Notifications>();
        kernel.offer<BusDriver>(*this);
    }

    std::string describe() const override { return "bus-postgres"; }

    std::unique_ptr<BusConnection> connect(const std::string& channel) override {
        return notifications_->listen(url_, channel);
    }

private:
    std::string url_;
    Notifications* notifications_ = nullptr;
};

}  // namespace

}  // namespace svc::bus_postgres

SVC_MODULE(svc::bus_postgres::BusPostgres, "bus-postgres");
