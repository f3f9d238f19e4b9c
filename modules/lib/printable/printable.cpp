#include "modules/lib/printable/printable.hpp"

namespace svc {

namespace {

bool continues(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/// How many bytes at the beginning are a control character: of ASCII, or of the second sort
/// (U+0080 to U+009F), or a mark that turns the direction of what is written.
std::size_t control_at(std::string_view text) {
    const auto byte = [&](std::size_t at) {
        return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
    if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0) return 2;
    if (byte(0) != 0xE2) return 0;
    const bool embeds = byte(1) == 0x80 && byte(2) >= 0xAA && byte(2) <= 0xAE;
    const bool isolates = byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
    return embeds || isolates ? 3 : 0;
}

std::string without_controls(std::string_view text, std::string_view for_line_break) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto size = control_at(text.substr(at));
        if (size == 0) {
            out += text[at++];
            continue;
        }
        if (text[at] == '\n') out += for_line_break;
        else if (text[at] != '\r') out += ' ';
        at += size;
    }
    return out;
}

}  // namespace

std::string on_one_line(std::string_view text, std::size_t most_characters) {
    std::string out = without_controls(text, " ");
    std::size_t characters = 0;
    for (std::size_t at = 0; at < out.size(); ++at) {
        if (continues(static_cast<unsigned char>(out[at]))) continue;
        if (characters++ < most_characters) continue;
        out.resize(at);
        return out + "…";
    }
    return out;
}

std::string indented(std::string_view text) { return "  " + without_controls(text, "\n  "); }

}  // namespace svc
