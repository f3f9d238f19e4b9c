#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace svc::auth {

std::string random_bytes(std::size_t count);

enum class Base64 { plain, url };  ///< both without padding
std::string base64(std::string_view bytes, Base64 alphabet);
/// Empty when it is not base64url without padding.
std::string from_base64url(std::string_view text);

bool same_secret(std::string_view a, std::string_view b);

/// A secret that is mailed once and kept as its digest: 256 random bits.
std::string new_mail_token();

/// SHA-256.
class Digest {
public:
    explicit Digest(std::string_view secret);
    std::span<const std::uint8_t> bytes() const { return bytes_; }
    std::string hex() const;

private:
    std::array<std::uint8_t, 32> bytes_;
};

}  // namespace svc::auth
