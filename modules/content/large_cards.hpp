#pragma once

#include <cstdint>
#include <limits>

/// What is written on a card takes four times as much memory while it is read as a whole. Cards
/// that hold much are therefore read by few at a time, so that all requests together stay within
/// what a server may take.
namespace svc::content {

/// Bytes that a card may hold to be read at any time.
inline constexpr std::int64_t most_at_any_time = 2 << 20;
inline constexpr std::int64_t however_large = std::numeric_limits<std::int64_t>::max();

/// A place among those who read a card that holds more.
class LargeCardRead {
public:
    /// Never waits. Throws Failure 429 when all places of this process are taken.
    LargeCardRead();
    ~LargeCardRead();
    LargeCardRead(const LargeCardRead&) = delete;
    LargeCardRead& operator=(const LargeCardRead&) = delete;
};

}  // namespace svc::content
