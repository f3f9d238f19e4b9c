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

// Browsers send brackets, braces and bars as they are; these they never send.
constexpr bool may_stand_in_target(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7f && c != '"' && c != '<' && c != '>' && c != '\\' && c != '#';
}

}  // namespace

std::optional<Refusal> judge_target(std::string_view method, std::string_view target) {
    if (method == "CONNECT" || method == "TRACE")
        return Refusal{405, "This server takes neither CONNECT nor TRACE."};
    if (target == "*" && method == "OPTIONS") return std::nullopt;
    if (!target.starts_with('/'))
        return Refusal{400, "The request target must be a path that begins with a slash."};
    if (!std::ranges::all_of(target, may_stand_in_target))
        return Refusal{400, "The request target holds a character that must be percent-encoded."};
    return std::nullopt;
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
