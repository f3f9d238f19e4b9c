#include "modules/boards/parts/share_token.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace svc::boards {

namespace {

constexpr std::size_t id_size = 16, secret_size = 32;
constexpr std::size_t text_size = 64;  // of both in base64, without padding
constexpr int variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;

}  // namespace

ShareToken::ShareToken(const Uuid& org) : org_(org), text_(prefix) {
    if (sodium_init() < 0) throw std::runtime_error("libsodium did not initialise");
    std::array<std::uint8_t, id_size + secret_size> bytes;
    std::ranges::copy(org.bytes(), bytes.begin());
    randombytes_buf(bytes.data() + id_size, secret_size);
    std::array<char, text_size + 1> text;
    sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), variant);
    text_ += text.data();
}

std::optional<ShareToken> ShareToken::parse(std::string_view text) {
    if (!text.starts_with(prefix) || text.size() != prefix.size() + text_size) return std::nullopt;
    ShareToken token;
    token.text_ = text;
    text.remove_prefix(prefix.size());
    std::array<std::uint8_t, id_size + secret_size> bytes;
    std::size_t size = 0;
    const char* end = nullptr;
    const int refused = sodium_base642bin(
        bytes.data(), bytes.size(), text.data(), text.size(), nullptr, &size, &end, variant
    );
    if (refused || size != bytes.size() || end != text.data() + text.size()) return std::nullopt;
    std::array<std::uint8_t, id_size> org;
    std::copy_n(bytes.begin(), org.size(), org.begin());
    token.org_ = Uuid(org);
    return token;
}

std::string ShareToken::digest() const {
    std::array<unsigned char, crypto_hash_sha256_BYTES> digest;
    crypto_hash_sha256(
        digest.data(), reinterpret_cast<const unsigned char*>(text_.data()), text_.size()
    );
    std::array<char, 2 * crypto_hash_sha256_BYTES + 1> hex;
    sodium_bin2hex(hex.data(), hex.size(), digest.data(), digest.size());
    return hex.data();
}

}  // namespace svc::boards
