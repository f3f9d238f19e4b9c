#include "modules/oauth/lib/redirect_uri.hpp"

#include "svc/encoding.hpp"

#include <algorithm>
#include <array>

namespace svc::oauth {

namespace {

constexpr std::size_t longest = 512;

bool is_letter(char each) { return each >= 'a' && each <= 'z'; }
bool is_digit(char each) { return each >= '0' && each <= '9'; }

/// Of URIs (RFC 3986); a fragment has no place here.
bool may_stand_in_uri(char each) {
    constexpr std::string_view others = "-._~:/?[]@!$&'()*+,;=%";
    return is_letter(each) || (each >= 'A' && each <= 'Z') || is_digit(each) ||
           others.find(each) != others.npos;
}

bool is_scheme(std::string_view text) {
    return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, [](char each) {
        return is_letter(each) || is_digit(each) || each == '+' || each == '-' || each == '.';
    });
}

/// Host, port and what follows of `//host:port/…`.
struct Parts {
    std::string_view host, port, rest;
};
std::optional<Parts> parts_of(std::string_view text) {
    if (!text.starts_with("//")) return std::nullopt;
    text.remove_prefix(2);
    const auto end = std::min(text.find_first_of("/?"), text.size());
    const auto authority = text.substr(0, end);
    Parts parts{.host = authority, .port = {}, .rest = text.substr(end)};
    const auto bracket = authority.find(']');
    const auto colon = authority.find(':', bracket == authority.npos ? 0 : bracket);
    if (colon != authority.npos) {
        parts.host = authority.substr(0, colon);
        parts.port = authority.substr(colon + 1);
        if (parts.port.empty() || parts.port.size() > 5) return std::nullopt;
        if (!std::ranges::all_of(parts.port, is_digit)) return std::nullopt;
    }
    return parts;
}

bool is_name(std::string_view host) {
    return !host.empty() && host.front() != '.' && std::ranges::all_of(host, [](char each) {
        return is_letter(each) || (each >= 'A' && each <= 'Z') || is_digit(each) || each == '.' ||
               each == '-';
    });
}
bool is_ipv6(std::string_view host) {
    if (!host.starts_with('[') || !host.ends_with(']')) return false;
    return host.find_first_not_of("0123456789abcdefABCDEF:.", 1) == host.size() - 1;
}
bool is_loopback(std::string_view host) {
    constexpr std::array<std::string_view, 3> names{"127.0.0.1", "[::1]", "localhost"};
    return std::ranges::find(names, host) != names.end();
}

constexpr std::string_view plain = "http:";

}  // namespace

std::optional<RedirectUri> RedirectUri::parse(
    std::string_view text, const std::vector<std::string>& schemes
) {
    if (text.size() > longest || !std::ranges::all_of(text, may_stand_in_uri)) return std::nullopt;
    const auto colon = text.find(':');
    if (colon == text.npos || !is_scheme(text.substr(0, colon))) return std::nullopt;
    const auto scheme = text.substr(0, colon), behind = text.substr(colon + 1);
    RedirectUri uri{.text = std::string(text)};
    if (scheme != "https" && scheme != "http") {
        const bool known = std::ranges::find(schemes, scheme) != schemes.end();
        const bool of_program = known || scheme.find('.') != scheme.npos;
        if (!of_program || !behind.starts_with('/')) return std::nullopt;
        uri.host = std::string(scheme) + ":";
        return uri;
    }
    const auto parts = parts_of(behind);
    if (!parts || !(is_name(parts->host) || is_ipv6(parts->host))) return std::nullopt;
    uri.host = parts->host;
    uri.loopback = scheme == "http";
    if (uri.loopback && !is_loopback(parts->host)) return std::nullopt;
    return uri;
}

bool is_registered(const RedirectUri& asked, const std::vector<std::string>& registered) {
    const auto wanted = parts_of(std::string_view(asked.text).substr(asked.text.find(':') + 1));
    return std::ranges::any_of(registered, [&](const std::string& each) {
        if (each == asked.text) return true;
        if (!asked.loopback || !each.starts_with(plain)) return false;
        const auto known = parts_of(std::string_view(each).substr(plain.size()));
        return known && known->host == wanted->host && known->rest == wanted->rest;
    });
}

std::string with_query(
    const std::string& uri, const std::vector<std::pair<std::string_view, std::string>>& members
) {
    std::string out = uri;
    char before = uri.find('?') == uri.npos ? '?' : '&';
    for (const auto& [name, value] : members) {
        ((out += before) += name) += '=';
        out += percent_encoded(value);
        before = '&';
    }
    return out;
}

}  // namespace svc::oauth
