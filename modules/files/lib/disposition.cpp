#include "modules/files/lib/disposition.hpp"

#include "modules/files/lib/file_name.hpp"
#include "svc/encoding.hpp"

namespace svc::files {

namespace {

/// Of RFC 8187 what is also plain in a URL.
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

}  // namespace

std::string disposition_of(std::string_view content_type, std::string_view filename) {
    std::string out = is_picture(content_type) ? "inline" : "attachment";
    const auto ascii = in_ascii(filename);
    out += "; filename=\"" + ascii + '"';
    if (ascii != filename) out += "; filename*=UTF-8''" + percent_encoded(filename);
    return out;
}

}  // namespace svc::files
