#include "svc/types.hpp"

#include <sys/random.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

namespace svc {

namespace {

constexpr std::uint8_t no_digit = 0xFF;

constexpr auto digits = [] {
    std::array<std::uint8_t, 256> value{};
    value.fill(no_digit);
    for (std::uint8_t i = 0; i < 10; ++i) value['0' + i] = i;
    for (std::uint8_t i = 0; i < 6; ++i) value['a' + i] = value['A' + i] = 10 + i;
    return value;
}();

constexpr std::string_view hex = "0123456789abcdef";

// Where byte i stands in the hyphenated form.
constexpr std::size_t place(std::size_t i) {
    return 2 * i + (i >= 4) + (i >= 6) + (i >= 8) + (i >= 10);
}

constexpr std::size_t text_size = 36;

void write_hyphenated(const std::array<std::uint8_t, 16>& bytes, char* text) {
    text[8] = text[13] = text[18] = text[23] = '-';
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        text[place(i)] = hex[bytes[i] >> 4];
        text[place(i) + 1] = hex[bytes[i] & 0x0F];
    }
}

// Milliseconds and, in the low 12 bits, 4096ths of one; each call gives a greater number than
// any before it in this process, even when the clock is put back.
std::uint64_t next_tick() {
    static std::atomic<std::uint64_t> last{0};
    const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                         std::chrono::system_clock::now().time_since_epoch()
    )
                         .count();
    const auto nanos = static_cast<std::uint64_t>(now);
    const std::uint64_t clock = (nanos / 1'000'000) << 12 | (nanos % 1'000'000) * 4096 / 1'000'000;
    std::uint64_t before = last.load(std::memory_order_relaxed);
    std::uint64_t tick;
    do {
        tick = std::max(clock, before + 1);
    } while (!last.compare_exchange_weak(before, tick, std::memory_order_relaxed));
    return tick;
}

}  // namespace

// Straight from the operating system, fetched for 128 ids at a time.
std::uint64_t random_bits() {
    static thread_local std::array<std::uint64_t, 128> pool;
    static thread_local std::size_t left = 0;
    if (left == 0) {
        auto* at = reinterpret_cast<char*>(pool.data());
        for (std::size_t got = 0; got < sizeof(pool);) {
            const ssize_t more = getrandom(at + got, sizeof(pool) - got, 0);
            if (more < 0 && errno != EINTR)
                throw std::system_error(errno, std::generic_category(), "getrandom");
            if (more > 0) got += static_cast<std::size_t>(more);
        }
        left = pool.size();
    }
    return std::exchange(pool[--left], 0);
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
    const bool hyphens = text.size() == 36;
    if (!hyphens && text.size() != 32) return std::nullopt;
    if (hyphens && (text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-'))
        return std::nullopt;
    std::array<std::uint8_t, 16> bytes;
    std::uint8_t wrong = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const std::size_t at = hyphens ? place(i) : 2 * i;
        const std::uint8_t high = digits[static_cast<unsigned char>(text[at])];
        const std::uint8_t low = digits[static_cast<unsigned char>(text[at + 1])];
        wrong |= high | low;
        bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
    }
    if (wrong > 0x0F) return std::nullopt;
    return Uuid(bytes);
}

void Uuid::append_to(std::string& out) const {
    char text[text_size];
    write_hyphenated(bytes_, text);
    out.append(text, sizeof(text));
}

std::string Uuid::str() const {
    std::string text(text_size, '\0');
    write_hyphenated(bytes_, text.data());
    return text;
}

Uuid new_uuid() {
    const std::uint64_t tick = next_tick();
    const std::uint64_t high = (tick >> 12) << 16 | 0x7000 | (tick & 0x0FFF);
    const std::uint64_t low = (random_bits() & 0x3FFF'FFFF'FFFF'FFFF) | 0x8000'0000'0000'0000;
    std::array<std::uint8_t, 16> bytes;
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[i] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
        bytes[8 + i] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
    }
    return Uuid(bytes);
}

Uuid first_id_at(const Timestamp& time) {
    std::array<std::uint8_t, 16> bytes{};
    auto milliseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(time.micros / 1'000, 0));
    for (std::size_t i = 6; i-- > 0; milliseconds >>= 8)
        bytes[i] = static_cast<std::uint8_t>(milliseconds);
    return Uuid(bytes);
}

Uuid last_id() {
    std::array<std::uint8_t, 16> bytes;
    bytes.fill(0xFF);
    return Uuid(bytes);
}

}  // namespace svc
