#pragma once

#include "plugins/idp-oidc/lib/keys.hpp"

#include <boost/json/object.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>

/// ID tokens (OpenID Connect Core, section 3.1.3.7).
namespace svc::idp_oidc {

/// The token does not hold; says why.
class BadToken : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A token taken apart, nothing of it believed yet.
struct Token {
    Algorithm algorithm{};
    std::string key_id;  ///< empty when it names none
    std::string signed_text, signature;
    boost::json::object claims;

    /// Throws BadToken when it is no JWS of an algorithm that is believed.
    static Token parse(std::string_view text);

    /// One of the keys has signed it.
    bool is_signed_by(const std::vector<Key>& keys) const;
};

struct Expected {
    std::string issuer, client_id, nonce;
    std::int64_t now = 0;      ///< seconds since 1970
    std::int64_t leeway = 60;  ///< for clocks that differ, in seconds
};

/// Throws BadToken unless the token was made by that issuer, for this client and this sign-in,
/// and holds now. Says nothing of its signature.
void check_claims(const boost::json::object& claims, const Expected& expected);

}  // namespace svc::idp_oidc
