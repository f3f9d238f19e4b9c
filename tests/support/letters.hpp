#pragma once

#include <string>

namespace svc::test {

/// So many letters in words of nine, as texts have them: what has no space takes the database's
/// search long.
inline std::string letters(std::size_t size) {
    std::string text(size, 'x');
    for (std::size_t at = 9; at + 1 < size; at += 10) text[at] = ' ';
    return text;
}

}  // namespace svc::test
