#include "modules/boards/lib/share_token.hpp"

#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <algorithm>
#include <array>

namespace svc::boards {

namespace {

constexpr std::size_t id_size = 16, secret_size = 32;
constexpr std::size_t text_size = 64;  // of both in base64, without padding

}  // namespace

ShareToken::ShareToken(const Uuid& org) : org_(org), text_(prefix) {
    std::string bytes(as_text(org.bytes()));
    text_ += base64(bytes += random_bytes(secret_size));
}

std::optional<ShareToken> ShareToken::parse(std::string_view text) {
    if (!text.starts_with(prefix) || text.size() != prefix.size() + text_size) return std::nullopt;
    ShareToken token;
    token.text_ = text;
    text.remove_prefix(prefix.size());
    const auto bytes = from_base64(text);
    if (!bytes || bytes->size() != id_size + secret_size) return std::nullopt;
    std::array<std::uint8_t, id_size> org;
    std::copy_n(bytes->begin(), org.size(), org.begin());
    token.org_ = Uuid(org);
    return token;
}

std::string ShareToken::digest() const { return hex(sha256(text_)); }

}  // namespace svc::boards
