#include "modules/orgs/parts/mail_token.hpp"

#include <sodium.h>

namespace svc::orgs {

std::string new_mail_token() {
    std::array<unsigned char, 32> bytes{};
    randombytes_buf(bytes.data(), bytes.size());
    constexpr int variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
    std::string text(sodium_base64_encoded_len(bytes.size(), variant), '\0');
    sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), variant);
    text.pop_back();  // the terminating NUL
    return text;
}

TokenDigest::TokenDigest(std::string_view token) {
    crypto_hash_sha256(
        bytes_.data(), reinterpret_cast<const unsigned char*>(token.data()), token.size()
    );
}

}  // namespace svc::orgs
