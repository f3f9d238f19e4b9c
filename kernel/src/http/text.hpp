#pragma once

#include <string_view>

/// Small rules of HTTP text, shared by the parser, the answers and the files.
namespace svc::http {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

/// Names of headers and codings compare without regard to ASCII case.
constexpr bool same_name(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (lower(a[i]) != lower(b[i])) return false;
    return true;
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_hex(char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); }
constexpr bool is_control(char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}

/// Without the spaces and tabs at both ends.
constexpr std::string_view without_blanks(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Calls `each` with every element of a comma-separated list, blanks removed, until it says false.
template <class Each>
constexpr void each_element(std::string_view list, Each each) {
    while (!list.empty()) {
        const auto comma = list.find(',');
        if (const auto element = without_blanks(list.substr(0, comma)); !element.empty())
            if (!each(element)) return;
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    }
}

}  // namespace svc::http
