#pragma once

#include <optional>
#include <stdexcept>
#include <string>

/// Where a provider says its endpoints are.
namespace svc::idp_oidc {

/// The document is of no use, or would lead us where we do not go.
class BadDiscovery : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// What we go by of the discovery document.
struct Discovery {
    std::string authorization_endpoint, token_endpoint, jwks_uri;
    std::optional<std::string> userinfo_endpoint;
    bool basic_auth = true;     ///< takes the client's secret in a header, else in the form
    bool names_itself = false;  ///< comes back with `iss`
};

/// Throws BadDiscovery unless the document is this issuer's and its endpoints are https. They may
/// be http on this machine if the issuer is here too: a remote one must not send us to what listens
/// beside us.
Discovery parse_discovery(const std::string& text, const std::string& issuer);

}  // namespace svc::idp_oidc
