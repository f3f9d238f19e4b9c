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
SVC_RECORD(
    Settings,
    (host,
     "The server that takes the mails; empty: this driver stays off.",
     length(0, 253),
     defaulted),
    (port,
     "Its port: 587 with `starttls`, 465 with `tls`, 25 with `none`.",
     range(1, 65535),
     defaulted),
    (security,
     "`starttls`: encrypted after the greeting, or not at all sent. `tls`: from the first byte. "
     "`none`: in the clear, for a server on this machine.",
     defaulted),
    (username, "Whom to log in as; empty: no log-in.", length(0, 320), defaulted),
    (password, "The password of that log-in.", length(0, 4096), defaulted, secret),
    (ca_file,
     "A PEM file with the authorities that may vouch for the server; empty: the system's.",
     length(0, 4096),
     defaulted),
    (greeting,
     "The name this server gives itself; empty: its own host name.",
     length(0, 253),
     matches("^[A-Za-z0-9.:\\[\\]-]*$"),
     defaulted),
    (timeout_seconds,
     "For everything it takes to hand over one mail, together.",
     range(1, 60),
     defaulted)
);

}  // namespace svc::mail_smtp
