#include "modules/oauth/secrets.hpp"

#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <algorithm>
#include <array>

namespace svc::oauth {

namespace {

constexpr std::size_t id_size = 16, generation_size = 4, nonce_size = 16, mark_size = 32;
constexpr std::size_t said_size = 2 * id_size + generation_size + nonce_size;

std::string_view prefix_of(SecretKind kind) { return kind == SecretKind::code ? "svcc_" : "svcr_"; }

std::string mark_of(const Kernel& kernel, SecretKind kind, std::string_view said) {
    return kernel.sign(kind == SecretKind::code ? "oauth.code" : "oauth.refresh", said);
}

Uuid id_in(std::string_view bytes) {
    std::array<std::uint8_t, id_size> id{};
    std::ranges::copy(bytes.substr(0, id_size), id.begin());
    return Uuid(id);
}

}  // namespace

std::string write_secret(const Kernel& kernel, SecretKind kind, const Secret& secret) {
    std::string said;
    said += as_text(secret.place.org_id.bytes());
    said += as_text(secret.place.token_id.bytes());
    for (unsigned at = 0; at < generation_size; ++at)
        said += static_cast<char>(secret.generation >> (8 * at) & 0xFF);
    said += secret.nonce;
    return std::string(prefix_of(kind)) + base64(said + mark_of(kernel, kind, said));
}

std::optional<Secret> read_secret(const Kernel& kernel, SecretKind kind, std::string_view text) {
    if (!text.starts_with(prefix_of(kind))) return std::nullopt;
    const auto bytes = from_base64(text.substr(prefix_of(kind).size()));
    if (!bytes || bytes->size() != said_size + mark_size) return std::nullopt;
    const auto said = std::string_view(*bytes).substr(0, said_size);
    if (!same_secret(std::string_view(*bytes).substr(said_size), mark_of(kernel, kind, said)))
        return std::nullopt;
    Secret secret{
        .place = {id_in(said), id_in(said.substr(id_size))},
        .nonce = std::string(said.substr(said_size - nonce_size))
    };
    for (unsigned at = 0; at < generation_size; ++at)
        secret.generation |= std::uint32_t{static_cast<unsigned char>(said[2 * id_size + at])}
                             << (8 * at);
    return secret;
}

std::string new_secret(const Kernel& kernel, SecretKind kind, const agents::TokenPlace& place) {
    return write_secret(kernel, kind, {.place = place, .nonce = random_bytes(nonce_size)});
}

std::string next_refresh_token(const Kernel& kernel, std::string_view refresh_token) {
    Secret next = read_secret(kernel, SecretKind::refresh, refresh_token).value();
    next.generation += 1;
    next.nonce = kernel.sign("oauth.refresh.next", refresh_token).substr(0, nonce_size);
    return write_secret(kernel, SecretKind::refresh, next);
}

std::string access_seed(const Kernel& kernel, std::string_view refresh_token) {
    return kernel.sign("oauth.access", refresh_token);
}

std::string digest_of(std::string_view secret) { return hex(sha256(secret)); }

}  // namespace svc::oauth
