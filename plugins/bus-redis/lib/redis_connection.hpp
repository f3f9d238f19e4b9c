#pragma once

#include "plugins/bus-redis/lib/link.hpp"
#include "svc/bus.hpp"

namespace svc::bus_redis {

/// A channel of Redis. Two connections, for one that is subscribed can publish nothing in RESP2.
class RedisConnection final : public BusConnection {
public:
    RedisConnection(
        const Settings& settings, const Poco::Net::Context::Ptr& context, const std::string& channel
    );

    int descriptor() const override { return subscriber_.descriptor(); }
    void send(std::string_view message) override;
    std::vector<std::string> receive() override;

private:
    const std::string channel_;
    Link subscriber_, publisher_;
};

}  // namespace svc::bus_redis
