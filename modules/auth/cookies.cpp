#include "modules/auth/cookies.hpp"

#include "modules/auth/settings.hpp"
#include "modules/lib/origin/origin.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <Poco/Exception.h>
#include <Poco/JWT/Signer.h>
#include <Poco/JWT/Token.h>

#include <algorithm>

namespace svc::auth {

namespace {

constexpr std::string_view session_cookie = "svc_session", csrf_cookie = "svc_csrf",
                           sign_up_cookie = "svc_signup";
constexpr std::size_t nonce_size = 16;

enum class Readable { no, by_pages };

void set_cookie(
    Call& call,
    std::string_view name,
    std::string_view value,
    std::chrono::seconds lifetime,
    Readable readable
) {
    std::string cookie(name);
    (cookie += '=') += value;
    cookie += "; Path=/; SameSite=Lax; Max-Age=" + std::to_string(lifetime.count());
    if (readable == Readable::no) cookie += "; HttpOnly";
    if (call.kernel().base_url().starts_with("https:")) cookie += "; Secure";
    call.add_header("Set-Cookie", std::move(cookie));
}

std::chrono::seconds longest_session(Call& call) {
    return std::chrono::days(call.use<Settings>().session_most_days);
}

Poco::JWT::Signer signer(const Kernel& kernel) {
    return Poco::JWT::Signer(kernel.sign("auth.session", ""));  // takes HS256 and nothing else
}

/// Three parts in base64url as it is written. Poco reads more than that as the same token.
bool is_compact(std::string_view token) {
    constexpr int parts = 3;
    for (int part = 1; part <= parts; ++part) {
        const auto dot = part < parts ? token.find('.') : token.size();
        if (dot == token.npos) return false;
        const auto text = token.substr(0, dot);
        if (text.empty() || !from_base64(text)) return false;
        token.remove_prefix(std::min(dot + 1, token.size()));
    }
    return true;
}

std::string sign(const Kernel& kernel, const Claims& claims, Timestamp expires) {
    Poco::JWT::Token token;
    token.setType("JWT");
    token.setSubject(claims.user_id.str());
    token.setIssuedAt(Poco::Timestamp(Timestamp::now().micros));
    token.setExpiration(Poco::Timestamp(expires.micros));
    token.payload().set("sid", claims.session_id.str());
    if (claims.org_id) token.payload().set("org", claims.org_id->str());
    if (claims.role) token.payload().set("role", std::string(name_of(*claims.role)));
    return signer(kernel).sign(token, Poco::JWT::Signer::ALGO_HS256);
}

/// `subject` is the session the token is good for; nobody's before log-in.
std::string csrf_mark(
    const Kernel& kernel, std::string_view nonce, const std::optional<Uuid>& subject
) {
    return kernel.sign(
        "auth.csrf", std::string(nonce) + (subject ? subject->str() : std::string("nobody"))
    );
}

std::string new_csrf_token(const Kernel& kernel, const std::optional<Uuid>& subject) {
    const std::string nonce = random_bytes(nonce_size);
    return base64(nonce + csrf_mark(kernel, nonce, subject));
}

bool is_csrf_token(
    const Kernel& kernel, std::string_view token, const std::optional<Uuid>& subject
) {
    const auto bytes = from_base64(token);
    if (!bytes || bytes->size() <= nonce_size) return false;
    const auto nonce = std::string_view(*bytes).substr(0, nonce_size);
    return same_secret(
        std::string_view(*bytes).substr(nonce_size), csrf_mark(kernel, nonce, subject)
    );
}

void set_session_cookie(Call& call, const Claims& claims) {
    const auto lifetime = longest_session(call);
    const Timestamp expires{Timestamp::now().micros + std::chrono::microseconds(lifetime).count()};
    set_cookie(call, session_cookie, sign(call.kernel(), claims, expires), lifetime, Readable::no);
}

}  // namespace

std::string give_session(Call& call, const Claims& claims) {
    set_session_cookie(call, claims);
    std::string token = new_csrf_token(call.kernel(), claims.session_id);
    set_cookie(call, csrf_cookie, token, longest_session(call), Readable::by_pages);
    return token;
}

void renew_session(Call& call, const Claims& claims) { set_session_cookie(call, claims); }

void take_session(Call& call) {
    using namespace std::chrono_literals;
    set_cookie(call, session_cookie, "", 0s, Readable::no);
    set_cookie(call, csrf_cookie, "", 0s, Readable::by_pages);
}

std::optional<Uuid> session_in(const Kernel& kernel, const http::Request& request) {
    const std::string_view cookie = request.cookie(session_cookie);
    if (!is_compact(cookie)) return std::nullopt;
    try {
        const auto token = signer(kernel).verify(std::string(cookie));
        // Poco takes a token whatever its times are.
        const auto now = Timestamp::now().micros;
        if (token.getExpiration().epochMicroseconds() <= now) return std::nullopt;
        if (token.getNotBefore().epochMicroseconds() > now) return std::nullopt;
        return Uuid::parse(token.payload().getValue<std::string>("sid"));
    } catch (const Poco::Exception&) {
        return std::nullopt;
    }
}

std::string give_csrf_token(Call& call) {
    const http::Request* request = call.request();
    const Kernel& kernel = call.kernel();
    const auto session = request ? session_in(kernel, *request) : std::nullopt;
    if (request) {
        const std::string_view held = request->cookie(csrf_cookie);
        // Another page may be using it.
        if (is_csrf_token(kernel, held, session)) return std::string(held);
    }
    std::string token = new_csrf_token(kernel, session);
    set_cookie(call, csrf_cookie, token, longest_session(call), Readable::by_pages);
    return token;
}

bool csrf_matches(const Kernel& kernel, const http::Request& request, const Uuid& session) {
    const std::string_view sent = request.header("x-csrf-token");
    return !sent.empty() && same_secret(sent, request.cookie(csrf_cookie)) &&
           is_csrf_token(kernel, sent, session) && !from_another_site(kernel.base_url(), request);
}

void give_sign_up(Call& call, const Uuid& sign_up) {
    const std::string id = sign_up.str();
    const std::string mark = base64(call.kernel().sign("auth.sign_up", id));
    const std::chrono::hours lifetime(call.use<Settings>().verify_hours);
    set_cookie(call, sign_up_cookie, id + "." + mark, lifetime, Readable::no);
}

std::optional<Uuid> sign_up_in(const Kernel& kernel, const http::Request& request) {
    const std::string_view cookie = request.cookie(sign_up_cookie);
    const auto dot = cookie.find('.');
    if (dot == cookie.npos) return std::nullopt;
    const auto id = cookie.substr(0, dot);
    const auto mark = from_base64(cookie.substr(dot + 1));
    if (!mark || !same_secret(*mark, kernel.sign("auth.sign_up", id))) return std::nullopt;
    return Uuid::parse(id);
}

bool from_a_page(const http::Request& request) {
    return !request.header("origin").empty() || !request.header("sec-fetch-site").empty();
}

void refuse_other_sites(Call& call) {
    const http::Request* request = call.request();
    if (!request || !from_another_site(call.kernel().base_url(), *request)) return;
    throw Failure(Fault::csrf, "This may be sent by our own pages only, or without a browser.");
}

}  // namespace svc::auth
