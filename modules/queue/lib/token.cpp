#include "modules/queue/lib/token.hpp"

#include "svc/encoding.hpp"

#include <sodium.h>

#include <algorithm>

namespace svc::queue {

namespace {

constexpr std::string_view prefix = "lt_";
constexpr std::size_t bytes_size = 16 + LeaseToken::secret_size;
constexpr std::size_t text_size = 43;

}  // namespace

LeaseToken::Secret LeaseToken::new_secret() {
    Secret secret;
    randombytes_buf(secret.data(), secret.size());
    return secret;
}

std::optional<LeaseToken> LeaseToken::parse(std::string_view text) {
    if (!text.starts_with(prefix) || text.size() != prefix.size() + text_size) return std::nullopt;
    text.remove_prefix(prefix.size());
    const auto bytes = from_base64(text);
    if (!bytes || bytes->size() != bytes_size) return std::nullopt;
    std::array<std::uint8_t, 16> card;
    Secret secret;
    std::copy_n(bytes->begin(), card.size(), card.begin());
    std::copy_n(bytes->begin() + card.size(), secret.size(), secret.begin());
    return LeaseToken(Uuid(card), secret);
}

Sha256 LeaseToken::digest_of(const Secret& secret) { return sha256(as_text(secret)); }

std::string LeaseToken::digest() const { return hex(digest_of(secret_)); }

bool LeaseToken::matches(std::string_view digest) const {
    return same_secret(digest, "\\x" + this->digest());
}

std::string LeaseToken::str() const {
    std::string bytes(as_text(card_.bytes()));
    return std::string(prefix) + base64(bytes += as_text(secret_));
}

}  // namespace svc::queue
