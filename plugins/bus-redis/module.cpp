#include "svc/module.hpp"

#include "modules/lib/http_client/dial.hpp"
#include "plugins/bus-redis/lib/redis_connection.hpp"

/// Servers wake each other through Redis, or what speaks as Redis does.
namespace svc::bus_redis {

SVC_RECORD(
    Settings,
    (host,
     "The Redis through which servers of one database wake each other; empty: this driver stays "
     "off.",
     length(0, 253),
     defaulted),
    (port, "Its port.", range(1, 65535), defaulted),
    (tls,
     "Encrypt the connection. What is sent is signed in any case, and has no contents.",
     defaulted),
    (username, "Whom to log in as; empty: the default user.", length(0, 320), defaulted),
    (password, "The password of that log-in; empty: no log-in.", length(0, 4096), defaulted, secret
    ),
    (ca_file,
     "A PEM file with the authorities that may vouch for the server; empty: the system's.",
     length(0, 4096),
     defaulted),
    (timeout_seconds, "For a connection or an answer.", range(1, 30), defaulted)
);

namespace {

class BusRedis final : public Module, public BusDriver {
public:
    void open(Kernel& kernel) override {
        settings_ = kernel.settings<Settings>();
        if (settings_.host.empty() || kernel.find<BusDriver>()) return;
        if (settings_.password.empty() && !settings_.username.empty())
            throw std::runtime_error("bus-redis.password is needed with bus-redis.username");
        if (settings_.tls) {
            check_ca_file("bus-redis.ca_file", settings_.ca_file);
            context_ = tls_context(settings_.ca_file);
        }
        kernel.offer<BusDriver>(*this);
    }

    std::string describe() const override {
        return "bus-redis at " + settings_.host + ":" + std::to_string(settings_.port);
    }

    std::unique_ptr<BusConnection> connect(const std::string& channel) override {
        return std::make_unique<RedisConnection>(settings_, context_, channel);
    }

private:
    Settings settings_;
    Poco::Net::Context::Ptr context_;
};

}  // namespace

}  // namespace svc::bus_redis

SVC_MODULE(svc::bus_redis::BusRedis, "bus-redis");
