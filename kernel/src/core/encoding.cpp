#include "svc/encoding.hpp"

#include <sodium.h>

namespace svc {

namespace {

int variant_of(Base64 kind) {
    switch (kind) {
        case Base64::url: return sodium_base64_VARIANT_URLSAFE_NO_PADDING;
        case Base64::unpadded: return sodium_base64_VARIANT_ORIGINAL_NO_PADDING;
        case Base64::padded: return sodium_base64_VARIANT_ORIGINAL;
    }
    __builtin_unreachable();
}

const unsigned char* data_of(std::string_view bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

unsigned char* data_of(std::string& bytes) {
    return reinterpret_cast<unsigned char*>(bytes.data());
}

constexpr bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string hex(std::string_view bytes) {
    std::string out(2 * bytes.size() + 1, '\0');
    sodium_bin2hex(out.data(), out.size(), data_of(bytes), bytes.size());
    out.pop_back();  // the closing NUL
    return out;
}

std::optional<std::string> from_hex(std::string_view text) {
    std::string out(text.size() / 2, '\0');
    std::size_t size = 0;
    const int failed =
        sodium_hex2bin(data_of(out), out.size(), text.data(), text.size(), nullptr, &size, nullptr);
    if (failed || 2 * size != text.size()) return std::nullopt;
    return out;
}

std::string base64(std::string_view bytes, Base64 kind) {
    const int variant = variant_of(kind);
    std::string out(sodium_base64_encoded_len(bytes.size(), variant), '\0');
    sodium_bin2base64(out.data(), out.size(), data_of(bytes), bytes.size(), variant);
    out.pop_back();  // the closing NUL
    return out;
}

std::optional<std::string> from_base64(std::string_view text, Base64 kind) {
    std::string out(text.size() / 4 * 3 + 3, '\0');
    std::size_t size = 0;
    const int failed = sodium_base642bin(
        data_of(out),
        out.size(),
        text.data(),
        text.size(),
        nullptr,
        &size,
        nullptr,
        variant_of(kind)
    );
    if (failed) return std::nullopt;
    out.resize(size);
    return out;
}

std::string percent_encoded(std::string_view text, std::string_view kept) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    out.reserve(text.size());
    for (const char each : text) {
        const auto byte = static_cast<unsigned char>(each);
        if (is_unreserved(each) || kept.find(each) != kept.npos) out += each;
        else ((out += '%') += digits[byte >> 4]) += digits[byte & 15];
    }
    return out;
}

}  // namespace svc
