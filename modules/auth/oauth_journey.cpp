#include "modules/auth/oauth_journey.hpp"

#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <charconv>

namespace svc::auth {

namespace {

constexpr std::string_view cookie_name = "svc_oauth";
constexpr std::chrono::minutes lifetime{10};
constexpr std::size_t mark_size = 32;

std::string mark_of(const Kernel& kernel, std::string_view text) {
    return kernel.sign("auth.oauth.journey", text);
}

std::string set_cookie(const Kernel& kernel, const std::string& value, std::chrono::seconds age) {
    std::string cookie(cookie_name);
    cookie += "=" + value + "; Path=/v1/auth/google; SameSite=Lax; HttpOnly; Max-Age=" +
              std::to_string(age.count());
    if (kernel.base_url().starts_with("https:")) cookie += "; Secure";
    return cookie;
}

/// Takes the text up to the next line end off the front.
std::string_view take_line(std::string_view& text) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

}  // namespace

Journey new_journey(std::string return_to) {
    const auto end = Timestamp::now().micros + std::chrono::microseconds(lifetime).count();
    return {random_token(), Timestamp{end}, std::move(return_to)};
}

std::string nonce_of(const Kernel& kernel, const Journey& journey) {
    return base64(kernel.sign("auth.oauth.nonce", journey.state));
}

std::string code_verifier_of(const Kernel& kernel, const Journey& journey) {
    return base64(kernel.sign("auth.oauth.verifier", journey.state));
}

std::string code_challenge_of(const std::string& verifier) { return base64(sha256(verifier)); }

std::string cookie_of(const Kernel& kernel, const Journey& journey) {
    const std::string text =
        journey.state + '\n' + std::to_string(journey.expires_at.micros) + '\n' + journey.return_to;
    return set_cookie(kernel, base64(mark_of(kernel, text) + text), lifetime);
}

std::string no_cookie(const Kernel& kernel) {
    return set_cookie(kernel, "", std::chrono::seconds(0));
}

std::optional<Journey> journey_in(const Kernel& kernel, const http::Request& request) {
    const auto bytes = from_base64(request.cookie(cookie_name));
    if (!bytes || bytes->size() <= mark_size) return std::nullopt;
    std::string_view text = std::string_view(*bytes).substr(mark_size);
    if (!same_secret(std::string_view(*bytes).substr(0, mark_size), mark_of(kernel, text)))
        return std::nullopt;
    Journey journey;
    journey.state = take_line(text);
    const auto end = take_line(text);
    std::from_chars(end.data(), end.data() + end.size(), journey.expires_at.micros);
    journey.return_to = text;
    return journey;
}

bool has_journey_cookie(const http::Request& request) {
    return !request.cookie(cookie_name).empty();
}

}  // namespace svc::auth
