#include "svc/http.hpp"

#include "decl/utf8.hpp"

#include <charconv>

namespace svc::http {

std::optional<std::string> decode(std::string_view text, Decode how) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '+' && how == Decode::query) {
            out += ' ';
        } else if (text[at] != '%') {
            out += text[at];
        } else {
            if (text.size() - at < 3) return std::nullopt;
            unsigned char byte = 0;
            const char* digits = text.data() + at + 1;
            const auto read = std::from_chars(digits, digits + 2, byte, 16);
            if (read.ec != std::errc() || read.ptr != digits + 2) return std::nullopt;
            out += static_cast<char>(byte);
            at += 2;
        }
    }
    if (out.find('\0') != std::string::npos || !decl::utf8::well_formed(out)) return std::nullopt;
    return out;
}

std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query
) {
    std::vector<std::pair<std::string, std::string>> out;
    while (!query.empty()) {
        const auto end = std::min(query.find('&'), query.size());
        const auto pair = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        if (pair.empty()) continue;
        const auto equals = std::min(pair.find('='), pair.size());
        auto name = decode(pair.substr(0, equals), Decode::query);
        auto value = decode(pair.substr(std::min(equals + 1, pair.size())), Decode::query);
        if (!name || !value) return std::nullopt;
        out.emplace_back(std::move(*name), std::move(*value));
    }
    return out;
}

}  // namespace svc::http
