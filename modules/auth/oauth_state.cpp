#include "modules/auth/oauth_state.hpp"

#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <charconv>

namespace svc::auth {

namespace {

constexpr std::string_view cookie_name = "svc_oauth";
constexpr std::chrono::minutes lifetime{10};
constexpr std::size_t mark_size = 32;

std::string mark_of(const Kernel& kernel, std::string_view text) {
    return kernel.sign("auth.oauth.state", text);
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

OAuthState new_oauth_state(std::string return_to) {
    const auto end = Timestamp::now().micros + std::chrono::microseconds(lifetime).count();
    return {random_token(), Timestamp{end}, std::move(return_to)};
}

std::string nonce_of(const Kernel& kernel, const OAuthState& oauth_state) {
    return base64(kernel.sign("auth.oauth.nonce", oauth_state.state));
}

std::string code_verifier_of(const Kernel& kernel, const OAuthState& oauth_state) {
    return base64(kernel.sign("auth.oauth.verifier", oauth_state.state));
}

std::string code_challenge_of(const std::string& verifier) { return base64(sha256(verifier)); }

std::string cookie_of(const Kernel& kernel, const OAuthState& oauth_state) {
    const std::string text = oauth_state.state + '\n' +
                             std::to_string(oauth_state.expires_at.micros) + '\n' +
                             oauth_state.return_to;
    return set_cookie(kernel, base64(mark_of(kernel, text) + text), lifetime);
}

std::string no_cookie(const Kernel& kernel) {
    return set_cookie(kernel, "", std::chrono::seconds(0));
}

std::optional<OAuthState> oauth_state_in(const Kernel& kernel, const http::Request& request) {
    const auto bytes = from_base64(request.cookie(cookie_name));
    if (!bytes || bytes->size() <= mark_size) return std::nullopt;
    std::string_view text = std::string_view(*bytes).substr(mark_size);
    if (!same_secret(std::string_view(*bytes).substr(0, mark_size), mark_of(kernel, text)))
        return std::nullopt;
    OAuthState oauth_state;
    oauth_state.state = take_line(text);
    const auto end = take_line(text);
    std::from_chars(end.data(), end.data() + end.size(), oauth_state.expires_at.micros);
    oauth_state.return_to = text;
    return oauth_state;
}

bool has_oauth_cookie(const http::Request& request) { return !request.cookie(cookie_name).empty(); }

}  // namespace svc::auth
