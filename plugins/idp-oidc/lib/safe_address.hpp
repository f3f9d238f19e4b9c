#pragma once

#include "modules/lib/http_client/http_client.hpp"

namespace svc::idp_oidc {

/// Where the provider may be asked: https, or http on this machine. Throws HttpError.
WebAddress safe_address(const std::string& url);

}  // namespace svc::idp_oidc
