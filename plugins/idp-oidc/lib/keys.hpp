#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct evp_pkey_st;

/// A provider's public keys (RFC 7517), and checking signatures by them (RFC 7515).
namespace svc::idp_oidc {

/// The ways of signing that are believed. Each goes with one type of key, and the key decides: a
/// token cannot have a public key taken for a shared secret, nor go without a signature.
enum class Algorithm { rs256, es256 };
std::optional<Algorithm> algorithm_of(std::string_view name);

struct Key {
    std::string id;  ///< empty when it has none
    Algorithm algorithm{};
    std::shared_ptr<evp_pkey_st> key;  // shared: a key set is replaced while tokens are checked
};

/// Those of the keys in a JWK set that tokens may be signed with: RSA of at least 2048 bits for
/// RS256, curve P-256 for ES256. Others are passed over; nothing when it is no key set.
std::optional<std::vector<Key>> parse_keys(std::string_view jwks);

bool is_signed(const Key& key, std::string_view text, std::string_view signature);

}  // namespace svc::idp_oidc
