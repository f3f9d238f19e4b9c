#include "modules/files/parts/disposition.hpp"

#include "modules/files/parts/file_name.hpp"

namespace svc::files {

namespace {

/// Of RFC 8187 what is also plain in a URL.
constexpr bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

/// For clients that know no better: every other character is an underscore.
std::string in_ascii(std::string_view name) {
    std::string out;
    for (const char each : name) {
        if ((static_cast<unsigned char>(each) & 0xC0) == 0x80) continue;  // the rest of a character
        const bool quotable = each >= 0x20 && each < 0x7F && each != '"' && each != '\\' &&
                              each != '%' && each != ';';
        out += quotable ? each : '_';
    }
    return out;
}

std::string encoded(std::string_view name) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char each : name) {
        const auto byte = static_cast<unsigned char>(each);
        if (is_plain(each)) out += each;
        else ((out += '%') += digits[byte >> 4]) += digits[byte & 15];
    }
    return out;
}

}  // namespace

std::string disposition_of(std::string_view content_type, std::string_view filename) {
    std::string out = is_picture(content_type) ? "inline" : "attachment";
    const auto ascii = in_ascii(filename);
    out += "; filename=\"" + ascii + '"';
    if (ascii != filename) out += "; filename*=UTF-8''" + encoded(filename);
    return out;
}

}  // namespace svc::files
