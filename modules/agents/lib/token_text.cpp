#include "modules/agents/lib/token_text.hpp"

#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>

namespace svc::agents {

namespace {

constexpr std::string_view prefix = "svc_";
constexpr std::string_view letters =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t random_size = 37, checksum_size = 6;

constexpr auto crc_table = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t each = i;
        for (int bit = 0; bit < 8; ++bit) each = (each >> 1) ^ (each & 1 ? 0xEDB88320u : 0u);
        table[i] = each;
    }
    return table;
}();

/// CRC-32 (IEEE 802.3, as zlib has it), most significant digit first.
std::array<char, checksum_size> checksum(std::string_view random) {
    std::uint32_t crc = 0xFFFFFFFF;
    for (const char each : random)
        crc = crc_table[(crc ^ static_cast<std::uint8_t>(each)) & 0xFF] ^ (crc >> 8);
    crc = ~crc;
    std::array<char, checksum_size> digits{};
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
        *digit = letters[crc % letters.size()];
        crc /= letters.size();
    }
    return digits;
}

bool is_letter(char each) {
    return (each >= '0' && each <= '9') || (each >= 'A' && each <= 'Z') ||
           (each >= 'a' && each <= 'z');
}

/// Of random letters, with the checksum.
std::string complete(std::string token) {
    const auto digits = checksum(std::string_view(token).substr(prefix.size()));
    return token.append(digits.begin(), digits.end());
}

}  // namespace

std::string new_token() {
    std::string token(prefix);
    for (std::size_t i = 0; i < random_size; ++i)
        token += letters[randombytes_uniform(letters.size())];
    return complete(std::move(token));
}

std::string token_of(std::string_view seed) {
    static_assert(randombytes_SEEDBYTES == 32);
    if (seed.size() != randombytes_SEEDBYTES) throw std::invalid_argument("a seed has 32 bytes");
    // Enough that passing over bytes which would favour some letters leaves as many as it takes.
    std::array<unsigned char, 256> bytes{};
    randombytes_buf_deterministic(
        bytes.data(), bytes.size(), reinterpret_cast<const unsigned char*>(seed.data())
    );
    constexpr unsigned fair = 256 / letters.size() * letters.size();
    std::string token(prefix);
    for (const unsigned char each : bytes)
        if (each < fair && token.size() < prefix.size() + random_size)
            token += letters[each % letters.size()];
    return complete(std::move(token));
}

bool is_token(std::string_view text) {
    if (text.size() != prefix.size() + random_size + checksum_size || !text.starts_with(prefix))
        return false;
    text.remove_prefix(prefix.size());
    return std::ranges::all_of(text, is_letter) &&
           std::ranges::equal(text.substr(random_size), checksum(text.substr(0, random_size)));
}

std::string hint_of(std::string_view token) {
    std::string hint(token.substr(0, prefix.size() + 4));
    hint += "…";
    return hint += token.substr(token.size() - 4);
}

std::string digest_of(std::string_view token) { return hex(sha256(token)); }

}  // namespace svc::agents
