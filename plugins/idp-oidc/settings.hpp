#pragma once

#include "svc/types.hpp"

namespace svc::idp_oidc {

struct Settings {
    std::string issuer = "https://accounts.google.com";
    std::string client_id;
    std::string client_secret;
    std::string scope = "openid email profile";
    std::string ca_file;
    std::int64_t timeout_seconds = 5;
};
SVC_RECORD(
    Settings,
    (issuer,
     "The OpenID Connect provider that people may sign in with; Google, unless it is another.",
     length(8, 2000),
     defaulted),
    (client_id,
     "What the provider calls this server; empty: nobody signs in this way. The provider has to "
     "know the address `/v1/auth/google/callback` of this server.",
     length(0, 500),
     defaulted),
    (client_secret,
     "What the provider gave with it; empty where it gave none.",
     length(0, 4096),
     defaulted,
     secret),
    (scope, "What is asked for; `openid` and `email` are needed.", length(6, 500), defaulted),
    (ca_file,
     "A PEM file with the authorities that may vouch for the provider; empty: the system's.",
     length(0, 4096),
     defaulted),
    (timeout_seconds, "For one request to the provider.", range(1, 7), defaulted)
);

}  // namespace svc::idp_oidc
