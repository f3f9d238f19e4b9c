#pragma once

#include "svc/types.hpp"

namespace svc::mail_smtp {

enum class Security { starttls, tls, none };
BOOST_DESCRIBE_ENUM(Security, starttls, tls, none)

struct Settings {
    std::string host;
    std::int64_t port = 587;
    Security security = Security::starttls;
    std::string username;
    std::string password;
    std::string ca_file;
    std::string greeting;
    std::int64_t timeout_seconds = 30;
};

}  // namespace svc::mail_smtp
