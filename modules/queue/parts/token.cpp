#include "modules/queue/parts/token.hpp"

#include <sodium.h>

#include <algorithm>

namespace svc::queue {

namespace {

constexpr std::string_view prefix = "lt_";
constexpr std::size_t bytes_size = 16 + LeaseToken::secret_size;
constexpr std::size_t text_size = 43;
constexpr int variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;

}  // namespace

LeaseToken::Secret LeaseToken::new_secret() {
    Secret secret;
    randombytes_buf(secret.data(), secret.size());
    return secret;
}

std::optional<LeaseToken> LeaseToken::parse(std::string_view text) {
    if (!text.starts_with(prefix) || text.size() != prefix.size() + text_size) return std::nullopt;
    text.remove_prefix(prefix.size());
    std::array<std::uint8_t, bytes_size> bytes;
    std::size_t size = 0;
    const char* end = nullptr;
    const int refused = sodium_base642bin(
        bytes.data(), bytes.size(), text.data(), text.size(), nullptr, &size, &end, variant
    );
    if (refused || size != bytes.size() || end != text.data() + text.size()) return std::nullopt;
    std::array<std::uint8_t, 16> card;
    Secret secret;
    std::copy_n(bytes.begin(), card.size(), card.begin());
    std::copy_n(bytes.begin() + card.size(), secret.size(), secret.begin());
    return LeaseToken(Uuid(card), secret);
}

LeaseToken::Digest LeaseToken::digest_of(const Secret& secret) {
    Digest digest;
    crypto_hash_sha256(digest.data(), secret.data(), secret.size());
    return digest;
}

bool LeaseToken::matches(std::string_view digest) const {
    const Digest mine = digest_of(secret_);
    std::array<char, 2 * mine.size() + 1> hex;
    sodium_bin2hex(hex.data(), hex.size(), mine.data(), mine.size());
    constexpr std::string_view mark = "\\x";
    if (!digest.starts_with(mark) || digest.size() != mark.size() + hex.size() - 1) return false;
    return sodium_memcmp(digest.data() + mark.size(), hex.data(), hex.size() - 1) == 0;
}

std::string LeaseToken::str() const {
    std::array<std::uint8_t, bytes_size> bytes;
    std::copy(card_.bytes().begin(), card_.bytes().end(), bytes.begin());
    std::copy(secret_.begin(), secret_.end(), bytes.begin() + card_.bytes().size());
    std::array<char, text_size + 1> text;
    sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), variant);
    return std::string(prefix) + text.data();
}

}  // namespace svc::queue
