#pragma once

#include "modules/agents/api.hpp"

#include <cstdint>

/// Codes and refresh tokens: which grant they are of, some random bytes, and a mark under the
/// server's key, so that what is none of ours is refused without a look into the database. Kept are
/// digests.
namespace svc::oauth {

enum class SecretKind { code, refresh };

struct Secret {
    agents::TokenPlace place;
    std::uint32_t generation = 0;  ///< of refresh tokens, from 0
    std::string nonce;             ///< 16 bytes
};

std::string write_secret(const Kernel& kernel, SecretKind kind, const Secret& secret);
/// Nothing when this server's key has not made it, as one of that kind.
std::optional<Secret> read_secret(const Kernel& kernel, SecretKind kind, std::string_view text);

/// A code for the grant, or its first refresh token.
std::string new_secret(const Kernel& kernel, SecretKind kind, const agents::TokenPlace& place);
/// The refresh token that is given for this one, whenever it is asked for.
std::string next_refresh_token(const Kernel& kernel, std::string_view refresh_token);
/// The seed of the access token that is given beside this refresh token.
std::string access_seed(const Kernel& kernel, std::string_view refresh_token);

/// SHA-256, in hex.
std::string digest_of(std::string_view secret);

}  // namespace svc::oauth
