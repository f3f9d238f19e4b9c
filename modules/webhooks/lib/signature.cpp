#include "modules/webhooks/lib/signature.hpp"

#include "svc/encoding.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <stdexcept>

namespace svc::webhooks {

namespace {

std::string hmac(std::string_view key, std::string_view text) {
    std::string out(EVP_MAX_MD_SIZE, '\0');
    unsigned size = 0;
    const auto bytes = as_bytes(text);
    if (!HMAC(
            EVP_sha256(),
            key.data(),
            static_cast<int>(key.size()),
            bytes.data(),
            bytes.size(),
            reinterpret_cast<unsigned char*>(out.data()),
            &size
        ))
        throw std::runtime_error("HMAC-SHA256 is not available");
    out.resize(size);
    return out;
}

/// Secrets of Standard Webhooks are base64 behind their prefix, in the alphabet with + and /.
std::string standard_key(std::string_view secret) {
    constexpr std::string_view prefix = "whsec_";
    if (!secret.starts_with(prefix)) return std::string(secret);
    std::string text(secret.substr(prefix.size()));
    for (char& each : text)
        if (each == '-') each = '+';
        else if (each == '_') each = '/';
    while (text.ends_with('=')) text.pop_back();
    return from_base64(text, Base64::unpadded).value_or(std::string(secret));
}

}  // namespace

std::string signature(
    const std::vector<std::string>& secrets, std::int64_t unix_seconds, std::string_view body
) {
    const std::string time = std::to_string(unix_seconds);
    std::string signed_text = time + ".";
    signed_text += body;
    std::string out = "t=" + time;
    for (const std::string& secret : secrets) out += ",v1=" + hex(hmac(secret, signed_text));
    return out;
}

std::string standard_signature(
    const std::vector<std::string>& secrets,
    std::string_view id,
    std::int64_t unix_seconds,
    std::string_view body
) {
    std::string signed_text(id);
    signed_text += "." + std::to_string(unix_seconds) + ".";
    signed_text += body;
    std::string out;
    for (const std::string& secret : secrets) {
        if (!out.empty()) out += ' ';
        out += "v1," + base64(hmac(standard_key(secret), signed_text), Base64::padded);
    }
    return out;
}

}  // namespace svc::webhooks
