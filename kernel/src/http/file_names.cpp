#include "http/file_names.hpp"

#include "http/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace svc::http {

namespace {

constexpr std::size_t shortest_digest = 8, longest_digest = 64;

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) { return is_lower(c) || is_upper(c); }
constexpr bool is_digest_char(char c) {
    return is_digit(c) || is_letter(c) || c == '_' || c == '-';
}

/// Names change from letters to digits, or from small to capital letters, once or twice; digests
/// do it all the time. One that is taken for a name is only asked for more often.
bool looks_random(std::string_view text) {
    if (text.size() < shortest_digest || text.size() > longest_digest) return false;
    if (!std::ranges::all_of(text, is_digest_char)) return false;
    int changes = 0;
    for (std::size_t i = 1; i < text.size(); ++i) {
        const char before = text[i - 1], c = text[i];
        const bool rises = is_lower(before) && is_upper(c);
        const bool both = is_letter(before) || is_letter(c);
        if (rises || (both && is_digit(before) != is_digit(c))) ++changes;
    }
    return changes >= (text.size() == shortest_digest ? 2 : 3);
}

}  // namespace

std::string_view media_type(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 26> types{{
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".map", "application/json"},
        {".webmanifest", "application/manifest+json"},
        {".txt", "text/plain; charset=utf-8"},
        {".md", "text/markdown; charset=utf-8"},
        {".lua", "text/plain; charset=utf-8"},
        {".xml", "application/xml"},
        {".yaml", "application/yaml"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".jpg", "image/jpeg"},
        {".jpeg", "image/jpeg"},
        {".gif", "image/gif"},
        {".webp", "image/webp"},
        {".avif", "image/avif"},
        {".ico", "image/x-icon"},
        {".woff", "font/woff"},
        {".woff2", "font/woff2"},
        {".ttf", "font/ttf"},
        {".pdf", "application/pdf"},
        {".wasm", "application/wasm"},
        {".zip", "application/zip"},
    }};
    const auto dot = name.rfind('.');
    const auto ending = dot == std::string_view::npos ? std::string_view() : name.substr(dot);
    for (const auto& [each, type] : types)
        if (same_name(each, ending)) return type;
    return "application/octet-stream";
}

bool carries_digest(std::string_view name) {
    const auto slash = name.rfind('/');
    if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
    const auto ending = name.rfind('.');
    if (ending == std::string_view::npos) return false;
    const auto stem = name.substr(0, ending);
    // A digest in base64url may hold a dash itself, so each part that could be one is looked at.
    for (auto cut = stem.find_first_of("-."); cut != std::string_view::npos;
         cut = stem.find_first_of("-.", cut + 1))
        if (stem.find('.', cut + 1) == std::string_view::npos && looks_random(stem.substr(cut + 1)))
            return true;
    return false;
}

bool is_plain_path(std::string_view path) {
    while (!path.empty()) {
        const auto slash = std::min(path.find('/'), path.size());
        const auto name = path.substr(0, slash);
        if (name.empty() || name.starts_with('.')) return false;
        if (name.find_first_of(std::string_view("\\\0", 2)) != std::string_view::npos) return false;
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return true;
}

}  // namespace svc::http
