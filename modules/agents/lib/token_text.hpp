#pragma once

#include <string>
#include <string_view>

/// What a bearer token looks like: `svc_` and 43 characters out of 62, of which the last six are
/// a checksum of the others, so that a scanner of leaked secrets, or we before asking the
/// database, can tell a token from noise (docs/decisions/0010).
namespace svc::agents {

/// A fresh one: 37 random characters, 220 bits.
std::string new_token();

/// The one that belongs to a seed of 32 secret bytes.
std::string token_of(std::string_view seed);

bool is_token(std::string_view text);

/// As lists show it: the beginning and the end.
std::string hint_of(std::string_view token);

/// SHA-256 in hexadecimal: what is kept of a token, and how it is looked up.
std::string digest_of(std::string_view token);

}  // namespace svc::agents
