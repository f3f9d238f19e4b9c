#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// The secret in an invitation's mail: 256 random bits, kept as its digest.
namespace svc::orgs {

/// 43 characters of base64url.
std::string new_mail_token();

/// SHA-256.
class TokenDigest {
public:
    explicit TokenDigest(std::string_view token);
    std::span<const std::uint8_t> bytes() const { return bytes_; }

private:
    std::array<std::uint8_t, 32> bytes_{};
};

}  // namespace svc::orgs
