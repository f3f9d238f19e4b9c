#pragma once

#include <cstdint>
#include <string_view>

namespace svc::store_local {

/// A piece of something that has so many bytes.
struct Piece {
    std::uint64_t offset = 0, size = 0;
};

/// What a Range header asks for.
struct Ranged {
    enum class Kind {
        whole,  ///< no header, or one that is not understood and so does not count
        piece,
        beyond,  ///< nothing of it is there
    } kind = Kind::whole;
    Piece piece{};
};
/// One range of bytes; several at once are answered by the whole.
Ranged range_of(std::string_view header, std::uint64_t size);

}  // namespace svc::store_local
