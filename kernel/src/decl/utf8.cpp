#include "decl/utf8.hpp"

#include <algorithm>
#include <cstdint>

namespace svc::decl::utf8 {

namespace {

struct Lead {
    std::size_t length;             // of the whole sequence; 0: no sequence begins like this
    unsigned char lowest, highest;  // of the second byte
};

Lead lead_of(unsigned char byte) {
    if (byte < 0x80) return {1, 0, 0};
    if (byte < 0xC2) return {0, 0, 0};
    if (byte < 0xE0) return {2, 0x80, 0xBF};
    if (byte == 0xE0) return {3, 0xA0, 0xBF};
    if (byte == 0xED) return {3, 0x80, 0x9F};
    if (byte < 0xF0) return {3, 0x80, 0xBF};
    if (byte == 0xF0) return {4, 0x90, 0xBF};
    if (byte < 0xF4) return {4, 0x80, 0xBF};
    if (byte == 0xF4) return {4, 0x80, 0x8F};
    return {0, 0, 0};
}

bool continues(char byte) { return (byte & 0xC0) == 0x80; }

// How many bytes of the sequence are there and as they should be.
std::size_t good_bytes(std::string_view text, const Lead& lead) {
    if (lead.length < 2) return lead.length;
    if (text.size() < 2) return 1;
    const auto second = static_cast<unsigned char>(text[1]);
    if (second < lead.lowest || second > lead.highest) return 1;
    std::size_t good = 2;
    while (good < lead.length && good < text.size() && continues(text[good])) ++good;
    return good;
}

// The code point of a well-formed sequence.
std::uint32_t code_point(std::string_view sequence) {
    const auto first = static_cast<unsigned char>(sequence[0]);
    if (sequence.size() == 1) return first;
    std::uint32_t point = first & (0x7Fu >> sequence.size());
    for (char next : sequence.substr(1)) point = point << 6 | (next & 0x3Fu);
    return point;
}

bool is_space(std::uint32_t point) {
    return (point >= 0x09 && point <= 0x0D) || point == 0x20 || point == 0x85 || point == 0xA0 ||
           point == 0x1680 || (point >= 0x2000 && point <= 0x200A) || point == 0x2028 ||
           point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
}

bool is_control(std::uint32_t point) { return point < 0x20 || (point >= 0x7F && point < 0xA0); }

std::string_view last_sequence(std::string_view text) {
    std::size_t start = text.size() - 1;
    while (start > 0 && text.size() - start < 4 && continues(text[start])) --start;
    return text.substr(start);
}

}  // namespace

std::size_t sequence(std::string_view text) {
    const Lead lead = lead_of(static_cast<unsigned char>(text[0]));
    return good_bytes(text, lead) == lead.length ? lead.length : 0;
}

std::size_t beyond_ascii(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    std::size_t at = 0;
    while (at < text.size() && byte(at) >= 0x80) {
        // Two bytes are what most alphabets take.
        if (byte(at) >= 0xC2 && byte(at) < 0xE0 && at + 1 < text.size() &&
            continues(text[at + 1])) {
            at += 2;
            continue;
        }
        const std::size_t bytes = sequence(text.substr(at));
        if (bytes == 0) break;
        at += bytes;
    }
    return at;
}

std::size_t ill_formed(std::string_view text) {
    return std::max<std::size_t>(1, good_bytes(text, lead_of(static_cast<unsigned char>(text[0]))));
}

bool well_formed(std::string_view text) {
    while (!text.empty()) {
        const std::size_t bytes = sequence(text);
        if (bytes == 0) return false;
        text.remove_prefix(bytes);
    }
    return true;
}

std::size_t length(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char byte) {
        return !continues(byte);
    }));
}

std::string_view beginning(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    while (bytes > 0 && continues(text[bytes])) --bytes;
    return text.substr(0, bytes);
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty()) {
        const std::size_t bytes = std::max<std::size_t>(1, sequence(text));
        if (!is_space(code_point(text.substr(0, bytes)))) break;
        text.remove_prefix(bytes);
    }
    while (!text.empty()) {
        const std::string_view last = last_sequence(text);
        if (!is_space(code_point(last))) break;
        text.remove_suffix(last.size());
    }
    return text;
}

bool has_control(std::string_view text, bool let_lines_through) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = std::max<std::size_t>(1, sequence(text.substr(at)));
        const std::uint32_t point = code_point(text.substr(at, bytes));
        const bool line = point == '\t' || point == '\n' || point == '\r';
        if (is_control(point) && !(line && let_lines_through)) return true;
        at += bytes;
    }
    return false;
}

bool has_space_or_control(std::string_view text) {
    while (!text.empty()) {
        const std::size_t bytes = std::max<std::size_t>(1, sequence(text));
        const std::uint32_t point = code_point(text.substr(0, bytes));
        if (is_space(point) || is_control(point)) return true;
        text.remove_prefix(bytes);
    }
    return false;
}

}  // namespace svc::decl::utf8
