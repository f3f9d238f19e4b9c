#include "modules/auth/parts/secrets.hpp"

#include <openssl/sha.h>
#include <sodium.h>

namespace svc::auth {

namespace {

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string random_bytes(std::size_t count) {
    std::string out(count, '\0');
    randombytes_buf(out.data(), out.size());
    return out;
}

std::string base64(std::string_view bytes, Base64 alphabet) {
    const int variant = alphabet == Base64::url ? sodium_base64_VARIANT_URLSAFE_NO_PADDING
                                                : sodium_base64_VARIANT_ORIGINAL_NO_PADDING;
    std::string out(sodium_base64_encoded_len(bytes.size(), variant), '\0');
    sodium_bin2base64(out.data(), out.size(), bytes_of(bytes), bytes.size(), variant);
    out.pop_back();  // the NUL
    return out;
}

std::string from_base64url(std::string_view text) {
    std::string out(text.size(), '\0');
    std::size_t size = 0;
    const char* end = nullptr;
    const int failed = sodium_base642bin(
        reinterpret_cast<unsigned char*>(out.data()),
        out.size(),
        text.data(),
        text.size(),
        nullptr,
        &size,
        &end,
        sodium_base64_VARIANT_URLSAFE_NO_PADDING
    );
    if (failed || end != text.data() + text.size()) return {};
    out.resize(size);
    return out;
}

bool same_secret(std::string_view a, std::string_view b) {
    return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string new_mail_token() { return base64(random_bytes(32), Base64::url); }

Digest::Digest(std::string_view secret) { SHA256(bytes_of(secret), secret.size(), bytes_.data()); }

std::string Digest::hex() const {
    std::string out(2 * bytes_.size() + 1, '\0');
    sodium_bin2hex(out.data(), out.size(), bytes_.data(), bytes_.size());
    out.pop_back();
    return out;
}

}  // namespace svc::auth
