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

}  // namespace svc::idp_oidc
