#pragma once

#include "svc/types.hpp"

namespace svc::bus_redis {

struct Settings {
    std::string host;
    std::int64_t port = 6379;
    bool tls = false;
    std::string username;
    std::string password;
    std::string ca_file;
    std::int64_t timeout_seconds = 2;
};

}  // namespace svc::bus_redis
