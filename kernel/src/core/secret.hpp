#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace svc::core {

/// The server's secret and what is derived from it. Servers that share a database share the
/// secret. Immutable; any thread.
class Secret {
public:
    /// At least 32 characters from the config, or a key kept in `file` (made on first use,
    /// readable by its owner alone). Throws std::runtime_error naming the place.
    Secret(const std::string& configured, const std::filesystem::path& file);
    /// For tests and commands that sign nothing that lasts.
    explicit Secret(std::string key);

    /// HMAC-SHA256 of `message` under a key of this purpose: 32 bytes.
    std::string sign(std::string_view purpose, std::string_view message) const;

    /// Encrypts under a key of this purpose and `context` (XSalsa20-Poly1305, random nonce).
    std::string seal(std::string_view purpose, std::string_view context, std::string_view text)
        const;
    /// What was sealed; empty when the text was made under another key or altered.
    std::string unseal(std::string_view purpose, std::string_view context, std::string_view sealed)
        const;

private:
    std::string key_;
};

}  // namespace svc::core
