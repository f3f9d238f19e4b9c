#include "http/head_rules.hpp"

#include "decl/utf8.hpp"
#include "http/text.hpp"

#include <algorithm>
#include <array>

namespace svc::http {

namespace {

constexpr bool is_host_char(char c) {
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') ||
           std::string_view("-._~!$&'()*+,;=%").find(c) != std::string_view::npos;
}

constexpr std::size_t longest_method = 32;

// Browsers send brackets, braces and bars as they are; these they never send.
constexpr bool is_allowed_in_target(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7f && c != '"' && c != '<' && c != '>' && c != '\\' && c != '#';
}

/// Takes scheme and authority off an absolute target (RFC 9112, 3.2.2); false when it is none, or
/// names nobody.
bool make_relative(Head& head) {
    const auto end = std::min(head.target.find("://"), head.target.size());
    const auto scheme = head.target.substr(0, end);
    const bool secure = same_name(scheme, "https");
    if (!secure && !same_name(scheme, "http")) return false;
    head.usual_port = secure ? ":443" : ":80";
    auto rest = head.target.substr(std::min(end + 3, head.target.size()));
    head.authority = rest.substr(0, rest.find_first_of("/?"));
    if (!is_host(head.authority)) return false;
    rest.remove_prefix(head.authority.size());
    if (rest.empty()) rest = head.method == "OPTIONS" ? "*" : "/";
    else if (rest.front() == '?') rest = head.with_slash.assign("/").append(rest);
    head.target = rest;
    return true;
}

std::string_view without_port(std::string_view authority, std::string_view usual) {
    for (const std::string_view port : {std::string_view(":"), usual})
        if (authority.ends_with(port)) return authority.substr(0, authority.size() - port.size());
    return authority;
}

}  // namespace

std::optional<Refusal> judge_target(Head& head) {
    head.authority = {};
    if (head.method.size() > longest_method)
        return Refusal{501, "The server knows no method with so long a name."};
    if (head.method == "CONNECT" || head.method == "TRACE")
        return Refusal{405, "This server takes neither CONNECT nor TRACE."};
    if (head.target == "*" && head.method == "OPTIONS") return std::nullopt;
    if (!std::ranges::all_of(head.target, is_allowed_in_target))
        return Refusal{400, "The request target holds a character that must be percent-encoded."};
    if (!head.target.starts_with('/') && !make_relative(head))
        return Refusal{400, "The request target must be a path that begins with a slash."};
    return std::nullopt;
}

bool agrees(std::string_view host, const Head& head) {
    if (head.authority.empty()) return true;
    return same_name(
        without_port(host, head.usual_port), without_port(head.authority, head.usual_port)
    );
}

bool is_host(std::string_view text) {
    if (text.size() > 255 + 6) return false;
    std::string_view port;
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == std::string_view::npos || end < 3) return false;
        const auto inside = text.substr(1, end - 1);
        if (inside.find_first_not_of("0123456789abcdefABCDEF:.") != std::string_view::npos)
            return false;
        port = text.substr(end + 1);
    } else {
        const auto colon = std::min(text.find(':'), text.size());
        const auto name = text.substr(0, colon);
        if (name.empty() || !std::ranges::all_of(name, is_host_char)) return false;
        port = text.substr(colon);
    }
    if (port.empty()) return true;
    return port.size() <= 6 && port.front() == ':' && std::ranges::all_of(port.substr(1), is_digit);
}

bool is_value(std::string_view text) {
    const bool plain =
        std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    if (std::ranges::any_of(text, is_control)) return false;
    return plain || decl::utf8::well_formed(text);
}

bool is_list_header(std::string_view name) {
    static constexpr std::array<std::string_view, 26> lists{
        "accept",
        "accept-charset",
        "accept-encoding",
        "accept-language",
        "access-control-request-headers",
        "baggage",
        "cache-control",
        "connection",
        "content-language",
        "forwarded",
        "if-match",
        "if-none-match",
        "keep-alive",
        "link",
        "pragma",
        "prefer",
        "sec-websocket-extensions",
        "sec-websocket-protocol",
        "te",
        "tracestate",
        "trailer",
        "upgrade",
        "via",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
    };
    return std::ranges::any_of(lists, [&](auto each) { return same_name(each, name); });
}

}  // namespace svc::http
