#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Bytes as text and back. Any thread.
namespace svc {

/// The same bytes under the other type.
inline std::string_view as_text(std::span<const std::uint8_t> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const std::uint8_t> as_bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Two lowercase digits for each byte.
std::string hex(std::string_view bytes);
inline std::string hex(std::span<const std::uint8_t> bytes) { return hex(as_text(bytes)); }
/// Digits in either case; nothing when there is anything else in it, or half a byte.
std::optional<std::string> from_hex(std::string_view text);

/// RFC 4648: the URL-safe alphabet without padding; the other one without, and with.
enum class Base64 { url, unpadded, padded };
std::string base64(std::string_view bytes, Base64 kind = Base64::url);
inline std::string base64(std::span<const std::uint8_t> bytes, Base64 kind = Base64::url) {
    return base64(as_text(bytes), kind);
}
/// Takes only what base64() of this kind writes, so that no bytes have two spellings.
std::optional<std::string> from_base64(std::string_view text, Base64 kind = Base64::url);

/// RFC 3986: every byte as %XX but the unreserved ones (letters, digits, -._~) and those in `kept`.
std::string percent_encoded(std::string_view text, std::string_view kept = {});

}  // namespace svc
